"""The exact neighbor search, ties, and determinism.

Covers graphprox.views.search.exact and graphprox.views.search.kernels.
"""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import faiss
import numba
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import chisquare
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

import graphprox
from graphprox import ParameterError
from graphprox.views import Ranking, feature_descriptor
from graphprox.views.search import ENGINES, rank

FORMS = [np.asarray, sp.csr_array]

small_matrices = st.tuples(st.integers(1, 25), st.integers(1, 4)).flatmap(
    lambda shape: arrays(np.float32, shape, elements=st.sampled_from([0.0, 0.0, 1.0, 2.0, -1.0, 0.5]))
)


def make_vectors(rows: int, columns: int, seed: int = 0) -> np.ndarray:
    """Return rows around a few centers, mostly positive, without ties."""
    rng = np.random.default_rng(seed)
    return (rng.random((20, columns))[rng.integers(20, size=rows)] + 0.3 * rng.random((rows, columns))).astype("f4")


def compute_cosines(matrix) -> np.ndarray:
    x = np.asarray(matrix.toarray() if sp.issparse(matrix) else matrix, np.float64)
    length = np.linalg.norm(x, axis=1, keepdims=True)
    unit = np.divide(x, length, out=np.zeros_like(x), where=length > 0)
    return unit @ unit.T


def assert_exact(ranking: Ranking, matrix) -> None:
    """Check that all similarities are right and that no nearer neighbor is missing."""
    every = compute_cosines(matrix)
    np.fill_diagonal(every, 0)
    every[every < 1e-9] = 0
    best = -np.sort(-every, axis=1)[:, : ranking.k_max]
    best = np.pad(best, ((0, 0), (0, ranking.k_max - best.shape[1])))
    np.testing.assert_allclose(ranking.similarities, best, atol=2e-6)
    node, place = np.nonzero(ranking.neighbors >= 0)
    found = ranking.neighbors[node, place]
    np.testing.assert_allclose(every[node, found], ranking.similarities[node, place], atol=2e-6)


def search_with_scikit_learn(matrix, k: int) -> np.ndarray:
    """Return the k largest cosines of each row; more are requested, as the row itself may come late among ties."""
    search = NearestNeighbors(n_neighbors=min(k + 80, matrix.shape[0]), metric="cosine", algorithm="brute").fit(matrix)
    distance, node = search.kneighbors(matrix)
    return np.array([1 - d[n != row][:k] for row, (d, n) in enumerate(zip(distance, node, strict=True))])


# -- exact ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("filled", [0.02, 0.14, 0.3, 1.0])
def test_exact_search_agrees_with_scikit_learn(form, filled):
    rng = np.random.default_rng(1)
    matrix = make_vectors(700, 40) * (rng.random((700, 40)) < filled)
    matrix[:, 0] += 0.01  # every row has neighbors
    ranking = rank(form(matrix), k_max=12, engine="exact")
    np.testing.assert_allclose(ranking.similarities, search_with_scikit_learn(matrix, 12), atol=2e-6)
    assert_exact(ranking, matrix)
    assert ranking.recall == 1


@pytest.mark.parametrize("form", FORMS)
def test_exact_search_agrees_with_scikit_learn_on_cora(data, form):
    x = feature_descriptor(graphprox.load("Cora", data=data).graph, np.random.default_rng(0), binary=True)
    ranking = rank(form(x.toarray()), k_max=20)
    assert ranking.engine == "exact"
    expected = search_with_scikit_learn(x, 20)
    np.testing.assert_allclose(ranking.similarities, np.where(expected < 1e-6, 0, expected), atol=2e-6)
    assert_exact(ranking, x)


def test_sparse_and_dense_matrices_have_the_same_ranking():
    matrix = make_vectors(500, 30) * (np.random.default_rng(2).random((500, 30)) < 0.3)
    dense, sparse = rank(matrix), rank(sp.csr_array(matrix))
    np.testing.assert_array_equal(dense.neighbors, sparse.neighbors)


@given(small_matrices, st.integers(1, 8), st.sampled_from(FORMS), st.integers(0, 3))
@settings(max_examples=60)
def test_ranking_is_exact_and_without_duplicates(matrix, k_max, form, seed):
    ranking = rank(form(matrix), k_max=k_max, random_state=seed)  # Ranking validates order, signs and self-neighbors
    assert ranking.neighbors.shape == (len(matrix), k_max)
    assert_exact(ranking, matrix)
    for row in ranking.neighbors:
        listed = row[row >= 0]
        assert len(set(listed)) == len(listed)


@given(small_matrices, st.sampled_from(FORMS))
def test_ranking_of_smaller_k_max_is_a_prefix(matrix, form):
    wide, narrow = rank(form(matrix), k_max=7), rank(form(matrix), k_max=3)
    np.testing.assert_array_equal(wide.neighbors[:, :3], narrow.neighbors)


