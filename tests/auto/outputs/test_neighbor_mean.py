from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

from graphprox import Graph
from graphprox.auto.outputs import OUTPUTS, PreparedGraph
from graphprox.auto.outputs.neighbor_mean import average_over_neighbors


def mean_over_neighbors(graph: nx.Graph, rows: np.ndarray) -> np.ndarray:
    """Return the weighted mean of the rows of the neighbors in networkx, zero where there are none."""
    found = np.zeros_like(rows, float)
    for node in graph:
        weight = {each: data.get("weight", 1) for each, data in graph[node].items() if each != node}
        if sum(weight.values()) > 0:
            found[node] = np.average(rows[list(weight)], axis=0, weights=list(weight.values()))
    return found


@pytest.mark.parametrize("weighted", [False, True])
def test_neighbor_mean_equals_that_of_networkx(weighted):
    rng = np.random.default_rng(0)
    graph = nx.gnm_random_graph(40, 90, seed=0)
    graph.add_edge(3, 3)
    if weighted:
        nx.set_edge_attributes(graph, {edge: float(rng.uniform(0.1, 3)) for edge in graph.edges}, "weight")
    rows = rng.normal(size=(40, 5)).astype(np.float32)
    edges = np.array(graph.edges).T
    weight = [graph.edges[each].get("weight", 1.0) for each in graph.edges]
    prepared = PreparedGraph(Graph(rows, edges, edge_weight=weight if weighted else None), rows, random_state=0)
    np.testing.assert_allclose(OUTPUTS["neighbors"](prepared), mean_over_neighbors(graph, rows), atol=1e-5)


def test_own_row_has_no_effect():
    rows = np.random.default_rng(0).random((5, 2), np.float32)
    neighbors = sp.csr_array(np.ones((5, 5), np.float32) - np.eye(5, dtype=np.float32))
    changed = rows.copy()
    changed[0] = 100
    assert np.array_equal(average_over_neighbors(neighbors, rows)[0], average_over_neighbors(neighbors, changed)[0])


def test_isolated_nodes_get_zeros():
    rows = np.ones((5, 2), np.float32)
    for edges, weight in (([[0, 1], [1, 2]], None), ([[0, 1, 3], [1, 2, 4]], [1.0, 1.0, 0.0])):
        found = OUTPUTS["neighbors"](PreparedGraph(Graph(rows, edges, edge_weight=weight), rows, random_state=0))
        assert found.tolist() == [[1, 1], [1, 1], [1, 1], [0, 0], [0, 0]]


def test_direction_of_edges_does_not_matter():
    rows = np.random.default_rng(0).random((4, 3), np.float32)
    edges = [[0, 1, 2], [1, 2, 3]]
    directed, undirected = (
        OUTPUTS["neighbors"](PreparedGraph(Graph(rows, edges, directed=each), rows, random_state=0))
        for each in (True, False)
    )
    assert np.array_equal(directed, undirected)


@pytest.mark.parametrize("weight", [1e-38, 1e38])
def test_extreme_weights_give_the_same_means(weight):
    rows = np.random.default_rng(0).random((6, 3), np.float32)
    edges = np.array([[0, 1, 2, 3, 4], [1, 2, 3, 4, 5]])
    one, other = (
        OUTPUTS["neighbors"](
            PreparedGraph(Graph(rows, edges, edge_weight=np.full(5, each, np.float32)), rows, random_state=0)
        )
        for each in (1, weight)
    )
    np.testing.assert_allclose(one, other, rtol=1e-5)
