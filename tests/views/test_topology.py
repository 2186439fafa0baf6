"""The topology view, with Nyström's method.

Covers graphprox.views.local_structure.nystrom.
"""

from __future__ import annotations

import os
import subprocess
import sys

import networkx as nx
import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphprox
from graphprox.errors import ParameterError
from graphprox.graph.graph import Graph
from graphprox.views import topology_descriptor
from graphprox.views.local_structure import nystrom
from graphprox.views.local_structure.adjacency import to_adjacency
from graphprox.views.local_structure.subgraphs import make_sampler
from graphprox.views.local_structure.wl_kernel import build_landmarks, compute_kernel

EGONETS = {"subgraphs": "egonet"}


def make_graph(networkx_graph, **more):
    edges = np.array(networkx_graph.edges, np.int64).reshape(-1, 2).T
    return Graph(x=np.ones((len(networkx_graph), 1)), edge_index=edges, **more)


def describe(graph, seed=0, **options):
    return topology_descriptor(graph, np.random.default_rng(seed), **options)


def full_kernel(graph, *, seed=0, iterations=3, subgraphs="walks", hops=2):
    sampler = make_sampler(
        np.random.default_rng(seed), subgraphs=subgraphs, num_walks=30, walk_length=10, p=1, q=1, hops=hops
    )
    adjacency, nodes = to_adjacency(graph), np.arange(graph.num_nodes)
    landmarks = build_landmarks(adjacency, sampler, iterations, nodes)
    return compute_kernel(adjacency, sampler, iterations, landmarks, nodes).kernel


def assert_close(one, other, tolerance=1e-6):
    assert np.abs(one - other).max() <= tolerance * np.abs(other).max()


@pytest.fixture(scope="module")
def small():
    return make_graph(nx.disjoint_union(nx.barabasi_albert_graph(90, 2, seed=5), nx.empty_graph(3)))


@st.composite
def graphs(draw):
    nodes = draw(st.integers(2, 12))
    ends = st.integers(0, nodes - 1)
    edges = draw(st.lists(st.tuples(ends, ends), max_size=24))
    return Graph(x=np.ones((nodes, 1)), edge_index=np.array(edges, np.int64).reshape(-1, 2).T)


# -- the kernel and Nyström's method --------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{"exact": True}, {"num_landmarks": 93}, {"num_landmarks": 5000}])
@pytest.mark.parametrize("subgraphs", ["walks", "egonet"])
def test_kernel_is_exact_if_all_nodes_are_landmarks(small, subgraphs, options):
    vectors = describe(small, subgraphs=subgraphs, **options).astype(float)
    assert_close(vectors @ vectors.T, full_kernel(small, subgraphs=subgraphs))


def test_normalized_kernel_is_exact_if_all_nodes_are_landmarks(small):
    vectors = describe(small, exact=True, normalize=True).astype(float)
    kernel = full_kernel(small)
    size = np.sqrt(np.diag(kernel))
    assert_close(vectors @ vectors.T, kernel / size / size[:, None])
    np.testing.assert_allclose((vectors**2).sum(axis=1), 1, rtol=1e-6)


@given(graphs(), st.integers(0, 3), st.booleans())
@settings(max_examples=40)
def test_exact_kernel_of_any_graph_is_reproduced(graph, iterations, normalize):
    kernel = full_kernel(graph, iterations=iterations, subgraphs="egonet")
    if normalize:
        kernel = kernel / np.sqrt(np.outer(np.diag(kernel), np.diag(kernel)))
    vectors = describe(graph, iterations=iterations, normalize=normalize, exact=True, **EGONETS).astype(float)
    assert_close(vectors @ vectors.T, kernel)


def test_kernel_with_landmarks_is_exact(small):
    vectors = describe(small, num_landmarks=20).astype(float)
    assert vectors.shape == (small.num_nodes, 20)
    kernel = full_kernel(small)
    exact = np.isclose(vectors @ vectors.T, kernel, rtol=1e-5, atol=1e-5 * kernel.max()).all(axis=0)
    # Kernels with a landmark are exact; the others are approximated, and the diagonal is never overestimated.
    rng = np.random.default_rng(0)
    make_sampler(rng, subgraphs="walks", num_walks=30, walk_length=10, p=1, q=1, hops=2)
    assert exact[rng.choice(small.num_nodes, 20, replace=False)].all()
    assert ((vectors**2).sum(axis=1) <= np.diag(kernel) * (1 + 1e-5)).all()


