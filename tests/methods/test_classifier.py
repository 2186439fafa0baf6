"""What all classifiers inherit, on a small one of the test's own."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from sklearn.exceptions import NotFittedError

from graphprox import Graph, GraphError, NodeSplit, ParameterError, synthetic
from graphprox.methods import MethodInfo, NodeClassifier, register_method
from graphprox.methods.classifier import split_labels

INFO = {"group": "floor", "summary": "for tests"}


@pytest.fixture
def majority(registry):
    """A classifier that predicts the most frequent class of the training nodes."""

    @register_method("majority")
    class Majority(NodeClassifier):
        info = MethodInfo(title="Majority", uses="Y", **INFO)

        def _fit(self, task, _seed, _progress):
            self.task_ = task

        def _decision_function(self, graph):
            counts = torch.bincount(self.task_.train.targets, minlength=self.task_.num_classes)
            return counts.float().expand(graph.num_nodes, -1)

    return Majority


def test_labels_in_place_of_a_split_are_split_with_every_class_in_training():
    graph = synthetic(nodes=140)
    labels = np.where(np.arange(140) < 100, graph.y * 10, -1)
    labeled, classes, split = split_labels(graph.without_labels(), labels, random_state=0)
    assert classes.tolist() == sorted({*labels.tolist()} - {-1})
    assert np.array_equal(classes[labeled.y[:100]], labels[:100])
    assert set(labeled.y[100:]) == {-1}
    assert len(split.val) == 10
    assert len(split.test) == 0
    assert sorted([*split.train, *split.val]) == list(range(100))
    assert set(labeled.y[split.train]) == set(range(len(classes)))
    again = split_labels(graph.without_labels(), labels, random_state=0)[2]
    assert np.array_equal(again.val, split.val)
    assert not np.array_equal(split_labels(graph.without_labels(), labels, random_state=1)[2].val, split.val)


def test_rare_class_stays_in_training(graph):
    labeled, _, split = split_labels(graph, ["a", "b", "a", "a"], random_state=0)
    assert set(labeled.y[split.train]) == {0, 1}


@pytest.mark.parametrize(
    ("labels", "error", "message"),
    [
        ([0, 1, 0], ParameterError, "^labels must have one entry per node, -1 where unknown; got 3 for 4 nodes$"),
        ([[0, 1, 0, 1]], ValueError, r"y should be a 1d array, got an array of shape \(1, 4\) instead"),
        ([0.5, 1.5, 2.25, 1.0], ValueError, "Unknown label type: continuous"),
        (
            None,
            ParameterError,
            r"^split must be a NodeSplit, as random_split makes, or an array of labels; got None ",
        ),
        ([0, 0, 0, -1], GraphError, "at least two classes; got 1"),
        ([-1, -1, -1, -1], GraphError, "at least two classes; got 0"),
    ],
)
def test_unusable_labels_are_refused(majority, graph, labels, error, message):
    with pytest.raises(error, match=message):
        majority().fit(graph, labels)


def test_classifier_predicts_the_labels_that_it_was_given(majority, graph):
    made = majority().fit(graph, ["dog", "cat", "cat", "cat"])
    assert made.classes_.tolist() == ["cat", "dog"]
    assert made.predict(graph).tolist() == ["cat"] * 4
    assert made.predict(graph.x[:1]).tolist() == ["cat"]
    assert made.score(graph, ["dog", "cat", "cat", "dog"]) == 0.5
    assert made.score(graph, np.array(["dog", "cat", "cat", "cat"])) == 0.75
    numbers = majority().fit(graph, [7, 5, 5, -1])
    assert numbers.classes_.tolist() == [5, 7]
    assert numbers.score(graph, [-1, 5, 5, -1]) in (0, 1)  # one node of each class is trained on: a tie


def test_score_with_a_split_counts_its_test_nodes(majority):
    graph = Graph(np.eye(6), [[0, 1, 2, 3, 4], [1, 2, 3, 4, 5]])
    labeled = graph.with_labels([0, 1, 1, 0, 1, 0])
    split = NodeSplit(train=[0, 1, 2], val=[3], test=[4, 5])
    made = majority().fit(labeled, split)
    assert made.predict(labeled).tolist() == [1] * 6
    assert made.score(labeled, split) == 0.5
    with pytest.raises(GraphError, match="score needs a graph with labels"):
        made.score(graph, split)


def test_unfitted_classifier_does_not_predict(majority, graph):
    with pytest.raises(NotFittedError):
        majority().predict(graph)


def test_prediction_is_a_class_number_of_the_graph_or_a_label_as_it_was_given(majority):
    graph = Graph(np.eye(6), [[0], [1]], y=[2, 2, 2, 0, 0, 0], class_names=["cat", "bird", "dog"])
    numbers = majority().fit(graph, NodeSplit([0, 1, 3], [2, 4], [5])).predict(graph)
    assert numbers.tolist() == [2] * 6
    assert [graph.class_names[each] for each in numbers] == ["dog"] * 6
    named = majority().fit(graph, ["dog", "dog", "dog", "dog", "cat", "cat"])
    assert named.classes_.tolist() == ["cat", "dog"]
    assert named.predict(graph).tolist() == ["dog"] * 6
