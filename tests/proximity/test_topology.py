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
from graphprox.graph import Graph
from graphprox.proximity.structure import structure_of
from graphprox.proximity.subgraphs import checked_sampler
from graphprox.proximity.topology import nystrom_projection, topology
from graphprox.proximity.wl import kernel_rows, landmarks_of

EGONETS = {"subgraphs": "egonet"}
module = sys.modules[topology.__module__]  # whose name in the package is the function


def linked(networkx_graph, **more):
    edges = np.array(networkx_graph.edges, np.int64).reshape(-1, 2).T
    return Graph(x=np.ones((len(networkx_graph), 1)), edge_index=edges, **more)


def described(graph, seed=0, **options):
    return topology(graph, np.random.default_rng(seed), **options)


def full_kernel(graph, *, seed=0, iterations=3, subgraphs="walks", hops=2):
    sampler = checked_sampler(
        np.random.default_rng(seed), subgraphs=subgraphs, walks=30, length=10, p=1, q=1, hops=hops
    )
    structure, nodes = structure_of(graph), np.arange(graph.num_nodes)
    return kernel_rows(
        structure, sampler, iterations, landmarks_of(structure, sampler, iterations, nodes), nodes
    ).kernel


def assert_near(one, other, tolerance=1e-6):
    assert np.abs(one - other).max() <= tolerance * np.abs(other).max()


@pytest.fixture(scope="module")
def small():
    return linked(nx.disjoint_union(nx.barabasi_albert_graph(90, 2, seed=5), nx.empty_graph(3)))


@st.composite
def graphs(draw):
    nodes = draw(st.integers(2, 12))
    ends = st.integers(0, nodes - 1)
    edges = draw(st.lists(st.tuples(ends, ends), max_size=24))
    return Graph(x=np.ones((nodes, 1)), edge_index=np.array(edges, np.int64).reshape(-1, 2).T)


# -- the kernel and Nyström's method --------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{"exact": True}, {"landmarks": 93}, {"landmarks": 5000}])
@pytest.mark.parametrize("subgraphs", ["walks", "egonet"])
def test_all_nodes_as_landmarks_reproduce_the_kernel(small, subgraphs, options):
    vectors = described(small, subgraphs=subgraphs, **options).astype(float)
    assert_near(vectors @ vectors.T, full_kernel(small, subgraphs=subgraphs))


def test_all_nodes_as_landmarks_reproduce_the_normalized_kernel(small):
    vectors = described(small, exact=True, normalize=True).astype(float)
    kernel = full_kernel(small)
    size = np.sqrt(np.diag(kernel))
    assert_near(vectors @ vectors.T, kernel / size / size[:, None])
    np.testing.assert_allclose((vectors**2).sum(axis=1), 1, rtol=1e-6)


@given(graphs(), st.integers(0, 3), st.booleans())
@settings(max_examples=40)
def test_exact_vectors_reproduce_the_kernel_of_any_graph(graph, iterations, normalize):
    kernel = full_kernel(graph, iterations=iterations, subgraphs="egonet")
    if normalize:
        kernel = kernel / np.sqrt(np.outer(np.diag(kernel), np.diag(kernel)))
    vectors = described(graph, iterations=iterations, normalize=normalize, exact=True, **EGONETS).astype(float)
    assert_near(vectors @ vectors.T, kernel)


def test_few_landmarks_reproduce_their_own_part_of_the_kernel(small):
    vectors = described(small, landmarks=20).astype(float)
    assert vectors.shape == (small.num_nodes, 20)
    kernel = full_kernel(small)
    exact = np.isclose(vectors @ vectors.T, kernel, rtol=1e-5, atol=1e-5 * kernel.max()).all(axis=0)
    # Whatever is compared with a landmark is right; the rest comes near to it, and the diagonal never above.
    rng = np.random.default_rng(0)
    checked_sampler(rng, subgraphs="walks", walks=30, length=10, p=1, q=1, hops=2)
    assert exact[rng.choice(small.num_nodes, 20, replace=False)].all()
    assert ((vectors**2).sum(axis=1) <= np.diag(kernel) * (1 + 1e-5)).all()


def test_directions_without_weight_are_cut():
    rng = np.random.default_rng(0)
    kernel = rng.integers(0, 9, (12, 3)).astype(float)
    kernel = kernel @ kernel.T
    projection = nystrom_projection(kernel, tolerance=1e-10)
    assert projection.shape == (12, 3)
    vectors = kernel @ projection
    assert_near(vectors @ vectors.T, kernel)


