"""Subgraphs around nodes.

Covers graphprox.views.local_structure.adjacency.
"""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphprox.errors import ParameterError
from graphprox.graph.graph import Graph
from graphprox.views.local_structure.subgraphs import sample_subgraph
from graphprox.views.local_structure.walks import random_walks


def make_graph(edges, *, nodes=None, **more):
    edges = np.asarray(edges, np.int64).reshape(2, -1)
    return Graph(x=np.ones((int(edges.max()) + 1 if nodes is None else nodes, 1)), edge_index=edges, **more)


def sample(graph, node, seed=0, **options):
    return sample_subgraph(graph, node, np.random.default_rng(seed), **options)


def as_networkx(graph):
    plain = nx.Graph()
    plain.add_nodes_from(range(graph.num_nodes))
    plain.add_edges_from((int(a), int(b)) for a, b in graph.edge_index.T if a != b)
    return plain


def edges_of(subgraph):
    return {frozenset(edge) for edge in subgraph.nodes[subgraph.edges].T.tolist()}


@st.composite
def graphs(draw):
    nodes = draw(st.integers(2, 12))
    ends = st.integers(0, nodes - 1)
    edges = draw(st.lists(st.tuples(ends, ends), max_size=30))
    return make_graph(np.array(edges, np.int64).reshape(-1, 2).T, nodes=nodes, directed=draw(st.booleans()))


@given(graphs(), st.data())
@settings(max_examples=60)
def test_egonet_equals_that_of_networkx(graph, data):
    node, hops = data.draw(st.integers(0, graph.num_nodes - 1)), data.draw(st.integers(1, 4))
    ours = sample(graph, node, subgraphs="egonet", hops=hops)
    theirs = nx.ego_graph(as_networkx(graph), node, radius=hops)
    assert sorted(ours.nodes) == sorted(theirs.nodes)
    assert ours.nodes[0] == node
    assert edges_of(ours) == {frozenset(edge) for edge in theirs.edges}
    assert ours.edges.shape == (2, theirs.number_of_edges())


@given(graphs(), st.data())
@settings(max_examples=60)
def test_walks_induce_the_subgraph_of_the_visited_nodes(graph, data):
    node = data.draw(st.integers(0, graph.num_nodes - 1))
    options = data.draw(st.sampled_from([{}, {"p": 0.01, "q": 8.0}])) | {"num_walks": 3, "walk_length": 2}
    ours = sample(graph, node, **options)
    visited = random_walks(graph, np.random.default_rng(0), **options)[node]
    theirs = as_networkx(graph).subgraph(visited.ravel().tolist())
    assert sorted(ours.nodes) == sorted(theirs.nodes)
    assert ours.nodes[0] == node
    assert edges_of(ours) == {frozenset(edge) for edge in theirs.edges}
    assert ours.edges.shape == (2, theirs.number_of_edges())


def test_subgraph_of_an_isolated_node_is_the_node():
    graph = make_graph([[0, 1], [1, 1]], nodes=3)
    for kind in ("walks", "egonet"):
        nodes, edges = sample(graph, 2, subgraphs=kind)
        assert nodes.tolist() == [2]
        assert edges.shape == (2, 0)


def test_walks_pass_hubs_without_visiting_all_their_neighbors():
    leaves = 20_000
    graph = make_graph([[0] * leaves + [1], [*range(1, leaves + 1), 2]])
    nodes, edges = sample(graph, 5, num_walks=10, walk_length=4)
    assert len(nodes) <= 41
    assert set(nodes[:2]) == {5, 0}
    assert edges.shape[1] in (len(nodes) - 1, len(nodes))


def test_subgraph_contains_edges_of_weight_zero():
    graph = make_graph([[0, 1, 2], [1, 2, 0]], edge_weight=[1.0, 1.0, 0.0])
    nodes, edges = sample(graph, 0)
    assert sorted(nodes) == [0, 1, 2]
    assert edges.shape == (2, 3)


@pytest.mark.parametrize(
    ("node", "option", "message"),
    [
        (3, {}, "node must be an integer between 0 and 2; got 3"),
        (-1, {}, "node must be an integer between 0 and 2; got -1"),
        (0, {"subgraphs": "ego"}, "subgraphs must be one of 'walks', 'egonet'; got 'ego'"),
        (0, {"hops": 0}, "hops must be an integer between 1 and 1,000,000; got 0"),
        (0, {"num_walks": True}, "num_walks must be an integer between 1 and 1,000,000; got True"),
    ],
)
def test_invalid_options_are_rejected(node, option, message):
    with pytest.raises(ParameterError, match=message):
        sample(make_graph([[0, 1], [1, 2]]), node, **option)
