"""What all methods inherit, on small methods of a test's own."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from sklearn.exceptions import NotFittedError

from graphprox import Dataset, Graph, GraphError, NodeSplit, NotInductiveError, ParameterError, synthetic
from graphprox.methods.base import (
    METHODS,
    GraphEmbedder,
    InductiveEmbedder,
    MethodInfo,
    NodeClassifier,
    _split_labels,
    parameter,
    register_method,
)

INFO = {"group": "floor", "summary": "for tests"}


@pytest.fixture
def registry(monkeypatch):
    """The registry of methods, whose changes are undone."""
    assert len(METHODS)
    monkeypatch.setattr(METHODS, "_entries", dict(METHODS._entries))
    monkeypatch.setattr(METHODS, "_origins", dict(METHODS._origins))
    return METHODS


@pytest.fixture
def scaled(registry):
    """An inductive method that multiplies features."""

    @register_method("scaled")
    class Scaled(InductiveEmbedder):
        info = MethodInfo(title="Scaled", uses="X", **INFO)
        presets = {"Texas": {"factor": 3.0, "times": 2}}  # noqa: RUF012

        factor: float = parameter(2.0, min=0.5, max=10)
        times: int = parameter(1, min=1)
        sign: str = parameter("plus", choices=("plus", "minus"))
        is_wide: bool = parameter(False)
        extra: int | None = parameter(None, min=0, kind=int)
        label: str = parameter("", is_setting=False)

        def _fit(self, graph, _seed, _progress):
            self.factor_ = (1 if self.sign == "plus" else -1) * self.factor**self.times
            return self._transform(graph)

        def _transform(self, graph):
            return (self.factor_ * graph.x).astype(np.float32)

    return Scaled


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


@pytest.fixture
def graph():
    return Graph(np.arange(8, dtype=float).reshape(4, 2), [[0, 1, 2], [1, 2, 3]])


# -- declaring a method ---------------------------------------------------------------------------------------------


def test_declared_parameters_are_keywords_of_the_constructor(scaled):
    made = scaled(factor=4, label="x")
    assert (made.factor, made.times, made.label) == (4, 1, "x")
    assert made.get_params()["label"] == "x"
    assert repr(made) == "Scaled(factor=4, label='x')"
    with pytest.raises(TypeError):
        scaled(4)
    with pytest.raises(TypeError):
        scaled(unknown=4)


def test_registered_method_has_its_name(scaled, registry):
    assert scaled.name == "scaled"
    assert registry.lookup("Scaled") is scaled


def test_name_of_a_method_must_be_unique(registry):
    with pytest.raises(ParameterError, match=r"names of registered methods must be unique; 'dgi' is taken by"):

        @register_method("dgi")
        class Another(GraphEmbedder):
            info = MethodInfo(title="Another", uses="A", **INFO)


def test_settings_are_the_parameters_that_the_result_depends_on(scaled):
    assert scaled(factor=3).settings() == {
        "factor": 3,
        "times": 1,
        "sign": "plus",
        "is_wide": False,
        "extra": None,
    }


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"factor": 0.1}, "factor must be a finite number between 0.5 and 10; got 0.1"),
        ({"factor": 11}, "factor must be a finite number between 0.5 and 10; got 11"),
        ({"factor": "2"}, "factor must be a finite number between 0.5 and 10; got '2'"),
        ({"factor": float("nan")}, "factor must be a finite number between 0.5 and 10; got nan"),
        ({"factor": True}, "factor must be a finite number between 0.5 and 10; got True"),
        ({"times": 0}, "times must be a positive integer; got 0"),
        ({"times": 1.0}, "times must be a positive integer; got 1.0"),
        ({"times": True}, "times must be a positive integer; got True"),
        ({"times": None}, "times must be a positive integer; got None"),
        ({"sign": "times"}, "sign must be one of plus, minus; got 'times'"),
        ({"sign": ["plus"]}, "sign must be one of plus, minus; got ['plus']"),
        ({"is_wide": 1}, "is_wide must be true or false; got 1"),
        ({"extra": -1}, "extra must be a non-negative integer; got -1"),
        ({"extra": "x"}, "extra must be a non-negative integer; got 'x'"),
        ({"verbose": "yes"}, "verbose must be true or false; got 'yes'"),
        ({"random_state": -1}, "random_state must be a non-negative integer below 2^63"),
        ({"preset": "Texsa"}, "Scaled has no preset 'Texsa'; did you mean 'Texas'?"),
    ],
)
def test_wrong_value_is_refused_by_fit_and_not_by_the_constructor(scaled, graph, parameters, message):
    made = scaled(**parameters)
    with pytest.raises(ParameterError) as refused:
        made.fit(graph)
    assert str(refused.value).startswith(message)


def test_integers_are_accepted_for_floats_and_numpy_scalars_for_both(scaled, graph):
    for factor, times in ((2, 1), (np.float32(2), np.int64(1)), (np.int64(2), np.uint8(1))):
        assert np.array_equal(scaled(factor=factor, times=times).fit_transform(graph), 2 * graph.x)


# -- presets --------------------------------------------------------------------------------------------------------


def test_preset_replaces_defaults_only(scaled):
    assert scaled.preset_names() == ("default", "Texas")
    changed = scaled(preset="Texas", factor=5)._with_preset(None)
    assert (changed.factor, changed.times, changed.preset) == (5, 2, "default")
    explicit = scaled.from_preset("Texas", factor=2.0)
    assert (explicit.factor, explicit.times) == (2.0, 2)


def test_fit_with_a_preset_keeps_the_parameters_as_they_are_given(scaled, graph):
    made = scaled().fit(Dataset("Texas", graph))
    assert np.array_equal(made.vectors_, 9 * graph.x)
    assert (made.factor, made.times) == (2.0, 1)
    assert made.settings_ == scaled.from_preset("Texas").settings()
    assert np.array_equal(made.transform(graph), 9 * graph.x)
    assert np.array_equal(made.fit_transform(Dataset("Ohio", graph)), 2 * graph.x)
    assert np.array_equal(scaled(preset="default").fit_transform(Dataset("Texas", graph)), 2 * graph.x)


# -- embedders ------------------------------------------------------------------------------------------------------


def test_single_row_of_features_can_be_transformed(scaled, graph):
    made = scaled().fit(graph)
    assert made.transform(graph.x[:1]).shape == (1, 2)


def test_method_without_transform_says_what_to_do(registry, graph):
    @register_method("transductive")
    class Transductive(GraphEmbedder):
        info = MethodInfo(title="Transductive", uses="A", **INFO)

        def _fit(self, graph, _seed, _progress):
            return np.zeros((graph.num_nodes, 1), np.float32)

    made = Transductive().fit(graph)
    assert not hasattr(made, "transform")
    with pytest.raises(NotInductiveError, match=r"^Transductive learns a vector for each node of the graph it is fit"):
        made.transform(graph)
    with pytest.raises(AttributeError, match="'Transductive' object has no attribute 'transfrom'"):
        made.transfrom(graph)


# -- classifiers ----------------------------------------------------------------------------------------------------


def test_labels_in_place_of_a_split_are_split_with_every_class_in_training():
    graph = synthetic(nodes=140)
    labels = np.where(np.arange(140) < 100, graph.y * 10, -1)
    labeled, classes, split = _split_labels(graph.without_labels(), labels, seed=0)
    assert classes.tolist() == sorted({*labels.tolist()} - {-1})
    assert np.array_equal(classes[labeled.y[:100]], labels[:100])
    assert set(labeled.y[100:]) == {-1}
    assert len(split.val) == 10
    assert len(split.test) == 0
    assert sorted([*split.train, *split.val]) == list(range(100))
    assert set(labeled.y[split.train]) == set(range(len(classes)))
    again = _split_labels(graph.without_labels(), labels, seed=0)[2]
    assert np.array_equal(again.val, split.val)
    assert not np.array_equal(_split_labels(graph.without_labels(), labels, seed=1)[2].val, split.val)


def test_rare_class_stays_in_training(graph):
    labeled, _, split = _split_labels(graph, ["a", "b", "a", "a"], seed=0)
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
            "^split must be a NodeSplit, as random_split makes, or y should be a 1d array of labels; got None$",
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