@pytest.mark.parametrize("form", FORMS)
def test_ranking_without_ties_is_permutation_equivariant(form):
    matrix = make_vectors(300, 20)
    order = np.random.default_rng(5).permutation(300)
    plain, permuted = rank(form(matrix), k_max=5), rank(form(matrix[order]), k_max=5)
    np.testing.assert_array_equal(order[permuted.neighbors], plain.neighbors[order])


def test_ranking_is_invariant_to_the_scale_of_rows():
    matrix = make_vectors(200, 10)
    scale = np.random.default_rng(0).choice([1e-15, 0.3, 7, 1e15], size=(200, 1))
    np.testing.assert_array_equal(rank(matrix).neighbors, rank(matrix * scale).neighbors)


def test_ranking_does_not_depend_on_the_block_size(monkeypatch):
    matrix = np.random.default_rng(0).integers(0, 2, (300, 6))
    expected = rank(matrix)
    monkeypatch.setattr("graphprox.views.search.exact.BLOCK_BYTES", 4 * 64 * 7)
    monkeypatch.setattr("graphprox.views.search.exact.MIN_BLOCK_ROWS", 1)
    monkeypatch.setattr("graphprox.views.search.unit_rows.BLOCK_ROWS", 11)
    np.testing.assert_array_equal(rank(matrix).neighbors, expected.neighbors)


# -- edge cases -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("form", FORMS)
def test_rows_are_padded_if_there_are_fewer_nodes_than_k_max(engine, form):
    ranking = rank(form([[1.0, 0], [1, 1], [0, 1]]), k_max=5, engine=engine)
    assert ranking.neighbors[0].tolist() == [1, -1, -1, -1, -1]
    assert sorted(ranking.neighbors[1, :2]) == [0, 2]
    assert rank(form([[1.0, 0]]), engine=engine).neighbors.tolist() == [[-1] * 10]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("form", FORMS)
def test_all_rows_of_a_constant_matrix_tie(engine, form):
    ranking = rank(form(np.ones((50, 3))), k_max=4, engine=engine)
    assert (ranking.similarities == 1).all()
    assert len(np.unique(ranking.neighbors)) > 40


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("form", FORMS)
def test_zero_rows_have_no_neighbors_and_are_no_neighbors(engine, form):
    matrix = make_vectors(120, 8)
    matrix[::3] = 0
    ranking = rank(form(matrix), k_max=4, engine=engine)
    assert (ranking.neighbors[::3] == -1).all()
    assert (np.delete(ranking.neighbors, np.s_[::3], axis=0) % 3 != 0).all()
    assert (rank(form(np.zeros((5, 2))), engine=engine).neighbors == -1).all()


def test_single_column_separates_rows_by_sign():
    ranking = rank([[1], [2], [-3], [-1], [0]], k_max=3)
    assert ranking.neighbors.tolist() == [[1, -1, -1], [0, -1, -1], [3, -1, -1], [2, -1, -1], [-1, -1, -1]]


def test_rows_of_nonpositive_cosine_are_not_neighbors():
    assert rank([[1, 0], [0, 1], [-1, 0]], k_max=2).neighbors.tolist() == [[-1, -1]] * 3


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e300])
def test_nonfinite_values_are_rejected(form, value):
    matrix = np.eye(4)
    matrix[2, 1] = value
    with pytest.raises(ParameterError, match=r"finite float32 numbers; got .* in row 2"):
        rank(form(matrix))


@pytest.mark.parametrize("matrix", [[1, 2], np.ones((2, 2, 2)), np.ones((3, 0)), [["a"]], [[1], [2, 3]]])
def test_invalid_matrices_are_rejected(matrix):
    with pytest.raises(ParameterError, match="a matrix to rank must"):
        rank(matrix)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k_max": 0}, "k_max must be an integer between 1 and 1,000,000; got 0"),
        ({"k_max": 2.5}, "k_max must be an integer"),
        ({"random_state": -1}, "random_state must be a non-negative integer"),
        ({"engine": "quantum"}, "engine must be one of auto, exact, descent, hnsw, ivf, lsh; got 'quantum'"),
    ],
)
def test_invalid_options_are_rejected(options, message):
    with pytest.raises(ParameterError, match=message):
        rank(np.eye(3), **options)


def test_progress_ends_at_the_number_of_nodes():
    reports = []
    rank(np.vstack([make_vectors(50, 4), np.zeros((3, 4))]), progress=lambda *step: reports.append(step))
    assert reports[-1] == ("neighbors", 53, 53)


# -- ties -----------------------------------------------------------------------------------------------------------


