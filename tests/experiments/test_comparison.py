"""Methods side by side."""

from __future__ import annotations

import pytest

from graphprox import ParameterError, TrainingError, load
from graphprox.baselines.floor import SmoothedFeatures
from graphprox.datasets.dataset import Dataset
from graphprox.experiments.comparison import USUAL, Outcome, chosen_methods, compare, draw
from graphprox.methods.registry import METHODS

LABELLED = [name for name in METHODS if "Y" in METHODS[name].about.uses]


def test_each_method_has_a_score_and_a_price():
    outcomes = list(compare(load("synthetic:nodes=140"), ["raw", "smoothed"], splits=2))
    assert [each.method for each in outcomes] == ["raw", "smoothed"]
    for each in outcomes:
        assert 0 < each.accuracy < 1
        assert 0 < each.macro_f1 < 1
        assert each.seconds >= 0
        assert each.peak_memory is None or each.peak_memory > 10**7


def test_without_labels_there_is_a_price_alone():
    dataset = load("synthetic:nodes=140")
    bare = Dataset("bare", dataset.graph.without_labels())
    (outcome,) = compare(bare, ["smoothed"])
    assert (outcome.accuracy, outcome.deviation, outcome.macro_f1) == (None, None, None)
    assert outcome.seconds is not None


def test_one_that_fails_does_not_stop_the_others(monkeypatch):
    def fail(*_, **__):
        raise TrainingError("it went wrong")

    monkeypatch.setattr(SmoothedFeatures, "embed", fail)
    outcomes = list(compare(load("synthetic:nodes=140"), ["smoothed", "raw"], splits=1))
    assert [(each.failure, each.accuracy is None) for each in outcomes] == [("it went wrong", True), ("", False)]


def test_all_is_all_that_the_graph_has_labels_for():
    assert chosen_methods(["all"], labelled=True) == list(METHODS)
    assert chosen_methods(["all"], labelled=False) == [name for name in METHODS if name not in LABELLED]
    assert chosen_methods(USUAL, labelled=False) == list(USUAL)
    with pytest.raises(ParameterError, match="GCN learns from labels; the graph has none"):
        chosen_methods(["gcn"], labelled=False)


def test_the_picture_shows_the_best_at_the_top(tmp_path):
    outcomes = [
        Outcome("a", "A", 0.5, 0.1, 0.4, 1.0),
        Outcome("b", "B", 0.7, 0.1, 0.6, 3.0),
        Outcome("c", "C", failure="no"),
    ]
    png, svg = draw(tmp_path, outcomes, "a graph")
    assert png.stat().st_size > 1000
    text = svg.read_text()
    assert text.index("<!-- A -->") < text.index("<!-- B -->")  # the axis goes upwards
    assert "<!-- C -->" not in text
    with pytest.raises(ParameterError, match="none did"):
        draw(tmp_path, outcomes[2:], "a graph")
