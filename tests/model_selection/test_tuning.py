"""Selection of settings by validation accuracy."""

from __future__ import annotations

import numpy as np
import pytest

from graphprox import GraphError, random_split, synthetic
from graphprox.evaluation import classify
from graphprox.methods import method
from graphprox.model_selection import make_candidates, selection_splits, tune
from graphprox.model_selection.tuning import parameter_grid


@pytest.fixture(scope="module")
def graph():
    return synthetic(nodes=350)


@pytest.fixture(scope="module")
def splits(graph):
    return [random_split(graph, random_state=seed) for seed in (4, 5)]


def test_grid_has_all_combinations():
    assert parameter_grid({"a": [1, 2], "b": ["x"], "c": [True, False]}) == [
        {"a": a, "b": "x", "c": c} for a in (1, 2) for c in (True, False)
    ]


def test_candidates_combine_the_grid_with_shared_parameters():
    candidates = make_candidates("gcn", {"epochs": [1, 2]}, hidden_channels=4)
    assert [candidate.settings for candidate in candidates] == [{"epochs": 1}, {"epochs": 2}]
    assert [candidate.method.get_params()["epochs"] for candidate in candidates] == [1, 2]
    assert all(candidate.method.get_params()["hidden_channels"] == 4 for candidate in candidates)


def test_selection_splits_differ_from_those_used_for_results(graph):
    first, second = selection_splits(graph, 2)
    assert np.array_equal(first.train, random_split(graph, random_state=1000).train)
    assert np.array_equal(second.train, random_split(graph, random_state=1001).train)
    (larger,) = selection_splits(graph, 1, random_state=3, train=0.5, val=0.2)
    assert (len(larger.train), len(larger.val)) == (175, 70)


def test_an_embedding_is_probed_on_validation_nodes(graph, splits):
    first, second = tune(graph, make_candidates("smoothed", {"hops": [1, 3]}), splits)
    expected = classify(graph, method("smoothed", hops=3).fit_transform(graph), splits=splits).val_accuracy
    assert second.settings == {"hops": 3}
    assert (second.accuracy, second.std) == (expected.mean(), expected.std())
    assert first.accuracy != second.accuracy


def test_a_classifier_is_trained_on_each_split(graph, splits):
    (result,) = tune(graph, make_candidates("gcn", {"epochs": [5]}), splits, random_state=1)
    classifier = method("gcn", epochs=5, random_state=1)
    predicted = [classifier.fit(graph, split).predict(graph) for split in splits]
    expected = [np.mean((each == graph.y)[split.val]) for each, split in zip(predicted, splits, strict=True)]
    assert result.accuracy == pytest.approx(np.mean(expected))


@pytest.mark.parametrize(("name", "grid"), [("smoothed", {"hops": [2]}), ("gcn", {"epochs": [5]})])
def test_labels_of_test_nodes_are_ignored(graph, splits, name, grid):
    labels, test = graph.y.copy(), splits[0].test
    labels[test] = np.random.default_rng(0).permutation(labels[test])
    shuffled = graph.with_labels(labels)
    one, other = (next(tune(each, make_candidates(name, grid), splits[:1])) for each in (graph, shuffled))
    assert one.accuracy == other.accuracy


def test_labels_are_required(graph):
    with pytest.raises(GraphError, match="must have labels"):
        next(tune(graph.without_labels(), make_candidates("smoothed", {"hops": [1]})))
