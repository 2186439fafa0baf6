"""Graphs without features: what is measured on them, and their section of the page."""

from __future__ import annotations

import numpy as np
import pytest

from auto.topic_graphs import block_model
from graphprox import Graph
from reproduction import featureless
from reproduction.featureless import FeaturelessObservation, make_section, observe_featureless, observe_graph

pytestmark = pytest.mark.filterwarnings("ignore::graphprox.errors.StructuralFeaturesWarning")


@pytest.mark.parametrize("labeled", [True, False])
def test_classes_are_predicted_and_edges_ranked_where_there_are_none(labeled):
    edges, blocks = block_model(blocks=4)
    found = observe_graph("blocks", Graph(None, edges, num_nodes=len(blocks), y=blocks if labeled else None))
    assert found.measure == ("accuracy" if labeled else "AUC")
    assert set(found.figures) == {"auto", "raw", "smoothed", "diffused", "deepwalk"}
    assert found.figures["auto"] > 0.8


def test_graphs_with_features_are_passed_over_and_others_measured_once(tmp_path, monkeypatch):
    edges, blocks = block_model(blocks=3, size=20)
    graphs = {
        "plain": Graph(None, edges, num_nodes=60, y=blocks),
        "words": Graph(np.random.default_rng(0).random((60, 5)), edges, y=blocks),
    }
    monkeypatch.setattr(featureless, "CATALOG", tuple(graphs))
    monkeypatch.setattr(featureless, "load", lambda name, **_: type("Dataset", (), {"graph": graphs[name]}))
    first = list(observe_featureless(tmp_path / "observed.jsonl", None))
    assert [each.dataset for each in first] == ["plain"]
    monkeypatch.setattr(featureless, "observe_graph", pytest.fail)
    assert list(observe_featureless(tmp_path / "observed.jsonl", None)) == first


def test_section_has_a_row_for_each_graph():
    figures = {"auto": 0.5, "raw": 0.25, "smoothed": 0.3, "diffused": 0.4}
    text = make_section([FeaturelessObservation("a", "AUC", figures, "")])
    assert "| a | AUC | 50.0 | 25.0 | 30.0 | 40.0 | – |" in text
    assert make_section([]) == ""
