"""Tasks, feature dropout and training of semi-supervised classifiers, and their common interface."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from sklearn.base import clone

from graphprox import (
    Dataset,
    Graph,
    GraphError,
    NodeSplit,
    ParameterError,
    TrainingError,
    random_split,
    report_progress,
    synthetic,
)
from graphprox.methods._supervised import (
    SupervisedTask,
    ValScore,
    to_feature_matrix,
    train_classifier,
    with_feature_dropout,
)
from graphprox.methods.gat import GAT
from graphprox.methods.gcn import GCN
from graphprox.methods.geom_gcn import GeomGCN
from graphprox.methods.jknet import JKNet
from graphprox.methods.sgc import SGC

# A few large steps: after small ones, all nodes would be predicted to be of one class.
CLASSIFIERS = {
    "gcn": GCN(epochs=10, learning_rate=0.2),
    "gat": GAT(epochs=10, learning_rate=0.2, output_heads=2),
    "sgc": SGC(epochs=10, learning_rate=1.0),
    "jk-net": JKNet(epochs=10, learning_rate=0.1, hidden_channels=8),
    "jk-net-lstm": JKNet(epochs=10, learning_rate=0.1, hidden_channels=8, jk="lstm"),
    "jk-net-sage": JKNet(epochs=10, learning_rate=0.1, hidden_channels=8, conv="sage"),
    "geom-gcn-p": GeomGCN(epochs=10, learning_rate=0.2, hidden_channels=4, latent_epochs=3),
}


@pytest.fixture
def graph():
    return synthetic(nodes=140)


@pytest.fixture
def split(graph):
    return random_split(graph, random_state=0, train=0.3, val=0.2)


def make(name, **parameters):
    return clone(CLASSIFIERS[name]).set_params(**parameters)


# -- interface ---------------------------------------------------------------------------------------------------------


def test_settings_of_a_data_set_are_used_to_predict_too(graph, split):
    """The network of a preset is kept; the parameters of the classifier are not changed."""
    classifier = JKNet(epochs=2).fit(Dataset("Texas", graph), split)
    assert classifier.settings_["conv"] == "sage"
    assert classifier.conv == "gcn"
    expected = JKNet(epochs=2, conv="sage").fit(graph, split)
    assert np.array_equal(classifier.predict_proba(graph), expected.predict_proba(graph))


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_trained_classifier_is_better_than_chance(name):
    graph = synthetic()
    split = random_split(graph, random_state=0, train=0.3)
    epochs = 60 if name == "sgc" else 40
    assert make(name, epochs=epochs).fit(graph, split).score(graph, split) > 0.4  # chance is one in seven


def test_progress_is_reported_for_every_epoch(graph, split):
    reported = []
    with report_progress(lambda *args: reported.append(args)):
        GCN(epochs=3).fit(graph, split)
    assert reported == [("training", epoch, 3) for epoch in (1, 2, 3)]


# -- tasks -------------------------------------------------------------------------------------------------------------


def test_task_needs_labels_of_two_classes_and_both_parts(graph, split):
    with pytest.raises(GraphError, match="needs a graph with labels"):
        SupervisedTask.of(graph.without_labels(), split)
    with pytest.raises(GraphError, match="needs training nodes"):
        SupervisedTask.of(graph, NodeSplit([], split.val, split.test))
    with pytest.raises(GraphError, match="needs validation nodes"):
        SupervisedTask.of(graph, NodeSplit(split.train, [], split.test))
    with pytest.raises(ParameterError, match=r"nodes 0\.\.139 of the graph; got node 140"):
        SupervisedTask.of(graph, NodeSplit([0, 140], [1], [2]))
    with pytest.raises(GraphError, match="at least two classes"):
        SupervisedTask.of(graph, NodeSplit(np.flatnonzero(graph.y == 0), np.flatnonzero(graph.y == 1), []))


@pytest.mark.parametrize("part", ["train", "val"])
def test_task_needs_labels_of_all_nodes_of_both_parts(graph, split, part):
    node = getattr(split, part)[3]
    labels = graph.y.copy()
    labels[node] = -1
    with pytest.raises(GraphError, match=f"nodes with labels; node {node} has none"):
        SupervisedTask.of(graph.with_labels(labels), split)


def test_task_contains_no_labels_of_other_nodes():
    graph = Graph(np.eye(5), [[0], [1]], y=[3, 3, 9, 4, 7], class_names=map(str, range(10)))
    task = SupervisedTask.of(graph, NodeSplit(train=[0, 2], val=[1], test=[3, 4]))
    assert task.graph.y is None
    assert task.graph.class_names is None
    assert task.classes.tolist() == [3, 9]


def test_loss_and_accuracy_of_a_task_equal_their_definition():
    graph = Graph(np.eye(5), [[0], [1]], y=[3, 3, 9, 4, 7])
    task = SupervisedTask.of(graph, NodeSplit(train=[0, 2], val=[1], test=[3, 4]))
    scores = torch.tensor([[1.0, 0], [0, 1], [0, 1], [1, 0], [0, 2]])
    assert task.train.accuracy(scores) == 1
    assert float(task.train.loss(scores)) == pytest.approx(math.log(1 + math.exp(-1)))
    assert task.score_val(scores) == pytest.approx((0, -math.log(1 + math.exp(1))))


def test_class_of_validation_nodes_alone_is_a_class():
    graph = Graph(np.eye(4), [[0], [1]], y=[0, 1, 2, 5])
    task = SupervisedTask.of(graph, NodeSplit(train=[0, 1], val=[2], test=[3]))
    assert task.classes.tolist() == [0, 1, 2]
    assert task.val.targets.tolist() == [2]


# -- training ----------------------------------------------------------------------------------------------------------


class Scripted(torch.nn.Module):
    """A network with given scores for each epoch, and the number of evaluations as its weights."""

    def __init__(self, margins):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(1))
        self.register_buffer("evaluations", torch.zeros((), dtype=torch.int64))
        self.epochs = [[[0.0, 0], [0, 0], [a, 0.0], [b, 0.0]] for a, b in margins]

    def forward(self):
        if self.training:
            return self.weight.expand(4, 2)
        self.evaluations += 1
        return torch.tensor(self.epochs[int(self.evaluations) - 1])


@pytest.mark.parametrize(
    ("margins", "patience", "epochs", "best"),
    [
        ([(1, -1), (1, 1), (1, -1)], 9, 3, 2),  # the highest accuracy
        ([(1, -1), (9, -0.5), (1, -1)], 9, 3, 2),  # the lowest loss of those with the same accuracy
        ([(1, 1), (9, -1e-3), (1, -1)], 9, 3, 1),  # a lower loss at a lower accuracy is not better
        ([(1, -1), (1, -1), (1, -1), (1, 1)], 2, 3, 1),  # no improvement for two epochs
        ([(0.1, 0.1), (0.1, -0.1), (9, -0.01), (9, -0.01), (1, 1)], 2, 5, 5),  # a lower loss resets patience
    ],
)
def test_training_stops_by_patience_and_keeps_the_weights_of_the_best_epoch(margins, patience, epochs, best):
    """A margin is the score of the correct class of a validation node minus that of the other class."""
    task = SupervisedTask.of(Graph(np.eye(4), [[0], [1]], y=[0, 1, 0, 0]), NodeSplit([0, 1], [2, 3], []))
    network, reported = Scripted(margins), []
    score = train_classifier(
        network,
        network,
        task,
        epochs=len(margins),
        patience=patience,
        learning_rate=0.1,
        parameter_groups=[(network.parameters(), 0.0)],
        progress=lambda stage, done, total, note="": reported.append(done),  # noqa: ARG005
    )
    assert reported[-1] == epochs
    assert int(network.evaluations) == best
    assert score == task.score_val(torch.tensor(network.epochs[best - 1]))
    assert not network.training


def test_validation_score_compares_by_accuracy_first():
    assert ValScore(0.9, -3.0) > ValScore(0.8, -1.0)
    assert ValScore(0.9, -1.0) > ValScore(0.9, -3.0)


def test_training_that_diverges_raises(graph, split):
    with pytest.raises(TrainingError, match="training diverged: the validation loss must be finite"):
        GCN(epochs=5, learning_rate=1e30).fit(graph, split)


# -- dropout of features -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("density", [0.02, 0.1, 0.9])
def test_feature_dropout_drops_nonzero_entries_and_scales_the_others(density):
    x = (np.random.default_rng(0).random((200, 100)) < density).astype(np.float32)
    features = to_feature_matrix(Graph(x, [[0], [1]]))
    assert (features.dense is None) == (density < 0.25)
    normalized = x / np.maximum(x.sum(axis=1, keepdims=True), 1)
    evaluated = with_feature_dropout(features, 0.5, training=False)(torch.eye(100)).numpy()
    np.testing.assert_allclose(evaluated, normalized, atol=1e-6)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        dropped = with_feature_dropout(features, 0.5, training=True)(torch.eye(100)).numpy()
    is_kept = dropped != 0
    np.testing.assert_allclose(dropped[is_kept], 2 * normalized[is_kept], rtol=1e-5)
    assert not (is_kept & (x == 0)).any()
    assert is_kept.sum() / x.sum() == pytest.approx(0.5, abs=0.05)
