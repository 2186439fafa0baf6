from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from graphprox import Graph
from graphprox.graph.checksum import graph_checksum

X = np.arange(12, dtype=np.float32).reshape(4, 3)
EDGES = [[0, 1, 2], [1, 2, 3]]


def test_equal_graphs_have_the_same_sha256():
    assert graph_checksum(Graph(X, EDGES)) == graph_checksum(Graph(X.copy(), EDGES))
    assert len(bytes.fromhex(graph_checksum(Graph(X, EDGES)))) == 32


def test_the_checksum_is_stable_across_versions():
    """If it changed, existing checkpoints would be rejected as belonging to another graph."""
    assert graph_checksum(Graph(X, EDGES))[:16] == "476d69e01903f00d"


def test_labels_and_ids_are_ignored():
    named = Graph(X, EDGES, y=[0, 1, 0, 1], class_names=["a", "b"], node_ids=list("abcd"))
    assert graph_checksum(named) == graph_checksum(Graph(X, EDGES))


def test_the_order_of_listed_edges_is_ignored():
    assert graph_checksum(Graph(X, [[3, 0, 1], [2, 1, 2]])) == graph_checksum(Graph(X, EDGES))


def test_features_edges_weights_and_direction_change_the_checksum():
    one_more = X.copy()
    one_more[3, 2] += 1e-6 * one_more[3, 2]
    assert (one_more != X).sum() == 1
    graphs = [
        Graph(X, EDGES),
        Graph(one_more, EDGES),
        Graph(X[:, ::-1], EDGES),
        Graph(X[::-1], EDGES),
        Graph(sp.csr_array(X), EDGES),
        Graph(X.reshape(6, 2)[:4], EDGES),
        Graph(X, [[0, 1, 2], [1, 2, 0]]),
        Graph(X, np.empty((2, 0), int)),
        Graph(X, EDGES, directed=True),
        Graph(X, Graph(X, EDGES).edge_index, directed=True),
        Graph(X, EDGES, edge_weight=[1, 1, 1]),
        Graph(X, EDGES, edge_weight=[1, 1, 2]),
    ]
    assert len({graph_checksum(graph) for graph in graphs}) == len(graphs)


@pytest.mark.parametrize("index_dtype", [np.int32, np.int64])
def test_the_dtype_of_sparse_indices_is_ignored(index_dtype):
    graph = Graph(sp.csr_array(X), EDGES)
    before = graph_checksum(graph)
    graph.x.indices, graph.x.indptr = graph.x.indices.astype(index_dtype), graph.x.indptr.astype(index_dtype)
    assert graph_checksum(graph) == before


def test_the_memory_layout_of_features_is_ignored():
    strided = Graph(X, EDGES)
    object.__setattr__(strided, "x", np.asfortranarray(X))
    assert graph_checksum(strided) == graph_checksum(Graph(X, EDGES))
