"""The Weisfeiler-Lehman kernel."""

from __future__ import annotations

from collections import Counter

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphprox
from graphprox.graph.graph import Graph
from graphprox.views.local_structure.adjacency import to_adjacency
from graphprox.views.local_structure.subgraphs import make_sampler, sample_subgraph
from graphprox.views.local_structure.wl_kernel import (
    build_landmarks,
    compute_kernel,
    count_labels,
    initial_labels,
    refine_labels,
)

WALKS = {"subgraphs": "walks", "num_walks": 30, "walk_length": 10, "p": 1.0, "q": 1.0, "hops": 2}
NEAR_WALKS = WALKS | {"p": 0.01, "q": 8.0}
EGONETS = WALKS | {"subgraphs": "egonet"}


def compute_rows(graph, nodes, landmarks, *, iterations=3, seed=0, **options):
    adjacency = to_adjacency(graph)
    sampler = make_sampler(np.random.default_rng(seed), **options)
    built = build_landmarks(adjacency, sampler, iterations, np.asarray(landmarks))
    return compute_kernel(adjacency, sampler, iterations, built, np.asarray(nodes))


def neighbors_in(subgraph):
    nodes, edges = subgraph
    near = [[] for _ in nodes]
    for one, other in edges.T.tolist():
        near[one].append(other)
        near[other].append(one)
    return near


def exact_labels(near, iterations):
    """Return the labels of each iteration as nested tuples, without hashes."""
    labels = [len(each) for each in near]
    rounds = [labels]
    for _ in range(iterations):
        labels = [
            (labels[node], tuple(sorted((labels[other] for other in near[node]), key=repr)))
            for node in range(len(near))
        ]
        rounds.append(labels)
    return rounds


def exact_kernel(subgraphs, iterations):
    counts = [
        Counter(
            (number, label)
            for number, labels in enumerate(exact_labels(neighbors_in(each), iterations))
            for label in labels
        )
        for each in subgraphs
    ]
    return np.array([[sum(times * b[label] for label, times in a.items()) for b in counts] for a in counts], float)


def grakel_kernel(subgraphs, iterations, **options):
    grakel = pytest.importorskip("grakel")
    graphs = []
    for each in subgraphs:
        near = neighbors_in(each)
        adjacency = np.zeros((len(near), len(near)))
        for node, others in enumerate(near):
            adjacency[node, others] = 1
        graphs.append(grakel.Graph(adjacency, node_labels={node: len(others) for node, others in enumerate(near)}))
    kernel = (
        grakel.WeisfeilerLehman(n_iter=iterations, base_graph_kernel=grakel.VertexHistogram, **options)
        if iterations
        else grakel.VertexHistogram(**options)
    )
    return kernel.fit_transform(graphs)


def subgraphs_of(graph, nodes, **options):
    return [sample_subgraph(graph, int(node), np.random.default_rng(0), **options) for node in nodes]


@pytest.fixture(scope="module")
def community_graph():
    """A graph with communities, hubs and isolated nodes."""
    tree = nx.barabasi_albert_graph(150, 2, seed=3)
    parts = nx.disjoint_union_all([tree, nx.relaxed_caveman_graph(10, 6, 0.2, seed=1), nx.empty_graph(4)])
    return Graph(x=np.ones((len(parts), 1)), edge_index=np.array(parts.edges).T)


# -- against references ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [WALKS, NEAR_WALKS, EGONETS], ids=["walks", "near walks", "egonets"])
@pytest.mark.parametrize("iterations", [1, 3])
def test_kernel_equals_that_of_grakel(community_graph, options, iterations):
    nodes = np.arange(community_graph.num_nodes)
    ours = compute_rows(community_graph, nodes, nodes, iterations=iterations, **options)
    theirs = grakel_kernel(subgraphs_of(community_graph, nodes, **options), iterations)
    np.testing.assert_allclose(ours.kernel, theirs, rtol=1e-9)
    np.testing.assert_allclose(ours.own, np.diag(theirs), rtol=1e-9)


@pytest.mark.parametrize("options", [WALKS, EGONETS], ids=["walks", "egonets"])
def test_kernel_equals_that_of_grakel_on_cora(data, options):
    graph = graphprox.load("Cora", data=data).graph
    nodes = np.random.default_rng(1).choice(graph.num_nodes, 250, replace=False)
    ours = compute_rows(graph, nodes, nodes, **options)
    theirs = grakel_kernel(subgraphs_of(graph, nodes, **options), 3)
    np.testing.assert_allclose(ours.kernel, theirs, rtol=1e-9)


