from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.data import Data, HeteroData
from torch_geometric.nn import GCNConv

from graphprox import Graph, GraphError, IgnoredInputWarning, StructuralFeaturesWarning, read_graph


@st.composite
def graphs(draw):
    n = draw(st.integers(2, 7))
    node = st.integers(0, n - 1)
    edges = draw(st.lists(st.tuples(node, node), max_size=15))
    index = np.array(edges, np.int64).reshape(-1, 2).T
    values = st.integers(0, 3)
    x = np.array(draw(st.lists(st.lists(values, min_size=3, max_size=3), min_size=n, max_size=n)), np.float32)
    return Graph(
        sp.csr_array(x) if draw(st.booleans()) else x,
        index,
        # scipy has no edges of weight 0, and weights that are all 1 are not stored.
        edge_weight=draw(st.none() | st.lists(st.integers(2, 5), min_size=len(edges), max_size=len(edges))),
        y=draw(st.none() | st.lists(st.integers(-1, 2), min_size=n, max_size=n)),
        node_ids=draw(st.sampled_from([None, [f"n{9 - i}" for i in range(n)], [7 * i - 3 for i in range(n)]])),
        directed=draw(st.booleans()),
    )


def dense(x):
    return x.toarray() if sp.issparse(x) else x


def assert_same_graph(one: Graph, other: Graph) -> None:
    assert np.array_equal(dense(one.x), dense(other.x))
    assert np.array_equal(one.edge_index, other.edge_index)
    if one.edge_weight is None or not len(one.edge_weight):
        assert other.edge_weight is None or not len(other.edge_weight)
    else:
        assert np.array_equal(one.edge_weight, other.edge_weight)


@given(graphs())
def test_pyg_round_trip(graph):
    data = graph.to_pyg()
    assert data.validate()
    back = Graph.from_pyg(data, directed=graph.directed)
    assert_same_graph(graph, back)
    assert back.has_sparse_features == graph.has_sparse_features
    assert np.array_equal(back.ids, graph.ids)
    assert (back.y is None) == (graph.y is None)
    assert graph.y is None or np.array_equal(back.y, graph.y)


@given(graphs())
def test_networkx_round_trip(graph):
    made = graph.to_networkx()
    assert made.is_directed() == graph.directed
    assert made.number_of_edges() == graph.num_edges
    back = Graph.from_networkx(made)
    assert_same_graph(graph, back)
    assert np.array_equal(back.ids, graph.ids)
    if graph.y is not None and (graph.y >= 0).any():
        assert np.array_equal(back.y, graph.y)


@given(graphs())
def test_scipy_round_trip(graph):
    adjacency = graph.to_scipy()
    assert adjacency.shape == (graph.num_nodes, graph.num_nodes)
    assert_same_graph(graph, Graph.from_scipy(adjacency, graph.x, directed=graph.directed))


@pytest.mark.parametrize("build", ["pyg", "scipy"])
def test_direction_is_inferred_from_the_edges(build):
    def made(index):
        if build == "pyg":
            return Graph.from_pyg(Data(x=torch.eye(3), edge_index=torch.tensor(index)))
        adjacency = sp.coo_array((np.ones(len(index[0])), index), shape=(3, 3))
        return Graph.from_scipy(adjacency, np.eye(3))

    assert not made([[0, 1], [1, 0]]).directed
    assert made([[0, 1], [1, 2]]).directed


def test_pyg_convolutions_accept_sparse_features():
    graph = Graph(sp.csr_array(np.eye(4)), [[0, 1, 2], [1, 2, 3]])
    data, plain = graph.to_pyg(), Graph(np.eye(4), graph.edge_index).to_pyg()
    convolution = GCNConv(4, 2)
    assert data.x.layout == torch.sparse_csr
    assert torch.allclose(convolution(data.x, data.edge_index), convolution(plain.x, plain.edge_index))


def test_a_single_column_of_edge_attr_is_the_weight():
    index = torch.tensor([[0, 1], [1, 2]])
    for attribute in (torch.tensor([2.0, 3.0]), torch.tensor([[2.0], [3.0]])):
        graph = Graph.from_pyg(Data(x=torch.eye(3), edge_index=index, edge_attr=attribute))
        assert graph.edge_weight.tolist() == [2, 3]


def test_edge_attr_with_several_columns_is_ignored_with_a_warning():
    data = Data(x=torch.eye(3), edge_index=torch.tensor([[0], [1]]), edge_attr=torch.ones(1, 4))
    with pytest.warns(IgnoredInputWarning, match="edge_attr has 4 columns"):
        assert Graph.from_pyg(data).edge_weight is None


def test_a_transposed_adjacency_matrix_keeps_its_directions():
    adj_t = torch.tensor([[0.0, 0, 0], [1, 0, 0], [0, 2, 0]]).to_sparse_coo()
    graph = Graph.from_pyg(Data(x=torch.eye(3), adj_t=adj_t))
    assert graph.edge_index.tolist() == [[0, 1], [1, 2]]
    assert graph.edge_weight.tolist() == [1, 2]


def test_tensors_that_require_gradients_are_accepted():
    x = torch.eye(3, requires_grad=True)
    assert Graph.from_pyg(Data(x=x, edge_index=torch.tensor([[0], [1]]))).x.tolist() == np.eye(3).tolist()