@pytest.mark.parametrize("normalize", [False, True])
def test_blocks_do_not_change_the_result(small, normalize, monkeypatch):
    whole = described(small, landmarks=20, normalize=normalize)
    monkeypatch.setattr(module, "BLOCK_ENTRIES", 20 * 7)
    np.testing.assert_allclose(described(small, landmarks=20, normalize=normalize), whole, rtol=1e-4, atol=1e-4)


# -- laws -----------------------------------------------------------------------------------------------------------


# Shapes, nodes that an automorphism maps to each other, and how many different 1-hop egonets there are.
AUTOMORPHIC = {
    "clique": (nx.complete_graph(7), [range(7)], 1),
    "ring": (nx.cycle_graph(12), [range(12)], 1),
    "star": (nx.star_graph(9), [range(1, 10)], 2),
    "barbell": (nx.barbell_graph(5, 3), [[0, 1, 2, 3, 9, 10, 11, 12], [4, 8], [5, 7]], 3),
    "apart": (nx.disjoint_union_all([nx.cycle_graph(4)] * 3 + [nx.empty_graph(3)]), [range(12), range(12, 15)], 2),
}


@pytest.mark.parametrize("landmarks", [1, 3, 200])
@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("name", AUTOMORPHIC)
def test_automorphic_nodes_have_the_same_vector(name, normalize, landmarks, monkeypatch):
    shape, orbits, different = AUTOMORPHIC[name]
    monkeypatch.setattr(module, "BLOCK_ENTRIES", 5 * min(landmarks, len(shape)))  # so that an orbit spans blocks
    vectors = described(linked(shape), landmarks=landmarks, normalize=normalize, hops=1, **EGONETS)
    for orbit in orbits:
        assert (vectors[list(orbit)] == vectors[orbit[0]]).all()
    if landmarks == 200:
        assert len(np.unique(vectors, axis=0)) == different


def test_equal_fingerprints_have_the_vector_of_the_first():
    vectors = np.arange(10, dtype=np.float32).reshape(5, 2)
    module._make_equal(vectors, np.array([7, 3, 7, 9, 3], np.uint64))
    assert vectors.tolist() == [[0, 1], [2, 3], [0, 1], [6, 7], [2, 3]]


def test_different_shapes_have_different_vectors():
    graph = linked(
        nx.disjoint_union_all([nx.complete_graph(6), nx.star_graph(5), nx.cycle_graph(6), nx.empty_graph(1)])
    )
    vectors = described(graph, **EGONETS)
    # The hub and the leaves of a star have the same 2-hop egonet: the whole star.
    assert len(np.unique(vectors, axis=0)) == 4


@given(graphs(), st.randoms(use_true_random=False))
@settings(max_examples=40)
def test_renumbering_the_nodes_renumbers_the_result(graph, random):
    order = list(range(graph.num_nodes))
    random.shuffle(order)
    order = np.array(order)  # the new number of each node
    turned = Graph(x=np.ones((graph.num_nodes, 1)), edge_index=order[graph.edge_index])
    before, after = (described(each, exact=True, **EGONETS).astype(float) for each in (graph, turned))
    assert before.shape == after.shape
    assert_near((after @ after.T)[np.ix_(order, order)], before @ before.T)
    equal = [(vectors[:, None] == vectors[None]).all(axis=2) for vectors in (before, after[order])]
    assert np.array_equal(*equal)


def test_features_labels_weights_direction_and_self_loops_play_no_part_in_egonets(small):
    edges, size = small.edges_once(), small.num_nodes
    other = Graph(
        x=np.arange(2 * size).reshape(-1, 2), y=np.arange(size) % 3, directed=True,
        edge_index=np.concatenate([edges, [[4], [4]]], axis=1), edge_weight=np.arange(edges.shape[1] + 1),
    )  # fmt: skip
    assert np.array_equal(described(small, **EGONETS), described(other, **EGONETS))


def test_weights_steer_the_walks(small):
    heavy = Graph(x=small.x, edge_index=small.edge_index, edge_weight=10.0 ** (small.edge_index.sum(axis=0) % 5))
    assert not np.array_equal(described(small, walks=3), described(heavy, walks=3))


