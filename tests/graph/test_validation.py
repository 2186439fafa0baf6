from __future__ import annotations

import subprocess
import sys

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import torch
from torch_geometric.data import Data, HeteroData

from graphprox import GraphError, GraphproxWarning, StructuralFeaturesWarning, load
from graphprox.graph import Graph, check_graph, graph_checksum

X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, 0.0]], np.float32)
EDGES = np.array([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])
GRAPH = Graph(X, EDGES)
ADJACENCY = GRAPH.to_scipy()

FORMS = {
    "Graph": GRAPH,
    "PyG Data": GRAPH.to_pyg(),
    "networkx": GRAPH.to_networkx(),
    "sparse adjacency": (X, ADJACENCY),
    "coo adjacency": (X, ADJACENCY.tocoo()),
    "dense adjacency": (X, ADJACENCY.toarray()),
    "edge_index": (X, EDGES),
    "lists": (X.tolist(), EDGES.tolist()),
    "tensors": (torch.tensor(X, requires_grad=True), torch.tensor(EDGES)),
    "sparse adjacency tensor": (torch.tensor(X), torch.tensor(ADJACENCY.toarray()).to_sparse_coo()),
    "DataFrame": (pd.DataFrame(X), EDGES),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_describes_the_same_graph(form):
    assert graph_checksum(check_graph(FORMS[form])) == graph_checksum(GRAPH)


def test_a_graph_and_the_graph_of_a_dataset_are_returned_as_they_are():
    dataset = load("synthetic:nodes=140")
    assert check_graph(dataset) is dataset.graph
    assert check_graph(GRAPH) is GRAPH


def test_sparse_features_of_a_pair_stay_sparse():
    assert check_graph((sp.coo_array(X), EDGES)).has_sparse_features


def test_weights_and_directions_are_kept():
    weighted = check_graph((np.eye(3), np.array([[0, 2, 0], [2, 0, 0.5], [0, 0.5, 0]])))
    assert weighted.edge_weight.tolist() == [2, 2, 0.5, 0.5]
    assert not weighted.directed
    assert check_graph((np.eye(3), [[0, 1], [1, 2]])).directed
    assert not check_graph((np.eye(3), [[0, 1], [1, 0]])).directed


def test_a_2x2_matrix_is_an_adjacency_for_two_nodes_and_an_edge_index_for_more():
    assert check_graph((np.eye(2), [[1, 1], [1, 0]])).edge_index.tolist() == [[0, 0, 1], [0, 1, 0]]
    assert check_graph((np.eye(3), [[1, 1], [1, 0]])).edge_index.tolist() == [[1, 1], [0, 1]]


@pytest.mark.parametrize("matrix", [X, X.tolist(), pd.DataFrame(X), torch.tensor(X)], ids=lambda x: type(x).__name__)
def test_a_dense_matrix_contains_features_of_nodes_without_edges(matrix):
    graph = check_graph(matrix)
    assert np.array_equal(graph.x, X)
    assert graph.num_edges == 0


@pytest.mark.parametrize("adjacency", [ADJACENCY, torch.tensor(ADJACENCY.toarray()).to_sparse_coo()])
def test_a_sparse_matrix_alone_is_an_adjacency(adjacency):
    with pytest.warns(StructuralFeaturesWarning):
        graph = check_graph(adjacency)
    assert np.array_equal(graph.edge_index, GRAPH.edge_index)


@pytest.mark.parametrize(
    "edge_index",
    [
        EDGES,
        EDGES.astype(np.uint8),
        torch.tensor(EDGES),
        EDGES.tolist(),
        (EDGES[0], EDGES[1]),
        (EDGES[0].tolist(), EDGES[1].tolist()),
        tuple(torch.tensor(EDGES)),
        [EDGES[0], EDGES[1]],
    ],
    ids=["ndarray", "uint8", "tensor", "lists", "tuple of arrays", "tuple of lists", "tuple of tensors", "rows"],
)
def test_an_edge_index_alone_is_rejected_with_what_to_do(edge_index):
    message = r"^an edge_index alone .* got integers of shape \(2, 6\): pass the pair \(X, edge_index\) or Graph\("
    with pytest.raises(GraphError, match=message):
        check_graph(edge_index)


@pytest.mark.parametrize("columns", [1, 2, 3])
def test_features_of_two_nodes_are_accepted_as_floats_only(columns):
    x = np.arange(2 * columns).reshape(2, columns)
    assert np.array_equal(check_graph(x.astype(np.float32)).x, x)
    with pytest.raises(GraphError, match="features of two nodes must be floats"):
        check_graph(x)


def test_integer_features_of_more_nodes_are_accepted():
    assert check_graph(np.eye(3, dtype=int)).num_features == 3


def test_features_given_as_a_matrix_are_validated():
    seen = []

    def double(x):
        seen.append(x)
        return 2 * x

    assert np.array_equal(check_graph((X, EDGES), check_features=double).x, 2 * X)
    assert np.array_equal(check_graph(X, check_features=double).x, 2 * X)
    assert check_graph(GRAPH, check_features=double) is GRAPH
    assert len(seen) == 2


@pytest.mark.parametrize("obj", [None, {"x": 1}, 3, (1, 2, 3), object()])
def test_other_objects_are_rejected_with_what_is_accepted(obj):
    with pytest.raises(GraphError, match=r"^a graph must be a Graph, a Dataset, .* without edges; got \w+$"):
        check_graph(obj)


@pytest.mark.parametrize(
    ("obj", "message"),
    [
        ("Cora", "got str: read it with graphprox.load$"),
        (HeteroData(), r"one type of node and of edge; got HeteroData .*: call data.to_homogeneous\(\) first$"),
        (Data(), "the number of nodes of a Data must be known"),
        (np.array(1.0), "features must be a matrix"),
        (sp.eye_array(4, 3), r"must be square; got shape \(4, 3\): pass features as a dense matrix"),
        ((np.eye(3), np.eye(4)), r"^A of a pair \(X, A\) must be .* 3 × 3 .* got ndarray of shape \(4, 4\)$"),
        ((np.eye(3), [[0, 1], [2]]), r"^A of a pair \(X, A\) must be"),
        ((np.eye(3), "edges.csv"), r"got str of shape \(\)$"),
        ((np.eye(3), None), r"got NoneType of shape \(\)$"),
        ((np.eye(3), np.eye(3) * 1j), r"^A of a pair"),
        ((np.eye(3), sp.eye_array(4)), "agree on the number of nodes; got 4 by num_nodes and 3 by features"),
        ((np.eye(3), [[0.0, 1.0], [1.0, 2.0]]), "integer node numbers; got float64"),
        ((np.eye(3), [[0, 1], [1, 3]]), "node 3 is unknown"),
    ],
)
def test_invalid_graphs_are_rejected_in_one_sentence(obj, message):
    with pytest.raises(GraphError, match=message) as caught:
        check_graph(obj)
    assert "\n" not in str(caught.value)


def test_networkx_and_torch_are_not_imported():
    code = (
        "import sys, numpy as np\n"
        "from graphprox.graph import check_graph\n"
        "check_graph((np.eye(3), [[0, 1], [1, 2]]))\n"
        "assert not {'networkx', 'torch'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_networkx_graphs_of_all_kinds_are_accepted():
    for kind in (nx.Graph, nx.DiGraph):
        network = kind([(0, 1), (1, 2)])
        nx.set_node_attributes(network, {0: [1.0], 1: [2.0], 2: [3.0]}, "x")
        assert check_graph(network).directed == network.is_directed()


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        (np.array([[0, 1, 1], [1, 0, 0], [1, 0, 0]]), "an adjacency matrix"),
        (np.array([[0, 1], [1, 2], [2, 3], [3, 4]]), "a list of edges"),
    ],
)
def test_dense_matrix_that_looks_like_edges_is_read_as_features_with_a_warning(given, kind):
    with pytest.warns(GraphproxWarning, match=f"this one looks like {kind}"):
        graph = check_graph(given)
    assert graph.num_edges == 0