def test_lists_and_bfloat16_are_accepted():
    index = torch.tensor([[0], [1]])
    halves = Data(x=torch.eye(2, dtype=torch.bfloat16), edge_index=index, y=[1, 0])
    assert Graph.from_pyg(halves).x.tolist() == [[1, 0], [0, 1]]
    assert Graph.from_pyg(halves).y.tolist() == [1, 0]
    with pytest.warns(StructuralFeaturesWarning):
        assert Graph.from_pyg(Data(edge_index=index)).num_nodes == 2


def test_hetero_data_is_rejected():
    data = HeteroData()
    data["paper"].x, data["author"].x = torch.eye(2), torch.eye(2)
    data["author", "writes", "paper"].edge_index = torch.tensor([[0], [1]])
    with pytest.raises(GraphError, match=r"HeteroData with 2 and 1: call data.to_homogeneous\(\) first"):
        Graph.from_pyg(data)


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (Data(edge_index=None, x=torch.eye(3)), "neither edge_index nor adj_t"),
        (Data(), "neither x nor num_nodes"),
        ("Cora", "takes a torch_geometric.data.Data; got str"),
        (Data(x=torch.eye(3), edge_index=torch.tensor([[0.5], [1.0]])), "integer node numbers; got float32"),
        (
            Data(x=torch.eye(3), edge_index=torch.tensor([[0, 1], [1, 2]]), edge_weight=torch.ones(1)),
            r"got shape \(1,\) for 2 edges",
        ),
    ],
)
def test_invalid_data_is_rejected(data, sentence):
    with pytest.raises(GraphError, match=sentence):
        Graph.from_pyg(data)


def test_all_conversions_add_structural_features_if_there_are_none():
    with pytest.warns(StructuralFeaturesWarning, match="no features"):
        assert Graph.from_networkx(nx.path_graph(4)).num_features == 4
    with pytest.warns(StructuralFeaturesWarning):
        assert Graph.from_scipy(sp.eye_array(3, k=1)).num_features == 3
    with pytest.warns(StructuralFeaturesWarning):
        assert Graph.from_pyg(Data(edge_index=torch.tensor([[0], [1]]), num_nodes=5)).num_features == 5


def test_networkx_attributes_become_features_labels_and_weights():
    made = nx.DiGraph()
    made.add_node("b", age=3, spot=[1.0, 2.0], kind="red")
    made.add_node("a", age=4.5, spot=[3.0, 4.0], kind="blue")
    made.add_edge("b", "a", cost=2.5)
    graph = Graph.from_networkx(made, label="kind", weight="cost")
    assert graph.x.tolist() == [[3, 1, 2], [4.5, 3, 4]]
    assert graph.feature_names == ("age", "spot[0]", "spot[1]")
    assert (graph.y.tolist(), graph.class_names) == ([1, 0], ("blue", "red"))
    assert (graph.edge_weight.tolist(), graph.directed) == ([2.5], True)
    assert graph.node_ids.tolist() == ["b", "a"]
    with pytest.warns(IgnoredInputWarning, match="edge attribute 'cost' is ignored"):
        assert Graph.from_networkx(made, features=["spot"]).x.tolist() == [[1, 2], [3, 4]]


def test_networkx_nodes_of_other_types_get_string_ids():
    with pytest.warns(StructuralFeaturesWarning):
        graph = Graph.from_networkx(nx.grid_2d_graph(2, 2))
    assert graph.node_ids.tolist() == ["(0, 0)", "(0, 1)", "(1, 0)", "(1, 1)"]


def test_missing_networkx_weights_are_1():
    made = nx.Graph()
    made.add_edge(0, 1, weight=3)
    made.add_edge(1, 2)
    with pytest.warns(StructuralFeaturesWarning):
        assert Graph.from_networkx(made).edge_weight.tolist() == [3, 3, 1, 1]


@pytest.mark.parametrize("adjacency", [np.eye(3), sp.eye_array(2, 3)])
def test_an_adjacency_matrix_must_be_sparse_and_square(adjacency):
    with pytest.raises(GraphError, match="must be sparse and square"):
        Graph.from_scipy(adjacency)


def test_adjacency_matrix_and_features_must_agree():
    with pytest.raises(GraphError, match="got 3 by num_nodes and 2 by features"):
        Graph.from_scipy(sp.eye_array(3, k=1), np.eye(2))


def test_karate_club_equals_networkx():
    club = nx.karate_club_graph()
    with pytest.warns(StructuralFeaturesWarning):
        graph = Graph.from_networkx(club, label="club")
    assert (graph.num_nodes, graph.num_edges, graph.class_names) == (34, 78, ("Mr. Hi", "Officer"))
    assert (graph.to_scipy() != nx.to_scipy_sparse_array(club, dtype=np.float32)).nnz == 0


@pytest.mark.parametrize("name", ["y", "label", "class"])
def test_networkx_graphs_have_the_labels_of_graphml_files(tmp_path, name):
    made = nx.Graph([("a", "b")])
    nx.set_node_attributes(made, {"a": "red", "b": "blue"}, name)
    nx.set_node_attributes(made, {"a": 1.0, "b": 2.0}, "size")
    nx.write_graphml(made, tmp_path / "g.graphml")
    for graph in (Graph.from_networkx(made), read_graph(tmp_path / "g.graphml")):
        assert (graph.class_names, graph.feature_names) == (("blue", "red"), ("size",))
