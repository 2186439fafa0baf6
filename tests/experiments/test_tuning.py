"""Accuracy on validation nodes with each of several settings."""

from __future__ import annotations

import numpy as np
import pytest

from graphprox import GraphError, random_split, synthetic
from graphprox.evaluation.probe import probe
from graphprox.experiments.tuning import combinations, tune
from graphprox.methods.registry import method_for


@pytest.fixture(scope="module")
def graph():
    return synthetic(nodes=350)


def makers_of(method, **values):
    return [(each, method_for(method, overrides=each)) for each in combinations(values)]


def test_all_combinations_are_tried():
    assert combinations({"a": [1, 2], "b": ["x"], "c": [True, False]}) == [
        {"a": a, "b": "x", "c": c} for a in (1, 2) for c in (True, False)
    ]


def test_an_embedding_is_probed_on_validation_nodes(graph):
    splits = [random_split(graph, seed=seed) for seed in (4, 5)]
    (first, second) = tune(graph, makers_of("smoothed", steps=[1, 3]), splits, seed=2)
    embedding = method_for("smoothed", overrides={"steps": 3}).embed(graph, 2)
    expected = [probe(embedding, graph.y, split).validation_accuracy for split in splits]
    assert second.settings == {"steps": 3}
    assert (second.accuracy, second.deviation) == pytest.approx((np.mean(expected), np.std(expected)))
    assert first.accuracy != second.accuracy


def test_a_classifier_learns_on_each_split(graph):
    splits = [random_split(graph, seed=seed) for seed in (4, 5)]
    (trial,) = tune(graph, makers_of("gcn", epochs=[5]), splits, seed=1)
    told = [method_for("gcn", overrides={"epochs": 5}).predict(graph, split, 1) for split in splits]
    expected = [np.mean((each == graph.y)[s.validation]) for each, s in zip(told, splits, strict=True)]
    assert trial.accuracy == pytest.approx(np.mean(expected))


@pytest.mark.parametrize("method", ["smoothed", "gcn"])
def test_labels_of_test_nodes_decide_nothing(graph, method):
    split = random_split(graph, seed=0)
    labels = graph.y.copy()
    labels[split.test] = np.random.default_rng(0).permutation(labels[split.test])
    settings = {"steps": [2]} if method == "smoothed" else {"epochs": [5]}
    one, other = (
        next(tune(each, makers_of(method, **settings), [split])) for each in (graph, graph.with_labels(labels))
    )
    assert one.accuracy == other.accuracy


def test_labels_are_needed(graph):
    with pytest.raises(GraphError, match="must have labels"):
        next(tune(graph.without_labels(), makers_of("smoothed", steps=[1]), [random_split(graph, seed=0)]))
