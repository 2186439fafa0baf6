"""Each row's most similar rows: right, drawn fairly where they tie, and the same for the same seed."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import chisquare
from sklearn.neighbors import NearestNeighbors

import graphprox
from graphprox import LowRecallWarning, ParameterError
from graphprox.proximity import engines
from graphprox.proximity.descriptors import features
from graphprox.proximity.directions import directions
from graphprox.proximity.engines import ENGINES
from graphprox.proximity.ranking import Ranking
from graphprox.proximity.search import rank

APPROXIMATE = [name for name in ENGINES if name != "exact"]
FORMS = [np.asarray, sp.csr_array]

small_matrices = st.tuples(st.integers(1, 25), st.integers(1, 4)).flatmap(
    lambda shape: arrays(np.float32, shape, elements=st.sampled_from([0.0, 0.0, 1.0, 2.0, -1.0, 0.5]))
)


def vectors(rows: int, columns: int, seed: int = 0) -> np.ndarray:
    """Rows around a few centres, most entries positive, no two cosines equal."""
    rng = np.random.default_rng(seed)
    return (rng.random((20, columns))[rng.integers(20, size=rows)] + 0.3 * rng.random((rows, columns))).astype("f4")


def cosines(matrix) -> np.ndarray:
    x = np.asarray(matrix.toarray() if sp.issparse(matrix) else matrix, np.float64)
    length = np.linalg.norm(x, axis=1, keepdims=True)
    unit = np.divide(x, length, out=np.zeros_like(x), where=length > 0)
    return unit @ unit.T


def assert_exact(ranking: Ranking, matrix) -> None:
    """Every neighbour has the cosine that is told, and nobody nearer was left out."""
    every = cosines(matrix)
    np.fill_diagonal(every, 0)
    every[every < 1e-9] = 0
    best = -np.sort(-every, axis=1)[:, : ranking.k_max]
    best = np.pad(best, ((0, 0), (0, ranking.k_max - best.shape[1])))
    np.testing.assert_allclose(ranking.similarities, best, atol=2e-6)
    node, place = np.nonzero(ranking.neighbors >= 0)
    found = ranking.neighbors[node, place]
    np.testing.assert_allclose(every[node, found], ranking.similarities[node, place], atol=2e-6)


def by_scikit_learn(matrix, k: int) -> np.ndarray:
    """The k largest cosines of each row with others; more are asked for, as the row itself may come late in a tie."""
    search = NearestNeighbors(n_neighbors=min(k + 80, matrix.shape[0]), metric="cosine", algorithm="brute").fit(matrix)
    distance, node = search.kneighbors(matrix)
    return np.array([1 - d[n != row][:k] for row, (d, n) in enumerate(zip(distance, node, strict=True))])


# -- exact ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("filled", [0.02, 0.14, 0.3, 1.0])
def test_exact_agrees_with_scikit_learn(form, filled):
    rng = np.random.default_rng(1)
    matrix = vectors(700, 40) * (rng.random((700, 40)) < filled)
    matrix[:, 0] += 0.01  # nobody is left without neighbours
    ranking = rank(form(matrix), k_max=12, engine="exact")
    np.testing.assert_allclose(ranking.similarities, by_scikit_learn(matrix, 12), atol=2e-6)
    assert_exact(ranking, matrix)
    assert ranking.recall == 1


@pytest.mark.parametrize("form", FORMS)
def test_exact_agrees_with_scikit_learn_on_cora(data, form):
    x = features(graphprox.load("Cora", data=data).graph, np.random.default_rng(0), binary=True)
    ranking = rank(form(x.toarray()), k_max=20)
    assert ranking.engine == "exact"
    expected = by_scikit_learn(x, 20)
    np.testing.assert_allclose(ranking.similarities, np.where(expected < 1e-6, 0, expected), atol=2e-6)
    assert_exact(ranking, x)


def test_sparse_and_dense_are_ranked_alike():
    matrix = vectors(500, 30) * (np.random.default_rng(2).random((500, 30)) < 0.3)
    dense, sparse = rank(matrix), rank(sp.csr_array(matrix))
    np.testing.assert_array_equal(dense.neighbors, sparse.neighbors)


@given(small_matrices, st.integers(1, 8), st.sampled_from(FORMS), st.integers(0, 3))
@settings(max_examples=150)
def test_laws_of_every_ranking(matrix, k_max, form, seed):
    ranking = rank(form(matrix), k_max=k_max, seed=seed)  # Ranking checks: sorted, positive, nobody lists itself
    assert ranking.neighbors.shape == (len(matrix), k_max)
    assert_exact(ranking, matrix)
    for row in ranking.neighbors:
        listed = row[row >= 0]
        assert len(set(listed)) == len(listed)


@given(small_matrices, st.sampled_from(FORMS))
def test_a_narrower_ranking_is_the_beginning_of_a_wider_one(matrix, form):
    wide, narrow = rank(form(matrix), k_max=7), rank(form(matrix), k_max=3)
    np.testing.assert_array_equal(wide.neighbors[:, :3], narrow.neighbors)


@pytest.mark.parametrize("form", FORMS)
def test_renumbering_the_nodes_renumbers_the_neighbours_where_nobody_ties(form):
    matrix = vectors(300, 20)
    order = np.random.default_rng(5).permutation(300)
    plain, turned = rank(form(matrix), k_max=5), rank(form(matrix[order]), k_max=5)
    np.testing.assert_array_equal(order[turned.neighbors], plain.neighbors[order])


def test_scaling_a_row_changes_nothing():
    matrix = vectors(200, 10)
    scale = np.random.default_rng(0).choice([1e-15, 0.3, 7, 1e15], size=(200, 1))
    np.testing.assert_array_equal(rank(matrix).neighbors, rank(matrix * scale).neighbors)


def test_blocks_change_nothing(monkeypatch):
    matrix = np.random.default_rng(0).integers(0, 2, (300, 6))
    whole = rank(matrix)
    monkeypatch.setattr("graphprox.proximity.exact.BLOCK_BYTES", 4 * 64 * 7)
    monkeypatch.setattr("graphprox.proximity.exact.LEAST_ROWS", 1)
    monkeypatch.setattr("graphprox.proximity.directions.ROWS_AT_ONCE", 11)
    np.testing.assert_array_equal(rank(matrix).neighbors, whole.neighbors)


# -- corners --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("form", FORMS)
def test_fewer_nodes_than_places(engine, form):
    ranking = rank(form([[1.0, 0], [1, 1], [0, 1]]), k_max=5, engine=engine)
    assert ranking.neighbors[0].tolist() == [1, -1, -1, -1, -1]
    assert sorted(ranking.neighbors[1, :2]) == [0, 2]
    assert rank(form([[1.0, 0]]), engine=engine).neighbors.tolist() == [[-1] * 10]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("form", FORMS)
def test_constant_features_make_everybody_as_near(engine, form):
    ranking = rank(form(np.ones((50, 3))), k_max=4, engine=engine)
    assert (ranking.similarities == 1).all()
    assert len(np.unique(ranking.neighbors)) > 40


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("form", FORMS)
def test_rows_of_zeros_have_no_neighbours_and_are_none(engine, form):
    matrix = vectors(120, 8)
    matrix[::3] = 0
    ranking = rank(form(matrix), k_max=4, engine=engine)
    assert (ranking.neighbors[::3] == -1).all()
    assert (np.delete(ranking.neighbors, np.s_[::3], axis=0) % 3 != 0).all()
    assert (rank(form(np.zeros((5, 2))), engine=engine).neighbors == -1).all()


def test_one_column_tells_only_the_sign():
    ranking = rank([[1], [2], [-3], [-1], [0]], k_max=3)
    assert ranking.neighbors.tolist() == [[1, -1, -1], [0, -1, -1], [3, -1, -1], [2, -1, -1], [-1, -1, -1]]


def test_a_cosine_of_zero_or_less_is_no_proximity():
    assert rank([[1, 0], [0, 1], [-1, 0]], k_max=2).neighbors.tolist() == [[-1, -1]] * 3


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e300])
def test_what_is_not_finite_is_refused(form, value):
    matrix = np.eye(4)
    matrix[2, 1] = value
    with pytest.raises(ParameterError, match=r"finite float32 numbers; got .* in row 2"):
        rank(form(matrix))


@pytest.mark.parametrize("matrix", [[1, 2], np.ones((2, 2, 2)), np.ones((3, 0)), [["a"]], [[1], [2, 3]]])
def test_what_is_no_matrix_is_refused(matrix):
    with pytest.raises(ParameterError, match="a matrix to rank must"):
        rank(matrix)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"k_max": 0}, "k_max must be a whole number"),
        ({"k_max": 2.5}, "k_max must be a whole number"),
        ({"seed": -1}, "seed must be a whole number"),
        ({"engine": "quantum"}, "engine must be one of auto, exact, descent, hnsw, ivf, lsh; got 'quantum'"),
    ],
)
def test_options_outside_their_range_are_refused(options, said):
    with pytest.raises(ParameterError, match=said):
        rank(np.eye(3), **options)


def test_progress_is_told_and_ends_at_all_nodes():
    told = []
    rank(np.vstack([vectors(50, 4), np.zeros((3, 4))]), progress=lambda *step: told.append(step))
    assert told[-1] == ("neighbours", 53, 53)


# -- ties -----------------------------------------------------------------------------------------------------------


def assert_equally_likely(counts: np.ndarray) -> None:
    assert chisquare(counts).pvalue > 1e-4


def tied_at_the_boundary() -> np.ndarray:
    """Row 0 has one nearest row and 30 that tie for the other places; no two rows are equal."""
    matrix = np.zeros((32, 33), np.float32)
    matrix[:, 0] = 1
    matrix[0, 1] = matrix[1, 1] = 5
    matrix[1, 2] = 1
    matrix[np.arange(2, 32), np.arange(3, 33)] = 2
    return matrix


@pytest.mark.parametrize("form", FORMS)
def test_who_ties_for_the_last_places_is_chosen_from_all_at_random(form):
    matrix = form(tied_at_the_boundary())
    rankings = [rank(matrix, k_max=4, seed=seed).neighbors[0] for seed in range(600)]
    assert all(row[0] == 1 for row in rankings)
    for place in (1, 2, 3):
        assert_equally_likely(np.bincount([row[place] for row in rankings], minlength=32)[2:])


@pytest.mark.parametrize("form", FORMS)
def test_of_a_large_group_of_equal_rows_each_lists_others(form):
    """400 equal rows: over the rows of one ranking, each is listed as often as any other, as chance has it."""
    ranking = rank(form(np.ones((400, 2))), k_max=20)
    counts = np.bincount(ranking.neighbors.ravel(), minlength=400)
    assert_equally_likely(counts)
    assert_equally_likely(np.bincount(ranking.neighbors[:, 0], minlength=400))
    assert counts.max() < 45


def test_members_of_tied_groups_are_as_likely_as_single_rows():
    """Row 0 ties with a group of 12 equal rows and with 6 rows that differ: each of the 18 is as likely."""
    matrix = np.zeros((19, 9), np.float32)
    matrix[:, 0] = 1
    matrix[1:13, 1] = 1
    matrix[np.arange(13, 19), np.arange(2, 8)] = 1
    matrix[0, 8] = 1
    rows = [rank(matrix, k_max=3, seed=seed).neighbors[0] for seed in range(600)]
    assert_equally_likely(np.bincount(np.ravel(rows), minlength=19)[1:])


def test_each_order_of_equals_is_as_likely():
    found = [tuple(rank(np.ones((4, 1)), k_max=3, seed=seed).neighbors[0]) for seed in range(1200)]
    orders, counts = np.unique(found, axis=0, return_counts=True)
    assert len(orders) == 6
    assert_equally_likely(counts)


def test_rows_draw_their_ties_apart():
    ranking = rank(np.ones((30, 1)), k_max=5)
    assert len(np.unique(np.sort(ranking.neighbors, axis=1), axis=0)) == 30


def test_nearly_equal_similarities_tie_and_others_do_not():
    angles = np.array([0, 0.5, -0.5 - 2e-7, -0.5 + 1e-3])
    matrix = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    first = [tuple(rank(matrix, k_max=3, seed=seed).neighbors[0]) for seed in range(40)]
    assert set(first) == {(3, 1, 2), (3, 2, 1)}


def test_the_seed_decides():
    matrix = np.random.default_rng(0).integers(0, 2, (200, 5))
    assert rank(matrix, seed=3).neighbors.tobytes() == rank(matrix, seed=3).neighbors.tobytes()
    assert rank(matrix, seed=3).neighbors.tobytes() != rank(matrix, seed=4).neighbors.tobytes()


# -- threads --------------------------------------------------------------------------------------------------------

_PROGRAM = """
import sys, hashlib, faiss, numba, numpy as np
from threadpoolctl import threadpool_limits
from graphprox.proximity.engines import ENGINES
from graphprox.proximity.search import rank
threads = int(sys.argv[1])
numba.config.NUMBA_NUM_THREADS = threads
faiss.omp_set_num_threads(threads)
rng = np.random.default_rng(0)
matrix = rng.random((20, 30))[rng.integers(20, size=3000)] + 0.3 * rng.integers(0, 2, (3000, 30))
with threadpool_limits(threads):
    for engine in ENGINES:
        ranking = rank(matrix, engine=engine)
        print(engine, hashlib.sha256(ranking.neighbors.tobytes() + ranking.similarities.tobytes()).hexdigest())
