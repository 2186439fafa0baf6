"""Options, graphs and classes of commands that read an embedding."""

from __future__ import annotations

import warnings
from inspect import signature

import pytest

from graphprox.cli.neighbors import find_neighbors
from graphprox.cli.node_graph import load_node_graph, name_classes
from graphprox.cli.plot import plot_embedding


@pytest.mark.parametrize("option", ["path", "graph", "data", "trust_pickles"])
def test_commands_share_the_options_of_reading(option):
    ours, theirs = (signature(each, eval_str=True).parameters[option] for each in (find_neighbors, plot_embedding))
    assert (ours.annotation, ours.default) == (theirs.annotation, theirs.default)


def test_a_graph_without_features_is_loaded_without_a_warning(tmp_path):
    path = tmp_path / "edges.csv"
    path.write_text("source,target\nann,bob\nbob,eve\n")
    with warnings.catch_warnings(action="error"):
        assert load_node_graph(str(path), header=True).ids.tolist() == ["ann", "bob", "eve"]


@pytest.mark.parametrize(
    ("names", "expected"), [(("red", "blue"), {"a": "blue", "7": "red"}), (None, {"a": "1", "7": "0"})]
)
def test_nodes_of_unknown_class_are_left_out(names, expected):
    assert name_classes(["a", "b", 7], [1, -1, 0], names) == expected