def test_eigenvectors_of_zero_eigenvalues_are_discarded():
    rng = np.random.default_rng(0)
    kernel = rng.integers(0, 9, (12, 3)).astype(float)
    kernel = kernel @ kernel.T
    projection = nystrom.compute_projection(kernel, tolerance=1e-10)
    assert projection.shape == (12, 3)
    vectors = kernel @ projection
    assert_close(vectors @ vectors.T, kernel)


@pytest.mark.parametrize("normalize", [False, True])
def test_result_does_not_depend_on_the_block_size(small, normalize, monkeypatch):
    expected = describe(small, num_landmarks=20, normalize=normalize)
    monkeypatch.setattr(nystrom, "BLOCK_ENTRIES", 20 * 7)
    np.testing.assert_allclose(describe(small, num_landmarks=20, normalize=normalize), expected, rtol=1e-4, atol=1e-4)


# -- laws -----------------------------------------------------------------------------------------------------------


# Graphs, orbits of their automorphisms, and the number of different 1-hop egonets.
AUTOMORPHIC = {
    "clique": (nx.complete_graph(7), [range(7)], 1),
    "ring": (nx.cycle_graph(12), [range(12)], 1),
    "star": (nx.star_graph(9), [range(1, 10)], 2),
    "barbell": (nx.barbell_graph(5, 3), [[0, 1, 2, 3, 9, 10, 11, 12], [4, 8], [5, 7]], 3),
    "disconnected": (
        nx.disjoint_union_all([nx.cycle_graph(4)] * 3 + [nx.empty_graph(3)]),
        [range(12), range(12, 15)],
        2,
    ),
}


@pytest.mark.parametrize("num_landmarks", [1, 3, 200])
@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("name", AUTOMORPHIC)
def test_automorphic_nodes_have_equal_vectors(name, normalize, num_landmarks, monkeypatch):
    shape, orbits, different = AUTOMORPHIC[name]
    monkeypatch.setattr(nystrom, "BLOCK_ENTRIES", 5 * min(num_landmarks, len(shape)))  # orbits span blocks
    vectors = describe(make_graph(shape), num_landmarks=num_landmarks, normalize=normalize, hops=1, **EGONETS)
    for orbit in orbits:
        assert (vectors[list(orbit)] == vectors[orbit[0]]).all()
    if num_landmarks == 200:
        assert len(np.unique(vectors, axis=0)) == different


def test_nodes_of_equal_fingerprint_get_the_vector_of_the_first():
    vectors = np.arange(10, dtype=np.float32).reshape(5, 2)
    nystrom._unify_equal_rows(vectors, np.array([7, 3, 7, 9, 3], np.uint64))
    assert vectors.tolist() == [[0, 1], [2, 3], [0, 1], [6, 7], [2, 3]]


def test_different_subgraphs_have_different_vectors():
    graph = make_graph(
        nx.disjoint_union_all([nx.complete_graph(6), nx.star_graph(5), nx.cycle_graph(6), nx.empty_graph(1)])
    )
    vectors = describe(graph, **EGONETS)
    # The hub and the leaves of a star have the same 2-hop egonet: the whole star.
    assert len(np.unique(vectors, axis=0)) == 4


@given(graphs(), st.randoms(use_true_random=False))
@settings(max_examples=40)
def test_descriptor_is_permutation_equivariant(graph, random):
    order = list(range(graph.num_nodes))
    random.shuffle(order)
    order = np.array(order)  # the new number of each node
    permuted = Graph(x=np.ones((graph.num_nodes, 1)), edge_index=order[graph.edge_index])
    before, after = (describe(each, exact=True, **EGONETS).astype(float) for each in (graph, permuted))
    assert before.shape == after.shape
    assert_close((after @ after.T)[np.ix_(order, order)], before @ before.T)
    equal = [(vectors[:, None] == vectors[None]).all(axis=2) for vectors in (before, after[order])]
    assert np.array_equal(*equal)


def test_egonets_ignore_features_labels_weights_directions_and_self_loops(small):
    edges, size = small.edges_once(), small.num_nodes
    other = Graph(
        x=np.arange(2 * size).reshape(-1, 2), y=np.arange(size) % 3, directed=True,
        edge_index=np.concatenate([edges, [[4], [4]]], axis=1), edge_weight=np.arange(edges.shape[1] + 1),
    )  # fmt: skip
    assert np.array_equal(describe(small, **EGONETS), describe(other, **EGONETS))


def test_edge_weights_affect_the_walks(small):
    heavy = Graph(x=small.x, edge_index=small.edge_index, edge_weight=10.0 ** (small.edge_index.sum(axis=0) % 5))
    assert not np.array_equal(describe(small, num_walks=3), describe(heavy, num_walks=3))


