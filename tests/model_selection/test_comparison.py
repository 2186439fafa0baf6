"""Comparison of methods."""

from __future__ import annotations

import numpy as np
import pytest

from graphprox import Graph, ParameterError, TrainingError, edge_split, load, synthetic
from graphprox._utils.defaults import DEFAULT_METHOD
from graphprox.evaluation import classify, link_prediction, neighborhood_agreement
from graphprox.methods import METHODS, method
from graphprox.model_selection import MethodResult, compare, comparison, summarize_comparison
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


def test_splits_start_at_the_first_split(dataset):
    (result,) = compare(dataset, ["raw"], n_splits=2, first_split=7)
    scores = classify(dataset, dataset.graph.x, n_splits=2, random_state=7)
    assert result.samples == tuple(scores.accuracy)
    assert result.to_dict()["accuracies"] == scores.accuracy.tolist()


def test_two_classes_have_a_roc_auc_for_embedders_and_classifiers(dataset):
    graph = dataset.graph.with_labels(dataset.graph.y % 2)
    results = list(compare(graph, ["raw", "gcn"], n_splits=1))
    assert all(0 < each.roc_auc <= 1 for each in results)
    assert results[0].roc_auc == classify(graph, graph.x, n_splits=1).roc_auc.mean()
    assert next(compare(dataset, ["raw"], n_splits=1)).roc_auc is None


def test_graphs_without_labels_are_compared_by_held_out_edges(dataset):
    graph = dataset.graph.without_labels()
    raw, smoothed = compare(graph, ["raw", "smoothed"], first_split=3)
    assert (raw.accuracy, raw.std, raw.macro_f1) == (None, None, None)
    split = edge_split(graph, random_state=3)
    for result, name in ((raw, "raw"), (smoothed, "smoothed")):
        vectors = method(name).fit_transform(split.graph)
        scores = link_prediction(split, vectors)
        expected = scores.cosine_auc if scores.val_cosine_auc > scores.val_auc else scores.auc
        assert result.link_auc == expected
        assert np.mean(result.samples) == pytest.approx(expected)
        assert result.neighborhood == neighborhood_agreement(split.graph, vectors)
        assert result.seconds > 0
    assert smoothed.link_auc > raw.link_auc
    assert "samples" not in raw.to_dict()


def test_links_are_compared_beside_accuracy_if_asked_for(dataset):
    alone, beside = (next(compare(dataset, ["smoothed"], n_splits=2, links=links)) for links in (None, True))
    assert alone.link_auc is None
    assert beside.link_auc > 0.5
    assert (beside.accuracy, beside.samples) == (alone.accuracy, alone.samples)
    (classifier,) = compare(dataset, ["gcn"], n_splits=1, links=True)
    assert (classifier.accuracy > 0, classifier.link_auc, classifier.failure) == (True, None, "")


def test_held_out_edges_are_not_seen_in_training(dataset, monkeypatch):
    seen = []
    fit_transform = METHODS["smoothed"].fit_transform
    monkeypatch.setattr(
        METHODS["smoothed"], "fit_transform", lambda self, graph: seen.append(graph) or fit_transform(self, graph)
    )
    graph = dataset.graph.without_labels()
    list(compare(graph, ["smoothed"]))
    assert [each.num_edges for each in seen] == [edge_split(graph).graph.num_edges]


def test_a_graph_of_few_edges_has_time_and_memory_only():
    graph = Graph(np.eye(4), [[0, 1, 2], [1, 2, 3]])
    results = list(compare(graph, ["raw", "smoothed"]))
    assert [(each.link_auc, each.failure) for each in results] == [(None, "")] * 2
    (sentence,) = summarize_comparison(results, graph)
    assert sentence.startswith("Only time and memory were compared")
    with pytest.raises(ParameterError, match="adjacent pairs"):
        list(compare(graph, ["raw"], links=True))


def test_a_comparison_is_summarized_in_words(dataset):
    graph = dataset.graph
    accurate = summarize_comparison(list(compare(graph, ["raw", "smoothed"], n_splits=5)), graph)
    assert accurate[0].startswith("Take Smoothed features: its accuracy of")
    plain = graph.without_labels()
    linked = summarize_comparison(list(compare(plain, ["raw", "smoothed"])), plain)
    assert linked[0].startswith("Take Smoothed features: its link AUC of")
    assert "held-out edges" in linked[0]


def test_edges_between_unlike_nodes_hurt():
    graph = synthetic(nodes=280)
    rng = np.random.default_rng(0)
    mixed = Graph(np.eye(7)[graph.y] + 0.3 * rng.normal(size=(280, 7)), rng.integers(280, size=(2, 4000)), y=graph.y)
    *_, judgment, _ = summarize_comparison(list(compare(mixed, ["raw", "smoothed"], n_splits=5)), mixed)
    assert judgment.startswith("Edges hurt here: raw features alone have")


def test_a_method_that_fails_does_not_stop_the_others(dataset, monkeypatch):
    def fail(*_):
        raise TrainingError("training diverged")

    monkeypatch.setattr(METHODS["smoothed"], "_fit", fail)
    results = list(compare(dataset, ["smoothed", "raw"], n_splits=1))
    assert [(each.failure, each.accuracy is None) for each in results] == [("training diverged", True), ("", False)]


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("DefaultCPUAllocator: can't allocate memory")])
def test_memory_that_runs_out_for_one_method_does_not_stop_the_others(dataset, monkeypatch, error):
    def fail(*_):
        raise error

    monkeypatch.setattr(METHODS["smoothed"], "_fit", fail)
    failed, done = compare(dataset, ["smoothed", "raw"], n_splits=1)
    assert failed.failure.startswith("memory ran out")
    assert done.accuracy > 0


def test_other_errors_are_not_taken_for_failures_of_a_method(dataset, monkeypatch):
    def fail(*_):
        raise RuntimeError("a bug")

    monkeypatch.setattr(METHODS["smoothed"], "_fit", fail)
    with pytest.raises(RuntimeError, match="a bug"):
        list(compare(dataset, ["smoothed"], n_splits=1))


def test_the_test_is_corrected_by_the_sizes_of_the_splits(dataset):
    (labeled,) = compare(dataset, ["raw"], n_splits=2)
    assert labeled.test_ratio == pytest.approx(8, rel=0.1)
    assert "test_ratio" not in labeled.to_dict()
    (linked,) = compare(dataset.graph.without_labels(), ["raw"])
    assert linked.test_ratio == 0


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


@pytest.mark.parametrize("score", ["accuracy", "link_auc"])
def test_the_plot_says_that_seconds_are_logarithmic_and_scores_start_at_zero(tmp_path, monkeypatch, score):
    figures = []
    monkeypatch.setattr(comparison, "save_figure", lambda figure, *_: figures.append(figure) or [])
    results = [MethodResult("a", "A", **{score: 0.5}, seconds=0.1), MethodResult("b", "B", **{score: 0.7}, seconds=30)]
    plot_comparison(tmp_path, results, "a graph")
    scores, seconds = figures[0].axes
    assert scores.get_xlim()[0] == 0
    assert seconds.get_xscale() == "log"
    assert "logarithmic" in seconds.get_xlabel()
    assert ("accuracy" if score == "accuracy" else "held-out edges") in scores.get_xlabel()
