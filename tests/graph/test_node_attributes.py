"""Attributes of networkx nodes are features of any kind, and what is dropped is named in a warning."""

from __future__ import annotations

import datetime
import warnings

import networkx as nx
import numpy as np
import pytest

from graphprox import Graph, GraphError, IgnoredInputWarning, read_graph


def make(*nodes, edges=((0, 1), (1, 2)), kind=nx.Graph):
    graph = kind()
    graph.add_nodes_from(enumerate(nodes))
    graph.add_edges_from(edges)
    return graph


def test_strings_are_categories_and_missing_attributes_are_missing_values():
    made = make({"city": "Rome", "age": 30}, {"city": "Oslo"}, {"age": np.int64(50), "city": "Rome"})
    with warnings.catch_warnings(action="error"):
        graph = Graph.from_networkx(made)
    assert graph.feature_names == ("age", "age is missing", "city=Oslo", "city=Rome")
    assert graph.x.tolist() == [[30, 0, 0, 1], [40, 1, 1, 0], [50, 0, 0, 1]]


def test_numbers_of_any_type_are_taken_as_they_are():
    made = make(
        {"a": True, "b": 1.5, "c": np.float32(2)}, {"a": False, "b": 2, "c": 1}, {"a": 1, "b": 0, "c": np.array(3)}
    )
    assert Graph.from_networkx(made).x.tolist() == [[1, 1.5, 2], [0, 2, 1], [1, 0, 3]]


def test_numbers_among_words_are_categories():
    graph = Graph.from_networkx(make({"code": "x"}, {"code": 7}, {"code": "x"}))
    assert graph.feature_names == ("code=7", "code=x")


def test_nan_is_a_missing_value():
    assert Graph.from_networkx(make({"a": 1.0}, {"a": float("nan")}, {"a": 3.0})).x.tolist() == [[1, 0], [2, 1], [3, 0]]


def test_dates_are_features():
    day = datetime.date(2024, 1, 1)
    graph = Graph.from_networkx(make({"d": day}, {"d": datetime.datetime(2024, 1, 3)}, {"d": day}))
    assert graph.x[0, 0] == graph.x[2, 0] < graph.x[1, 0]


def test_a_missing_vector_is_the_mean_and_has_a_mark():
    graph = Graph.from_networkx(make({"x": [1.0, 2.0]}, {}, {"x": np.array([3.0, 6.0])}))
    assert graph.feature_names == ("x[0]", "x[1]", "x is missing")
    assert graph.x.tolist() == [[1, 2, 0], [2, 4, 1], [3, 6, 0]]


def test_what_cannot_be_used_is_named():
    made = make({"a": 1, "bag": {"x"}, "data": {"k": 1}}, {"a": 2, "bag": {"y"}}, {"a": 3, "names": ["p", "q"]})
    made.add_edge(0, 1, since=1999, kind="friend", weight=2)
    with pytest.warns(IgnoredInputWarning) as caught:
        graph = Graph.from_networkx(made)
    messages = [str(each.message) for each in caught]
    assert any("node attributes 'bag', 'data', 'names' are ignored" in each for each in messages)
    assert any("edge attributes 'kind', 'since' are ignored, as an edge has one weight" in each for each in messages)
    assert (graph.x.tolist(), graph.edge_weight.tolist()) == ([[1], [2], [3]], [2, 2, 1, 1])


@pytest.mark.parametrize(("kind", "count"), [(nx.MultiGraph, 2), (nx.MultiDiGraph, 1)])
def test_parallel_edges_are_counted(kind, count):
    made = make({"a": 1}, {"a": 2}, {"a": 3}, edges=[(0, 1), (1, 0), (0, 1), (1, 2)], kind=kind)
    with pytest.warns(IgnoredInputWarning, match=f"{count} parallel edges are merged"):
        Graph.from_networkx(made)


@pytest.mark.parametrize(
    ("features", "words"),
    [
        (["agee"], "features must name attributes of nodes; got 'agee': did you mean 'age'"),
        (["bag"], "attribute 'bag' has other values, such as {'x'}"),
        (["v"], "vectors of different lengths"),
    ],
)
def test_named_attributes_must_be_usable(features, words):
    made = make({"age": 1, "bag": {"x"}, "v": [1]}, {"age": 2, "bag": {"y"}, "v": [1, 2]}, {"age": 3})
    with pytest.raises(GraphError, match=words):
        Graph.from_networkx(made, features=features)


def test_named_attributes_of_a_graph_without_any_are_rejected():
    with pytest.raises(GraphError, match="got 'x': there are none"):
        Graph.from_networkx(nx.path_graph(3), features=["x"])


def test_graphml_has_categories_too(tmp_path):
    made = make({"city": "Rome", "y": "red"}, {"city": "Oslo"}, {"city": "Rome", "y": "blue"})
    nx.write_graphml(made, tmp_path / "g.graphml")
    graph = read_graph(tmp_path / "g.graphml")
    assert graph.feature_names == ("city=Oslo", "city=Rome")
    assert (graph.y.tolist(), graph.class_names) == ([1, -1, 0], ("blue", "red"))


def test_booleans_are_those_of_a_table():
    graph = Graph.from_networkx(make({"age": 30, "member": True}, {"age": 40, "member": False}, {"age": 51}))
    assert [each.type for each in graph.table.encoder.columns] == ["number", "boolean"]
    assert graph.x.tolist() == [[30, 1, 0], [40, 0, 0], [51, 0.5, 1]]


def test_times_of_a_zone_are_converted_to_utc():
    zone = datetime.timezone(datetime.timedelta(hours=-10))
    first, second = datetime.datetime(2024, 1, 31, 20, tzinfo=zone), datetime.datetime(2024, 2, 1, 6)
    graph = Graph.from_networkx(make({"t": first}, {"t": second}, {"t": datetime.datetime(2024, 3, 1)}))
    assert graph.x[0].tolist() == graph.x[1].tolist()
