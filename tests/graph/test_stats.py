from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.utils import homophily

from graphprox import Dataset, Graph, IgnoredInputWarning, edge_homophily, statistics


@st.composite
def networks(draw):
    n = draw(st.integers(2, 9))
    node = st.integers(0, n - 1)
    made = draw(st.sampled_from([nx.Graph, nx.DiGraph]))()
    made.add_nodes_from((i, {"x": [1.0], "y": draw(st.integers(0, 2))}) for i in range(n))
    made.add_edges_from(draw(st.lists(st.tuples(node, node), max_size=20)))
    return made


@given(networks())
def test_counts_equal_those_of_networkx(made):
    found = statistics(Graph.from_networkx(made))
    both_ways = made.to_undirected()
    assert (found.nodes, found.edges) == (made.number_of_nodes(), made.number_of_edges())
    assert found.pairs == both_ways.number_of_edges()
    assert found.self_loops == nx.number_of_selfloops(made)
    components = list(nx.connected_components(both_ways))
    assert (found.components, found.largest_component) == (len(components), max(map(len, components)))
    both_ways.remove_edges_from(list(nx.selfloop_edges(both_ways)))
    degrees = [degree for _, degree in both_ways.degree]
    assert found.isolated == nx.number_of_isolates(both_ways)
    assert (found.degree["max"], found.degree["median"]) == (max(degrees), np.median(degrees))
    assert sum(found.degree_histogram) == made.number_of_nodes()


@given(networks())
@settings(max_examples=50)
def test_homophily_equals_that_of_pyg(made):
    graph = Graph.from_networkx(made)
    if graph.num_edges == 0:
        assert edge_homophily(graph) is None
        return
    index, y = torch.tensor(np.array(graph.edges_once())), torch.tensor(np.array(graph.y))
    assert edge_homophily(graph) == pytest.approx(homophily(index, y, method="edge"))


def test_homophily_counts_undirected_edges_once_and_includes_self_loops():
    # Edges 0-1 (same class), 1-2 (other), 2-2 (same): two of three, not four of five.
    graph = Graph(np.ones((3, 1)), [[0, 1, 2], [1, 2, 2]], y=[0, 0, 1])
    assert edge_homophily(graph) == pytest.approx(2 / 3)


def test_homophily_ignores_unknown_labels():
    graph = Graph(np.ones((3, 1)), [[0, 1], [1, 2]], y=[0, 0, -1])
    assert edge_homophily(graph) == 1
    assert edge_homophily(graph.with_labels([0, -1, 0])) is None
    assert edge_homophily(graph.without_labels()) is None


def test_ignored_weights_cause_a_warning():
    graph = Graph(np.ones((2, 1)), [[0], [1]], edge_weight=[2])
    with pytest.warns(IgnoredInputWarning, match="edge weights are ignored"):
        assert statistics(graph).weighted


def test_classes_are_counted_by_name():
    graph = Graph(np.eye(3), [[0], [1]], y=[1, 0, -1], class_names=["cat", "dog"])
    found = statistics(graph)
    assert (found.class_sizes, found.unlabeled, found.classes) == ({"cat": 1, "dog": 1}, 1, 2)
    assert found.feature_density == pytest.approx(1 / 3)


def test_statistics_of_a_data_set_are_those_of_its_graph():
    graph = Graph(x=[[1], [1], [1]], edge_index=[[0, 1], [1, 2]], y=[0, 0, 1])
    assert statistics(Dataset("a graph", graph)) == statistics(graph)
    assert edge_homophily(Dataset("a graph", graph)) == 0.5