@st.composite
def graphs(draw):
    nodes = draw(st.integers(2, 10))
    ends = st.integers(0, nodes - 1)
    edges = draw(st.lists(st.tuples(ends, ends), max_size=18))
    return Graph(x=np.ones((nodes, 1)), edge_index=np.array(edges, np.int64).reshape(-1, 2).T)


@given(graphs(), st.integers(0, 4), st.sampled_from([WALKS | {"num_walks": 2, "walk_length": 3}, EGONETS]))
@settings(max_examples=60)
def test_kernel_equals_that_of_exact_labels(graph, iterations, options):
    nodes = np.arange(graph.num_nodes)
    ours = compute_rows(graph, nodes, nodes, iterations=iterations, **options)
    theirs = exact_kernel(subgraphs_of(graph, nodes, **options), iterations)
    assert np.array_equal(ours.kernel, theirs)
    assert np.array_equal(ours.own, np.diag(theirs))


def test_row_does_not_depend_on_other_rows(community_graph):
    landmarks = [3, 160, 9, 211]
    every = compute_rows(community_graph, np.arange(community_graph.num_nodes), landmarks, **WALKS)
    some = compute_rows(community_graph, [211, 0, 7], landmarks, **WALKS)
    assert np.array_equal(some.kernel, every.kernel[[211, 0, 7]])
    assert np.array_equal(some.fingerprint, every.fingerprint[[211, 0, 7]])


# -- labels ---------------------------------------------------------------------------------------------------------


def hashed_labels(subgraph, iterations):
    first, second = subgraph.edges.astype(np.int32)
    rounds = [initial_labels(len(subgraph.nodes), first, second)]
    for iteration in range(iterations):
        rounds.append(refine_labels(rounds[-1], first, second, iteration))
    return rounds


def same_partition(one, other):
    return len(set(one)) == len(set(other)) == len(set(zip(one, other, strict=True)))


@given(graphs(), st.integers(0, 4))
@settings(max_examples=100)
def test_hashed_labels_partition_the_nodes_as_exact_labels(graph, iterations):
    subgraph = sample_subgraph(graph, 0, np.random.default_rng(0), subgraphs="egonet", hops=9)
    exact = exact_labels(neighbors_in(subgraph), iterations)
    for ours, theirs in zip(hashed_labels(subgraph, iterations), exact, strict=True):
        assert same_partition(ours.tolist(), theirs)


def test_hashed_labels_do_not_collide_on_many_subgraphs(community_graph):
    ours, theirs = [], []
    for subgraph in subgraphs_of(community_graph, range(community_graph.num_nodes), **WALKS):
        ours += [label for labels in hashed_labels(subgraph, 2) for label in labels.tolist()]
        exact = exact_labels(neighbors_in(subgraph), 2)
        theirs += [(number, label) for number, labels in enumerate(exact) for label in labels]
    assert same_partition(ours, theirs)


@given(st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 5), max_size=50))
def test_label_counts_equal_those_of_a_counter(given_labels):
    labels = np.array(given_labels, np.uint64)
    found, times = np.empty(len(labels), np.uint64), np.empty(len(labels), np.int32)
    size = count_labels(labels, found, times)
    assert dict(zip(found[:size].tolist(), times[:size].tolist(), strict=True)) == Counter(given_labels)


# -- known values ---------------------------------------------------------------------------------------------------


def test_kernel_without_edges_is_one_per_iteration():
    graph = Graph(x=np.ones((5, 1)), edge_index=np.empty((2, 0), int))
    rows = compute_rows(graph, np.arange(5), [1, 3], iterations=3, **WALKS)
    assert (rows.kernel == 4).all()
    assert (rows.own == 4).all()


def test_all_labels_of_a_clique_are_equal():
    edges = np.array([(a, b) for a in range(6) for b in range(a)]).T
    graph = Graph(x=np.ones((6, 1)), edge_index=edges)
    rows = compute_rows(graph, np.arange(6), np.arange(6), iterations=2, **EGONETS)
    assert (rows.kernel == 6 * 6 * 3).all()


def test_kernel_of_a_large_star_is_exact():
    leaves = 3000
    graph = Graph(x=np.ones((leaves + 1, 1)), edge_index=[[0] * leaves, range(1, leaves + 1)])
    rows = compute_rows(graph, [0, 5], [0, 7], iterations=1, **EGONETS)
    assert (rows.kernel == 2 * (leaves**2 + 1)).all()
    one_hop = compute_rows(graph, [0, 5], [0, 7], iterations=0, **(EGONETS | {"hops": 1}))
    # A leaf and its hub both have degree 1; the star has as many nodes of degree 1 as leaves.
    assert one_hop.kernel.tolist() == [[leaves**2 + 1, 2 * leaves], [2 * leaves, 4]]
    assert one_hop.own.tolist() == [leaves**2 + 1, 4]