"""


def test_the_number_of_threads_changes_no_byte():
    said = [
        subprocess.run(
            [sys.executable, "-c", _PROGRAM, threads],
            capture_output=True,
            check=True,
            text=True,
            env=os.environ | {"OMP_NUM_THREADS": threads},
        ).stdout
        for threads in "12"
    ]
    assert said[0] == said[1]
    assert len(said[0].splitlines()) == len(ENGINES)


@pytest.mark.parametrize("engine", ["exact", "descent"])
def test_several_searches_at_once_do_not_disturb_each_other(engine):
    matrix = vectors(1500, 10)
    alone = rank(matrix, engine=engine).neighbors
    with ThreadPoolExecutor(3) as pool:
        for found in pool.map(lambda _: rank(matrix, engine=engine).neighbors, range(6)):
            np.testing.assert_array_equal(found, alone)


# -- approximate engines --------------------------------------------------------------------------------------------


def true_recall(ranking: Ranking, exact: Ranking) -> float:
    last = np.where(exact.similarities > 0, exact.similarities, np.inf).min(axis=1, keepdims=True)
    hits = (ranking.similarities > 0) & (ranking.similarities >= last - 1e-6)
    return float(hits.sum() / (exact.similarities > 0).sum())


@pytest.mark.parametrize("engine", APPROXIMATE)
def test_approximate_engines_find_nearly_all_and_say_so(engine):
    matrix = vectors(3000, 25)
    ranking, exact = rank(matrix, engine=engine), rank(matrix, engine="exact")
    assert ranking.engine == engine
    assert true_recall(ranking, exact) > 0.95
    assert ranking.recall == pytest.approx(true_recall(ranking, exact), abs=0.01)
    every = cosines(matrix)
    told = every[np.arange(3000)[:, None], ranking.neighbors]
    np.testing.assert_allclose(ranking.similarities, told, atol=2e-6)


@pytest.mark.parametrize("engine", APPROXIMATE)
def test_approximate_engines_stand_many_equal_rows(engine):
    rng = np.random.default_rng(0)
    matrix = np.concatenate([vectors(300, 25)[rng.integers(300, size=2500)], np.ones((500, 25))])
    ranking = rank(matrix, engine=engine)
    assert ranking.recall > 0.99
    assert true_recall(ranking, rank(matrix, engine="exact")) > 0.99
    assert np.bincount(ranking.neighbors[2500:].ravel(), minlength=3000).max() < 35


@pytest.mark.parametrize("engine", APPROXIMATE)
def test_where_more_tie_than_an_engine_lists_all_are_drawn_from(engine):
    """600 rows at the same angle to row 0, which differ from each other: more than any engine lists."""
    matrix = np.concatenate([np.eye(1, 601), np.eye(600, 601, k=1) + np.eye(1, 601)])
    rows = [rank(matrix, k_max=3, seed=seed, engine=engine).neighbors[0] for seed in range(12)]
    assert len(np.unique(rows)) > 30
    ranking = rank(matrix, engine=engine)
    assert_exact(ranking, matrix)
    assert np.bincount(ranking.neighbors[1:, 1], minlength=601)[1:].max() < 12


@pytest.mark.parametrize("engine", APPROXIMATE)
def test_approximate_engines_on_words(data, engine):
    x = graphprox.load("PubMed", data=data).graph.x[:6000]
    assert rank(x, engine=engine).recall > 0.95


@pytest.mark.parametrize("engine", APPROXIMATE)
def test_very_many_columns_are_projected(engine):
    rng = np.random.default_rng(0)
    words = sp.random_array((400, 3000), density=0.01, rng=rng, format="csr")
    matrix = sp.csr_array(words[rng.integers(100, size=400)] + 0.2 * words)
    with warnings.catch_warnings(action="ignore", category=LowRecallWarning):
        ranking = rank(matrix, k_max=3, engine=engine)
    assert ranking.recall > 0.5
    every = cosines(matrix)
    told = every[np.arange(400)[:, None], ranking.neighbors]
    np.testing.assert_allclose(ranking.similarities[:, 0], told[:, 0], atol=2e-6)


def test_auto_is_exact_until_that_takes_too_long(monkeypatch):
    matrix = vectors(400, 10)
    assert rank(matrix).engine == "exact"
    monkeypatch.setattr(engines, "EXACT_WORK", 400 * 400 * 25)
    assert rank(matrix).engine == "descent"
    assert rank(sp.csr_array(np.eye(400) + np.eye(400, k=1))).engine == "exact"  # by lists it costs next to nothing


# -- directions -----------------------------------------------------------------------------------------------------


@given(small_matrices, st.sampled_from(FORMS))
def test_equal_directions_are_gathered(matrix, form):
    found = directions(form(matrix))
    assert sorted(found.members) == np.flatnonzero(matrix.any(axis=1)).tolist()
    assert (found.of_node[found.members] == np.repeat(np.arange(len(found)), np.diff(found.start))).all()
    every = cosines(matrix)
    for one, group in enumerate(found.of_node):
        for other, other_group in enumerate(found.of_node):
            if group >= 0 and other_group >= 0:
                assert (group == other_group) == (every[one, other] > 1 - 1e-9)


def test_a_chance_meeting_of_hashes_makes_no_rows_one(monkeypatch):
    monkeypatch.setattr("graphprox.proximity.directions._hashes", lambda unit: np.zeros(len(unit), np.uint64))
    matrix = vectors(30, 4)
    assert len(directions(matrix)) == 30
    twice = np.concatenate([matrix, matrix])
    np.testing.assert_allclose(rank(twice).similarities[:, 0], 1)


def test_the_command_line_starts_without_what_is_slow():
    program = "import graphprox.cli, sys; print({'numba', 'faiss'} & set(sys.modules))"
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True).stdout
    assert said.strip() == "set()"


def test_an_approximate_search_that_misses_much_says_so():
    noise = np.random.default_rng(0).standard_normal((3000, 300), dtype=np.float32)
    with pytest.warns(LowRecallWarning, match=r"found \d+% of the nearest .* engine=\"exact\" finds all"):
        ranking = rank(noise, engine="descent")
    assert 0 < ranking.recall < 0.95
