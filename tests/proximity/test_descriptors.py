"""What is compared when two nodes are called near."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from graphprox import Graph
from graphprox.proximity.descriptors import features, neighbourhood

RNG = np.random.default_rng(0)


def dense(matrix):
    return matrix.toarray() if sp.issparse(matrix) else matrix


def random_graph(*, sparse: bool, directed: bool = False, weighted: bool = False) -> Graph:
    rng = np.random.default_rng(3)
    x = rng.integers(0, 3, (30, 6)).astype(np.float32)
    edges = rng.integers(0, 28, (2, 60))  # the last two nodes are isolated
    weight = rng.random(60) if weighted else None
    return Graph(sp.csr_array(x) if sparse else x, edges, edge_weight=weight, directed=directed)


@pytest.mark.parametrize("sparse", [False, True])
def test_features_are_taken_as_they_are_or_as_present_or_not(sparse):
    graph = random_graph(sparse=sparse)
    assert features(graph, RNG) is graph.x
    present = features(graph, RNG, binary=True)
    assert sp.issparse(present) == sparse
    assert present.dtype == np.float32
    np.testing.assert_array_equal(dense(present), dense(graph.x) != 0)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
def test_the_neighbourhood_is_the_weighted_mean_of_whom_a_node_points_to(sparse, directed, weighted):
    graph = random_graph(sparse=sparse, directed=directed, weighted=weighted)
    mean = neighbourhood(graph, RNG)
    assert sp.issparse(mean) == sparse
    assert mean.dtype == np.float32
    x, adjacency = dense(graph.x), graph.to_scipy().toarray()
    np.fill_diagonal(adjacency, 0)
    for node in range(graph.num_nodes):
        expected = x[node] if not adjacency[node].any() else np.average(x, axis=0, weights=adjacency[node])
        np.testing.assert_allclose(dense(mean)[node], expected, rtol=1e-5)


def test_a_node_with_a_self_loop_or_with_edges_of_no_weight_is_alone():
    graph = Graph(x=[[1, 0], [0, 1], [2, 2]], edge_index=[[0, 1], [0, 2]], edge_weight=[1, 0], directed=True)
    np.testing.assert_array_equal(neighbourhood(graph, RNG), graph.x)


def test_a_constant_feature_is_its_own_mean():
    graph = Graph(np.full((20, 2), 3.0), RNG.integers(0, 20, (2, 50)))
    np.testing.assert_allclose(neighbourhood(graph, RNG), 3, rtol=1e-6)
