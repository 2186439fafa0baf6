"""Neighbors as words: the adjacency matrix, and which nodes of another graph are known."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from graphprox import Graph, ParameterError
from graphprox.auto.positions import Positions, sign_features
from graphprox.auto.preparation import Preparation

EDGES = np.array(list(nx.gnp_random_graph(40, 0.15, seed=0).edges)).T


def make_graph(edges=EDGES, num_nodes=40, seed=0, **options):
    x = np.random.default_rng(seed).random((num_nodes, 6), np.float32)
    return Graph(x, edges, **options)


def fit(graph, *, has_features=True):
    return Positions.fit(graph, has_features=has_features, random_state=0)


@pytest.mark.parametrize("directed", [False, True])
def test_words_are_the_rows_of_the_adjacency_matrix_of_networkx(directed):
    graph = make_graph(directed=directed)
    adjacency = nx.to_numpy_array(nx.gnp_random_graph(40, 0.15, seed=0), dtype=np.float32)
    expected = Preparation.fit(adjacency, random_state=0).transform(adjacency)
    np.testing.assert_allclose(fit(graph).transform(graph) @ expected.T, expected @ expected.T, atol=1e-4)


def test_self_loops_and_edges_of_weight_zero_are_no_words():
    plain = make_graph()
    loops = make_graph(np.hstack([EDGES, [[3, 5], [3, 5]]]))
    weight = np.ones(EDGES.shape[1] + 1)
    weight[-1] = 0
    extra = next([[i], [j]] for i in range(40) for j in range(i) if not (([[j], [i]] == EDGES).all(0)).any())
    zero = make_graph(np.hstack([EDGES, extra]), edge_weight=weight)
    expected = fit(plain).transform(plain)
    for graph in (loops, zero):
        np.testing.assert_allclose(fit(graph).transform(graph), expected, atol=1e-6)


def test_fitted_nodes_are_known_in_any_order():
    graph = make_graph()
    order = np.random.default_rng(1).permutation(40)
    permuted = Graph(graph.x[order], np.argsort(order)[EDGES], node_ids=order)
    positions = fit(graph)
    np.testing.assert_allclose(positions.transform(permuted), positions.transform(graph)[order], atol=1e-6)


def test_new_node_is_described_by_its_known_neighbors():
    graph = make_graph()
    x = np.vstack([graph.x, np.full((2, 6), 0.5, np.float32)])
    grown = Graph(x, np.hstack([EDGES, [[40, 40, 40], [1, 2, 41]]]))
    positions = fit(graph)
    rows = positions.transform(grown)
    words = np.zeros((1, 40), np.float32)
    words[0, [1, 2]] = 1
    np.testing.assert_allclose(rows[40], positions.preparation.transform(words)[0], atol=1e-6)
    assert not rows[41].any()  # it is connected with a node that is not known


def test_nodes_of_another_graph_with_the_same_numbers_are_not_known():
    graph, other = make_graph(), make_graph(seed=1)
    assert fit(graph).transform(graph).any()
    assert not fit(graph).transform(other).any()


def test_nodes_without_features_are_known_by_their_ids_alone():
    graph, other = make_graph(), make_graph(seed=1)
    positions = fit(graph, has_features=False)
    assert positions.signatures is None
    assert np.array_equal(positions.transform(other), positions.transform(graph))
    strangers = Graph(graph.x, EDGES, node_ids=np.arange(40) + 100)
    with pytest.raises(ParameterError, match="none of its ids is known"):
        positions.transform(strangers)


def test_signatures_tell_nodes_apart_and_do_not_depend_on_other_nodes():
    graph = make_graph()
    signatures = sign_features(graph)
    assert len(np.unique(signatures)) == 40
    part = Graph(graph.x[:10], [[0], [1]])
    np.testing.assert_allclose(sign_features(part), signatures[:10], rtol=1e-9)


@pytest.mark.parametrize("scale", [1e-11, 1e11])
def test_scale_of_the_features_does_not_matter(scale):
    graph, other = (Graph(make_graph(seed=seed).x * scale, EDGES) for seed in (0, 1))
    assert fit(graph).transform(graph).any()
    assert not fit(graph).transform(other).any()


def test_features_that_agree_by_chance_do_not_make_a_graph_known():
    rng = np.random.default_rng(0)
    graph, other = (Graph(rng.integers(0, 5, (40, 1)).astype(np.float32), EDGES) for _ in range(2))
    assert (graph.x == other.x).any()
    assert not fit(graph).transform(other).any()
