"""Rows of length 1, stored or read in blocks."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from graphprox import ParameterError
from graphprox.views.search import directions, rank, unit_rows
from graphprox.views.search.directions import find_directions


def make_matrix(size: int = 2_000) -> np.ndarray:
    """Return rows around centers, some of them equal and some zero."""
    rng = np.random.default_rng(0)
    matrix = rng.standard_normal((size // 20, 24))[rng.integers(size // 20, size=size)]
    matrix += 0.4 * rng.standard_normal((size, 24))
    matrix[5:300:7] = 2 * matrix[5]
    matrix[::11] = 0
    return matrix.astype(np.float16).astype(np.float32)


@pytest.fixture
def read_in_blocks(monkeypatch):
    monkeypatch.setattr(unit_rows, "MAX_STORED_BYTES", 0)
    monkeypatch.setattr(unit_rows, "BLOCK_ROWS", 130)
    monkeypatch.setattr("graphprox.views.search.engines.BLOCK_ROWS", 170)


def make_forms(matrix: np.ndarray, folder):
    """Return the same matrix in other types and layouts."""
    np.save(folder / "matrix.npy", matrix)
    return {
        "float16": matrix.astype(np.float16),
        "float64": matrix.astype(np.float64),
        "columns first": np.asfortranarray(matrix),
        "every second": np.repeat(matrix, 2, axis=0)[::2],
        "memory map": np.load(folder / "matrix.npy", mmap_mode="r"),
    }


@pytest.mark.parametrize("engine", ["exact", "descent"])
def test_ranking_is_the_same_for_all_types_and_in_blocks(engine, tmp_path, request):
    matrix = make_matrix()
    expected = rank(matrix, engine=engine)
    request.getfixturevalue("read_in_blocks")
    for form in (matrix, *make_forms(matrix, tmp_path).values()):
        ranking = rank(form, engine=engine)
        assert ranking.neighbors.tobytes() == expected.neighbors.tobytes()
        assert ranking.similarities.tobytes() == expected.similarities.tobytes()
        assert ranking.recall == expected.recall


@pytest.mark.usefixtures("read_in_blocks")
def test_approximate_search_never_stores_all_rows(monkeypatch):
    found = []

    def find(matrix):
        found.append(find_directions(matrix))
        return found[-1]

    monkeypatch.setattr("graphprox.views.search.neighbor_search.find_directions", find)
    ranking = rank(make_matrix(), engine="descent")
    assert ranking.engine == "descent"
    assert not found[0].rows.is_stored


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_rows_have_length_one(form):
    found = find_directions(form(make_matrix(200)))
    rows = found.rows.read(np.arange(len(found)))
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)
    np.testing.assert_array_equal(found.rows.count_nonzero(), np.count_nonzero(rows, axis=0))


@pytest.mark.usefixtures("read_in_blocks")
def test_rows_read_in_blocks_are_those_that_are_stored(monkeypatch):
    blocks = find_directions(make_matrix())
    monkeypatch.setattr(unit_rows, "MAX_STORED_BYTES", 2**28)
    stored = find_directions(make_matrix())
    assert stored.rows.is_stored
    assert not blocks.rows.is_stored
    chosen = np.random.default_rng(0).integers(len(stored), size=50)
    np.testing.assert_array_equal(blocks.rows.read(chosen), stored.rows.unit[chosen])
    np.testing.assert_array_equal(blocks.members, stored.members)
    np.testing.assert_array_equal(blocks.rows.unit, stored.rows.unit)


@pytest.mark.usefixtures("read_in_blocks")
@pytest.mark.parametrize(("value", "dtype"), [(np.nan, np.float16), (np.inf, np.float32), (1e300, np.float64)])
def test_row_of_a_nonfinite_value_is_named_in_any_block(value, dtype):
    matrix = np.ones((300, 3), dtype)
    matrix[271, 1] = value
    with pytest.raises(ParameterError, match=r"finite float32 numbers; got (nan|inf) in row 271: correct"):
        rank(matrix)


def test_matrix_of_numbers_is_not_copied():
    matrix = np.ones((5, 3), np.float16)
    assert np.shares_memory(directions.check_matrix(matrix), matrix)