def assert_equally_likely(counts: np.ndarray) -> None:
    assert chisquare(counts).pvalue > 1e-4


def make_ties_at_the_boundary() -> np.ndarray:
    """Return a matrix whose row 0 has one nearest row and 30 that tie for the other places; no two rows are equal."""
    matrix = np.zeros((32, 33), np.float32)
    matrix[:, 0] = 1
    matrix[0, 1] = matrix[1, 1] = 5
    matrix[1, 2] = 1
    matrix[np.arange(2, 32), np.arange(3, 33)] = 2
    return matrix


@pytest.mark.parametrize("form", FORMS)
def test_ties_for_the_last_places_are_sampled_uniformly(form):
    matrix = form(make_ties_at_the_boundary())
    rankings = [rank(matrix, k_max=4, random_state=seed).neighbors[0] for seed in range(200)]
    assert all(row[0] == 1 for row in rankings)
    for place in (1, 2, 3):
        assert_equally_likely(np.bincount([row[place] for row in rankings], minlength=32)[2:])


@pytest.mark.parametrize("form", FORMS)
def test_equal_rows_are_listed_equally_often(form):
    ranking = rank(form(np.ones((400, 2))), k_max=20)
    counts = np.bincount(ranking.neighbors.ravel(), minlength=400)
    assert_equally_likely(counts)
    assert_equally_likely(np.bincount(ranking.neighbors[:, 0], minlength=400))
    assert counts.max() < 45


def test_members_of_tied_groups_are_as_likely_as_distinct_rows():
    """Row 0 ties with 12 equal rows and with 6 distinct ones."""
    matrix = np.zeros((19, 9), np.float32)
    matrix[:, 0] = 1
    matrix[1:13, 1] = 1
    matrix[np.arange(13, 19), np.arange(2, 8)] = 1
    matrix[0, 8] = 1
    rows = [rank(matrix, k_max=3, random_state=seed).neighbors[0] for seed in range(200)]
    assert_equally_likely(np.bincount(np.ravel(rows), minlength=19)[1:])


def test_all_orders_of_ties_are_equally_likely():
    found = [tuple(rank(np.ones((4, 1)), k_max=3, random_state=seed).neighbors[0]) for seed in range(300)]
    orders, counts = np.unique(found, axis=0, return_counts=True)
    assert len(orders) == 6
    assert_equally_likely(counts)


def test_ties_are_broken_independently_for_each_row():
    ranking = rank(np.ones((30, 1)), k_max=5)
    assert len(np.unique(np.sort(ranking.neighbors, axis=1), axis=0)) == 30


def test_similarities_tie_within_the_tolerance_only():
    angles = np.array([0, 0.5, -0.5 - 2e-7, -0.5 + 1e-3])
    matrix = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    first = [tuple(rank(matrix, k_max=3, random_state=seed).neighbors[0]) for seed in range(40)]
    assert set(first) == {(3, 1, 2), (3, 2, 1)}


def test_ties_depend_on_the_random_state():
    matrix = np.random.default_rng(0).integers(0, 2, (200, 5))
    assert rank(matrix, random_state=3).neighbors.tobytes() == rank(matrix, random_state=3).neighbors.tobytes()
    assert rank(matrix, random_state=3).neighbors.tobytes() != rank(matrix, random_state=4).neighbors.tobytes()


# -- threads --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ENGINES)
def test_ranking_does_not_depend_on_the_number_of_threads(engine, monkeypatch):
    rng = np.random.default_rng(0)
    matrix = rng.random((20, 30))[rng.integers(20, size=1500)] + 0.3 * rng.integers(0, 2, (1500, 30))
    rankings, before = [], faiss.omp_get_max_threads()
    for threads in (1, 3):
        monkeypatch.setattr(numba.config, "NUMBA_NUM_THREADS", threads)
        with threadpool_limits(threads):
            faiss.omp_set_num_threads(threads)
            rankings.append(rank(matrix, engine=engine))
    faiss.omp_set_num_threads(before)
    assert rankings[0].neighbors.tobytes() == rankings[1].neighbors.tobytes()
    assert rankings[0].similarities.tobytes() == rankings[1].similarities.tobytes()


@pytest.mark.parametrize("engine", ["exact", "descent"])
def test_concurrent_searches_are_independent(engine):
    matrix = make_vectors(1500, 10)
    expected = rank(matrix, engine=engine).neighbors
    with ThreadPoolExecutor(3) as pool:
        for found in pool.map(lambda _: rank(matrix, engine=engine).neighbors, range(6)):
            np.testing.assert_array_equal(found, expected)


def test_command_line_does_not_import_numba_or_faiss():
    program = "import graphprox.cli, sys; print({'numba', 'faiss'} & set(sys.modules))"
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True).stdout
    assert printed.strip() == "set()"
