"""Comparison of methods."""

from __future__ import annotations

import pytest

from graphprox import ParameterError, TrainingError, load
from graphprox._utils.defaults import DEFAULT_METHOD
from graphprox.evaluation import classify
from graphprox.methods import METHODS, method
from graphprox.model_selection import MethodResult, compare
from graphprox.model_selection.comparison import DEFAULT_METHODS, plot_comparison, select_methods


@pytest.fixture(scope="module")
def dataset():
    return load("synthetic:nodes=140")


def test_each_method_has_scores_time_and_memory(dataset):
    results = list(compare(dataset, ["raw", "smoothed"], n_splits=2))
    assert [each.method for each in results] == ["raw", "smoothed"]
    for each in results:
        scores = classify(dataset, method(each.method).fit_transform(dataset), n_splits=2)
        assert (each.accuracy, each.std, each.macro_f1) == (scores.mean, scores.std, scores.macro_f1.mean())
        assert each.seconds >= 0
        assert each.peak_memory is None or each.peak_memory > 10**7


def test_graphs_without_labels_have_time_and_memory_only(dataset):
    (result,) = compare(dataset.graph.without_labels(), ["smoothed"])
    assert (result.accuracy, result.std, result.macro_f1) == (None, None, None)
    assert result.seconds is not None


def test_a_method_that_fails_does_not_stop_the_others(dataset, monkeypatch):
    def fail(*_):
        raise TrainingError("training diverged")

    monkeypatch.setattr(METHODS["smoothed"], "_fit", fail)
    results = list(compare(dataset, ["smoothed", "raw"], n_splits=1))
    assert [(each.failure, each.accuracy is None) for each in results] == [("training diverged", True), ("", False)]


def test_all_selects_every_method_that_the_graph_has_labels_for():
    supervised = [name for name in METHODS if "Y" in METHODS[name].info.uses]
    assert select_methods(["all"]) == list(METHODS)
    assert select_methods(["all"], labeled=False) == [name for name in METHODS if name not in supervised]
    assert select_methods(DEFAULT_METHODS, labeled=False) == list(DEFAULT_METHODS)


def test_usual_methods_include_the_default_and_what_needs_no_training():
    assert {"raw", "smoothed", "diffused", DEFAULT_METHOD} <= set(DEFAULT_METHODS)


def test_supervised_methods_need_labels():
    with pytest.raises(ParameterError, match="GCN needs labels; the graph has none"):
        select_methods(["gcn"], labeled=False)


def test_the_plot_shows_the_best_method_at_the_top(tmp_path):
    results = [
        MethodResult("a", "A", 0.5, 0.1, 0.4, 1.0),
        MethodResult("b", "B", 0.7, 0.1, 0.6, 3.0),
        MethodResult("c", "C", failure="no"),
    ]
    png, svg = plot_comparison(tmp_path, results, "a graph")
    assert png.stat().st_size > 1000
    text = svg.read_text()
    assert text.index("<!-- A -->") < text.index("<!-- B -->")  # ticks are written from the bottom up
    assert "<!-- C -->" not in text
    with pytest.raises(ParameterError, match="all failed"):
        plot_comparison(tmp_path, results[2:], "a graph")
