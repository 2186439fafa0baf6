"""NN-descent: recall on several kinds of matrices, and determinism."""

from __future__ import annotations

import numba
import numpy as np
import pytest
import scipy.sparse as sp

from graphprox.views.search import nn_descent, rank
from graphprox.views.search.neighbor_lists import get_row
from graphprox.views.search.products import compact_rows

SIZE = 6_000


def make_matrix(kind: str) -> np.ndarray:
    rng = np.random.default_rng(0)
    noise = rng.standard_normal((SIZE, 30), dtype=np.float32)
    centers = rng.standard_normal((SIZE // 20, 30), dtype=np.float32)[rng.integers(SIZE // 20, size=SIZE)]
    if kind == "circles":
        return centers + 0.4 * noise
    if kind == "noise":
        return noise
    if kind == "close":  # all cosines are above 0.999
        return 1 + 0.01 * noise
    if kind == "duplicates":
        return (centers + 0.4 * noise)[rng.integers(SIZE, size=SIZE)]
    matrix = centers + 0.4 * noise
    matrix[::4] = 0
    return matrix


@pytest.mark.parametrize("kind", ["circles", "noise", "close", "duplicates", "zeros"])
def test_recall_is_high(kind):
    ranking = rank(make_matrix(kind), k_max=20, engine="descent")
    assert ranking.recall > 0.99


def test_recall_is_high_on_rows_of_8_bits(monkeypatch):
    monkeypatch.setattr("graphprox.views.search.products.MAX_PRECISE_BYTES", 0)
    assert rank(make_matrix("circles"), k_max=20, engine="descent").recall > 0.98


def test_recall_is_high_on_sparse_rows():
    rng = np.random.default_rng(0)
    words = sp.random_array((300, 500), density=0.04, rng=rng, format="csr")
    own = sp.random_array((SIZE, 500), density=0.01, rng=rng, format="csr")
    assert rank(sp.csr_array(words[rng.integers(300, size=SIZE)] + own), engine="descent").recall > 0.98


def test_lists_are_sorted_and_contain_no_row_twice():
    matrix = make_matrix("circles")
    unit = matrix / np.linalg.norm(matrix, axis=1, keepdims=True)
    number, lists = nn_descent.approximate_neighbors(compact_rows(lambda block: unit[block], len(unit)), 15, 0)
    np.testing.assert_array_equal(np.sort(number), np.arange(SIZE))
    assert (np.diff(lists, axis=1) <= 0).all()
    for row in range(0, SIZE, 100):
        listed = [get_row(entry) for entry in lists[row]]
        assert row not in listed
        assert len(set(listed)) == 15
        cosines = (lists[row] >> 32).astype(np.int32).view(np.float32)
        np.testing.assert_allclose(unit[number[listed]] @ unit[number[row]], cosines, atol=5e-5)


@pytest.mark.parametrize("kind", ["circles", "noise"])
def test_ranking_does_not_depend_on_the_number_of_threads(kind, monkeypatch):
    monkeypatch.setattr(nn_descent, "BLOCK_ROWS", 1_000)
    monkeypatch.setattr(nn_descent, "FEW", 0.0)  # all partitions are made
    rankings = []
    for threads in (1, 2, 5):
        monkeypatch.setattr(numba.config, "NUMBA_NUM_THREADS", threads)
        rankings.append(rank(make_matrix(kind), engine="descent"))
    for other in rankings[1:]:
        assert other.neighbors.tobytes() == rankings[0].neighbors.tobytes()
        assert other.similarities.tobytes() == rankings[0].similarities.tobytes()


def test_ranking_of_permuted_rows_is_the_same_up_to_recall():
    matrix, order = make_matrix("circles"), np.random.default_rng(1).permutation(SIZE)
    plain = rank(matrix, engine="descent").similarities[order]
    permuted = rank(matrix[order], engine="descent").similarities
    assert (np.abs(plain - permuted) < 2e-6).mean() > 0.99


def test_rounds_can_be_distinguished():
    assert nn_descent.MAX_ROUNDS < 2**3