@pytest.mark.parametrize("options", [{}, {"p": 0.01, "q": 8}, EGONETS, {"normalize": True}])
def test_descriptor_depends_on_the_seed_and_not_on_the_number_of_threads(small, options, monkeypatch):
    parallel = describe(small, num_landmarks=30, **options)
    monkeypatch.setattr(numba.config, "NUMBA_NUM_THREADS", 1)
    serial = describe(small, num_landmarks=30, **options)
    assert serial.tobytes() == parallel.tobytes()
    assert serial.tobytes() != describe(small, num_landmarks=30, seed=1, **options).tobytes()


# -- known values ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, EGONETS, {"normalize": True}, {"num_landmarks": 2}])
def test_graph_without_edges_has_one_dimension(options):
    graph = Graph(x=np.ones((6, 1)), edge_index=np.empty((2, 0), int))
    vectors = describe(graph, **options)
    assert vectors.shape == (6, 1)
    np.testing.assert_allclose(np.abs(vectors), 1 if "normalize" in options else 2, rtol=1e-6)


def test_vectors_of_cora_are_finite_and_of_nearly_full_rank(data):
    vectors = describe(graphprox.load("Cora", data=data).graph)
    assert vectors.dtype == np.float32
    assert vectors.flags.c_contiguous
    assert np.isfinite(vectors).all()
    assert 150 < vectors.shape[1] <= 200


def test_progress_is_reported(small, monkeypatch):
    monkeypatch.setattr(nystrom, "BLOCK_ENTRIES", 10 * 40)
    reports = []
    describe(small, num_landmarks=10, progress=lambda *each: reports.append(each))
    blocks = [("topology", done, 93) for done in (40, 80, 93)]
    assert reports == [("landmarks", 0, 10), ("landmarks", 10, 10), *blocks]


# -- options --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"iterations": -1}, "iterations must be an integer between 0 and 1,000; got -1"),
        ({"num_landmarks": 0}, "num_landmarks must be an integer between 1 and 1,000,000; got 0"),
        ({"num_landmarks": 2.0}, "num_landmarks must be an integer between 1 and 1,000,000; got 2.0"),
        ({"tolerance": 0.0}, "tolerance must be a number in (0, 1); got 0.0"),
        ({"subgraphs": None}, "subgraphs must be one of 'walks', 'egonet'; got None"),
        ({"p": -1}, "p must be a number between 1e-06 and 1e+06; got -1"),
    ],
)
def test_invalid_options_are_rejected(small, option, message):
    with pytest.raises(ParameterError) as error:
        describe(small, **option)
    assert str(error.value) == message


def test_too_many_landmarks_are_rejected():
    graph = Graph(x=np.ones((10_001, 1)), edge_index=[[0], [1]])
    with pytest.raises(ParameterError, match="number of landmarks must be at most 10,000"):
        describe(graph, exact=True)


# -- compiled code --------------------------------------------------------------------------------------------------

EVERY_KERNEL = """
import hashlib
import numpy as np
from graphprox.graph.graph import Graph
from graphprox.views.topology import topology_descriptor
from graphprox.views.local_structure.walks import random_walks

rng = np.random.default_rng(0)
edges = np.concatenate([rng.integers(0, 70, (2, 90)), [[3] * 70, list(range(70))]], axis=1)
digest = hashlib.sha256()
# A graph whose nodes are all within two hops, and a weighted one with two isolated nodes.
for nodes, weight in ((70, None), (72, rng.integers(0, 3, edges.shape[1]))):
    graph = Graph(x=np.ones((nodes, 1)), edge_index=edges, edge_weight=weight)
    for more in ({}, {"p": 0.01, "q": 8}, {"p": 1e6, "q": 1e6}, {"subgraphs": "egonet"}):
        vectors = topology_descriptor(graph, np.random.default_rng(1), num_landmarks=20, **more)
        digest.update(np.round(vectors @ vectors.T).astype(np.int64).tobytes())
    digest.update(random_walks(graph, np.random.default_rng(2), num_walks=3, walk_length=5, q=2).tobytes())
print(digest.hexdigest())
"""


@pytest.mark.slow
def test_compiled_code_stays_within_bounds_and_is_up_to_date(tmp_path, capsys):
    environment = os.environ | {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(tmp_path)}
    checked = subprocess.run(
        [sys.executable, "-c", EVERY_KERNEL], env=environment, capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stderr
    exec(EVERY_KERNEL, {})
    assert checked.stdout == capsys.readouterr().out, "compiled code is older than its source: delete __pycache__"
