"""Graphs: what they store, their immutability, and the validation of their arguments.

Covers graphprox.graph.arguments.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import scipy.sparse as sp

from graphprox import Graph, GraphError

X = np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 0.0]], np.float32)
EDGES = [[0, 1], [1, 2]]


def test_an_undirected_graph_stores_both_directions_of_an_edge():
    graph = Graph(X, EDGES)
    assert graph.edge_index.tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]]
    assert (graph.num_edges, graph.num_entries) == (2, 4)
    assert graph.edges_once().tolist() == [[0, 1], [1, 2]]


def test_a_directed_graph_stores_the_edges_as_listed():
    graph = Graph(X, [[1, 0], [0, 1]], directed=True)
    assert graph.num_edges == graph.num_entries == 2
    one_way = Graph(X, [[2], [0]], directed=True)
    assert one_way.edge_index.tolist() == [[2], [0]]
    assert one_way.to_undirected().edge_index.tolist() == [[0, 2], [2, 0]]


def test_self_loops_are_kept_and_counted_once():
    graph = Graph(X, [[0, 0, 1], [0, 0, 2]])
    assert (graph.num_self_loops, graph.num_edges, graph.num_entries, graph.duplicates) == (1, 2, 3, 1)


def test_sparse_features_stay_sparse():
    graph = Graph(sp.coo_matrix(X.astype(np.float64)), EDGES)
    assert isinstance(graph.x, sp.csr_array)
    assert graph.x.dtype == np.float32
    assert graph.x.nnz == 3
    assert graph.has_sparse_features


def test_stored_zeros_and_duplicates_of_a_sparse_matrix_are_removed():
    given = sp.csr_array((np.array([1.0, 1.0, 0.0]), np.array([1, 1, 0]), np.array([0, 2, 3])), shape=(2, 2))
    graph = Graph(given, [[0], [1]])
    assert graph.x.toarray().tolist() == [[0, 2], [0, 0]]
    assert graph.x.nnz == 1
    assert given.nnz == 3  # the input is not modified


def test_a_graph_is_immutable():
    graph = Graph(X, EDGES, edge_weight=[1, 2], y=[0, 1, 1], node_ids=["a", "b", "c"])
    with pytest.raises(dataclasses.FrozenInstanceError):
        graph.y = None
    for array in (graph.x, graph.edge_index, graph.edge_weight, graph.y, graph.node_ids):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = array[0]


@pytest.mark.parametrize("part", ["data", "indices", "indptr"])
def test_sparse_features_are_immutable(part):
    graph = Graph(sp.csr_array(X), EDGES)
    with pytest.raises(ValueError, match="read-only"):
        getattr(graph.x, part)[0] = 1


def test_changing_the_input_arrays_later_does_not_change_the_graph():
    import torch

    x, y, tensor = X.copy(), np.array([0, 1, 1]), torch.tensor(X.copy())
    words = sp.csr_array(X)
    graph, of_tensor, of_words = Graph(x, EDGES, y=y), Graph(tensor, EDGES), Graph(words, EDGES)
    of_view = Graph(x[:, ::-1], EDGES)
    x[0, 0], y[0], tensor[0, 0], words.data[0] = 9, 9, 9, 9
    assert graph.x[0, 0] == of_tensor.x[0, 0] == of_words.x[0, 0] == of_view.x[0, 1] == 1
    assert graph.y[0] == 0


def test_read_only_arrays_are_not_copied():
    x = X.copy()
    x.flags.writeable = False
    assert np.shares_memory(Graph(x, EDGES).x, x)


def test_without_labels_removes_labels_and_class_names():
    graph = Graph(X, EDGES, y=[0, 1, -1], class_names=["a", "b"]).without_labels()
    assert graph.y is None
    assert graph.class_names is None
    assert graph.num_classes == 0


def test_unknown_labels_are_not_counted_as_a_class():
    assert Graph(X, EDGES, y=[5, -1, 7]).num_classes == 2


def test_replaced_labels_and_features_are_validated():
    graph = Graph(X, EDGES, y=[0, 1, 1])
    assert graph.with_labels([1, 1, 1]).num_classes == 1
    assert graph.with_features(np.eye(3)).num_features == 3
    with pytest.raises(GraphError, match="one class per node"):
        graph.with_labels([0, 1])
    with pytest.raises(GraphError, match="row per node; got 2 for 3"):
        graph.with_features(np.eye(2))


def test_repr():
    graph = Graph(sp.csr_array(X), EDGES, edge_weight=[1, 2], y=[0, 1, 1], directed=True)
    assert repr(graph) == "Graph(3 nodes, 2 directed edges, 2 sparse features, 2 classes, weighted)"


def test_a_graph_may_have_no_edges():
    graph = Graph(X, np.empty((2, 0), int), edge_weight=[])
    assert (graph.num_edges, graph.num_entries) == (0, 0)


NAN = float("nan")
BAD = {
    "features of one dimension": ({"x": [1, 2, 3]}, "features must be a matrix"),
    "features of words": ({"x": [["a"], ["b"], ["c"]]}, "features must be a valid matrix of numbers"),
    "no node": ({"x": np.empty((0, 2)), "edge_index": []}, "at least two nodes; got 0"),
    "one node": ({"x": [[1.0]], "edge_index": []}, "at least two nodes; got 1"),
    "no column": ({"x": np.empty((3, 0))}, "at least one column"),
    "NaN": ({"x": [[1.0], [NAN], [1.0]], "node_ids": ["a", "b", "c"]}, "got NaN in the row of node 'b'"),
    "infinity": ({"x": [[1.0], [1.0], [-np.inf]]}, "got -inf in the row of node 2"),
    "too large for float32": ({"x": [[1.0], [1e39], [1.0]]}, "got inf in the row of node 1"),
    "sparse NaN": ({"x": sp.csr_array([[0.0, 0.0], [0.0, NAN], [1.0, 0.0]])}, "got NaN in the row of node 1"),
    "sparse NaN of a numbered node": (
        {"x": sp.csr_array([[0.0], [NAN], [1.0]]), "node_ids": [5, 6, 7]},
        "got NaN in the row of node 6:",
    ),
    "complex features": ({"x": np.eye(3) * 1j}, "real numbers; got complex ones"),
    "a sparse matrix that reaches beyond itself": (
        {"x": sp.csr_array((np.ones(3), np.array([0, 1, 7]), np.array([0, 1, 2, 3])), shape=(3, 3))},
        "valid matrix",
    ),
    "edges of one row": ({"edge_index": [0, 1]}, "edge_index must have two rows"),
    "edges of fractions": ({"edge_index": [[0.5], [1.0]]}, "integer node numbers; got float64"),
    "an unknown node": ({"edge_index": [[0, 1], [1, 3]]}, "edge 1 joins 1 and 3, and node 3 is unknown"),
    "a negative node": ({"edge_index": [[-1], [1]]}, "node -1 is unknown"),
    "too few weights": ({"edge_weight": [1]}, r"got shape \(1,\) for 2 edges"),
    "a negative weight": ({"edge_weight": [1, -2]}, "got -2 between 1 and 2"),
    "a NaN weight": ({"edge_weight": [NAN, 1], "node_ids": ["a", "b", "c"]}, "got nan between a and b"),
    "an infinite weight": ({"edge_weight": [1, np.inf]}, "got inf"),
    "a weight of words": ({"edge_weight": ["a", "b"]}, "edge_weight must contain numbers"),
    "too few labels": ({"y": [0, 1]}, "one class per node"),
    "several labels a node": ({"y": np.eye(3)}, "multi-label graphs are not supported"),
    "labels of fractions": ({"y": [0.0, 1.0, 2.0]}, "integer class numbers"),
    "a negative label": ({"y": [0, 1, -2]}, "or -1 for unknown; got -2"),
    "too few class names": ({"y": [0, 1, 2], "class_names": ["a", "b"]}, "got 2 names for class 2"),
    "too few ids": ({"node_ids": ["a", "b"]}, "got 3 by features and 2 by node_ids"),
    "equal ids": ({"node_ids": ["a", "b", "a"]}, "got 'a' more than once"),
    "ids of two kinds": ({"node_ids": ["a", 2, "c"]}, None),
    "ids of fractions": ({"node_ids": [0.5, 1.5, 2.5]}, "all strings; got 0.5"),
    "ids beyond 2^63": ({"node_ids": np.array([1, 2, 2**63], np.uint64)}, r"must be less than 2\^63"),
    "ids of two dimensions": ({"node_ids": [["a"], ["b"], ["c"]]}, "one id per node"),
}


@pytest.mark.parametrize("name", BAD)
def test_invalid_input_is_rejected_in_one_sentence(name):
    changes, sentence = BAD[name]
    if sentence is None:  # numpy converts a mixed list to strings; an object array preserves the types
        changes, sentence = {"node_ids": np.array(["a", 2, "c"], object)}, "all strings; got 2"
    with pytest.raises(GraphError, match=sentence) as caught:
        Graph(**{"x": X, "edge_index": EDGES, **changes})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("size", ["x", "3", 3.0, True, [3], np.float64(3), np.True_, None])
def test_num_nodes_must_be_an_integer(size):
    if size is None:
        assert Graph(np.eye(3), [[0], [1]], num_nodes=np.int32(3)).num_nodes == 3
    else:
        with pytest.raises(GraphError, match="num_nodes must be an integer; got"):
            Graph(np.eye(3), [[0], [1]], num_nodes=size)