@pytest.mark.parametrize("options", [{}, {"p": 0.01, "q": 8}, EGONETS, {"normalize": True}])
def test_the_same_seed_gives_the_same_bytes_on_any_number_of_threads(small, options, monkeypatch):
    together = described(small, landmarks=30, **options)
    monkeypatch.setattr(numba.config, "NUMBA_NUM_THREADS", 1)
    alone = described(small, landmarks=30, **options)
    assert alone.tobytes() == together.tobytes()
    assert alone.tobytes() != described(small, landmarks=30, seed=1, **options).tobytes()


# -- shapes with a known answer -------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, EGONETS, {"normalize": True}, {"landmarks": 2}])
def test_a_graph_without_edges(options):
    graph = Graph(x=np.ones((6, 1)), edge_index=np.empty((2, 0), int))
    vectors = described(graph, **options)
    assert vectors.shape == (6, 1)
    np.testing.assert_allclose(np.abs(vectors), 1 if "normalize" in options else 2, rtol=1e-6)


def test_vectors_are_float32_rows_of_full_rank_on_cora(data):
    vectors = described(graphprox.load("Cora", data=data).graph)
    assert vectors.dtype == np.float32
    assert vectors.flags.c_contiguous
    assert np.isfinite(vectors).all()
    assert 150 < vectors.shape[1] <= 200


def test_progress_is_told(small, monkeypatch):
    monkeypatch.setattr(module, "BLOCK_ENTRIES", 10 * 40)
    told = []
    described(small, landmarks=10, progress=lambda *each: told.append(each))
    blocks = [("topology", done, 93) for done in (40, 80, 93)]
    assert told == [("landmarks", 0, 10), ("landmarks", 10, 10), *blocks]


# -- options --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"iterations": -1}, "iterations must be a whole number in 0..1,000; got -1"),
        ({"landmarks": 0}, "landmarks must be a whole number in 1..1,000,000; got 0"),
        ({"landmarks": 2.0}, "landmarks must be a whole number in 1..1,000,000; got 2.0"),
        ({"tolerance": 0.0}, "tolerance must be a number in (0, 1), relative to the largest; got 0.0"),
        ({"subgraphs": None}, "subgraphs must be 'walks' or 'egonet'; got None"),
        ({"p": -1}, "p must be a number in 1e-06..1e+06; got -1"),
    ],
)
def test_options_are_checked(small, option, message):
    with pytest.raises(ParameterError) as error:
        described(small, **option)
    assert str(error.value) == message


def test_too_many_landmarks_are_refused():
    graph = Graph(x=np.ones((10_001, 1)), edge_index=[[0], [1]])
    with pytest.raises(ParameterError, match="at most 10,000 nodes can be landmarks"):
        described(graph, exact=True)


# -- compiled code --------------------------------------------------------------------------------------------------

EVERY_KERNEL = """
import hashlib
import numpy as np
from graphprox.graph import Graph
from graphprox.proximity.topology import topology
from graphprox.proximity.walks import random_walks

draw = np.random.default_rng(0)
edges = np.concatenate([draw.integers(0, 70, (2, 90)), [[3] * 70, list(range(70))]], axis=1)
digest = hashlib.sha256()
# First a graph that is within two hops of every node, whole; then a weighted one in which two nodes are apart.
for nodes, weight in ((70, None), (72, draw.integers(0, 3, edges.shape[1]))):
    graph = Graph(x=np.ones((nodes, 1)), edge_index=edges, edge_weight=weight)
    for more in ({}, {"p": 0.01, "q": 8}, {"p": 1e6, "q": 1e6}, {"subgraphs": "egonet"}):
        vectors = topology(graph, np.random.default_rng(1), landmarks=20, **more)
        digest.update(np.round(vectors @ vectors.T).astype(np.int64).tobytes())
    digest.update(random_walks(graph, np.random.default_rng(2), walks=3, length=5, q=2).tobytes())
print(digest.hexdigest())
"""


def test_compiled_code_stays_within_bounds_and_is_not_out_of_date(tmp_path, capsys):
    environment = os.environ | {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(tmp_path)}
    checked = subprocess.run(
        [sys.executable, "-c", EVERY_KERNEL], env=environment, capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stderr
    exec(EVERY_KERNEL, {})
    assert checked.stdout == capsys.readouterr().out, "compiled code is older than its source: delete __pycache__"
