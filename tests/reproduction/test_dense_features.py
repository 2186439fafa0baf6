"""Dense features that are made of words, and their section of the page."""

from __future__ import annotations

import json

import numpy as np
import pytest

from auto.topic_graphs import topic_graph
from graphprox import DiffusedFeatures, RawFeatures
from graphprox.auto.preparation import is_dense
from reproduction import dense_features
from reproduction.dense_features import KINDS, DenseObservation, make_dense, make_section, observe_dense
from reproduction.left_out import PACKAGE, val_accuracy


@pytest.mark.parametrize("kind", KINDS)
def test_dense_features_still_say_what_a_node_is_about(kind):
    graph = topic_graph(nodes=200)
    dense = make_dense(graph, kind)
    assert is_dense(dense.x)
    assert not is_dense(graph.x)
    assert np.array_equal(dense.edge_index, graph.edge_index)
    assert np.array_equal(make_dense(graph, kind).x, dense.x)
    assert val_accuracy(dense, DiffusedFeatures().fit_transform(dense)) > 0.8
    assert val_accuracy(dense, RawFeatures().fit_transform(dense)) > 0.5


def test_observations_are_kept_and_not_measured_again(tmp_path, monkeypatch):
    monkeypatch.setattr(dense_features, "load_catalog", lambda _: [("topics", topic_graph(nodes=150))])
    first = list(observe_dense(tmp_path / "dense.jsonl", None))
    assert [(each.dataset, each.kind) for each in first] == [("topics", kind) for kind in KINDS]
    assert len((tmp_path / "dense.jsonl").read_text().splitlines()) == len(KINDS)
    monkeypatch.setattr(dense_features, "make_dense", pytest.fail)
    assert list(observe_dense(tmp_path / "dense.jsonl", None)) == first
    kept = json.loads((tmp_path / "dense.jsonl").read_text().splitlines()[0])
    assert kept["accuracy"][PACKAGE] == first[0].accuracy[PACKAGE]


def test_section_compares_with_the_best_floor():
    figures = {"raw": 0.5, "smoothed": 0.4, "diffused": 0.6, PACKAGE: 0.55}
    text = make_section(
        [
            DenseObservation("a", "projections", 1.25, "graph", figures, ""),
            DenseObservation("b", "components", None, "both", {**figures, PACKAGE: 0.7}, ""),
        ]
    )
    assert "| a | projections | 1.25 | graph | 55.0 | 60.0 | -5.0 |" in text
    assert "| b | components | thin evidence | both | 70.0 | 60.0 | +10.0 |" in text
    assert "+2.5 points from the floor on average, and at worst -5.0 (a, projections)" in text
    assert make_section([]) == ""
