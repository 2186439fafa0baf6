"""The neighborhood view."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from graphprox import Graph
from graphprox.views import neighborhood_descriptor

RNG = np.random.default_rng(0)


def to_dense(matrix):
    return matrix.toarray() if sp.issparse(matrix) else matrix


def random_graph(*, sparse: bool, directed: bool, weighted: bool) -> Graph:
    rng = np.random.default_rng(3)
    x = rng.integers(0, 3, (30, 6)).astype(np.float32)
    edges = rng.integers(0, 28, (2, 60))  # the last two nodes are isolated
    weight = rng.random(60) if weighted else None
    return Graph(sp.csr_array(x) if sparse else x, edges, edge_weight=weight, directed=directed)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
def test_descriptor_is_the_weighted_mean_over_out_neighbors(sparse, directed, weighted):
    graph = random_graph(sparse=sparse, directed=directed, weighted=weighted)
    mean = neighborhood_descriptor(graph, RNG)
    assert sp.issparse(mean) == sparse
    assert mean.dtype == np.float32
    x, adjacency = to_dense(graph.x), graph.to_scipy().toarray()
    np.fill_diagonal(adjacency, 0)
    for node in range(graph.num_nodes):
        expected = x[node] if not adjacency[node].any() else np.average(x, axis=0, weights=adjacency[node])
        np.testing.assert_allclose(to_dense(mean)[node], expected, rtol=1e-5)


def test_self_loops_and_edges_of_weight_zero_are_ignored():
    graph = Graph(x=[[1, 0], [0, 1], [2, 2]], edge_index=[[0, 1], [0, 2]], edge_weight=[1, 0], directed=True)
    np.testing.assert_array_equal(neighborhood_descriptor(graph, RNG), graph.x)


def test_mean_of_constant_features_is_that_constant():
    graph = Graph(np.full((20, 2), 3.0), RNG.integers(0, 20, (2, 50)))
    np.testing.assert_allclose(neighborhood_descriptor(graph, RNG), 3, rtol=1e-6)
