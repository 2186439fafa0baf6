"""The probe of DGI's code against a layer of torch, and its invariances."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from graphprox import GraphError, NodeSplit, random_split
from graphprox.evaluation.dgi_probe import DGIProbe

PROBE = DGIProbe(epochs=150)


def torch_accuracies(rows, labels, split, epochs):
    """Validation and test accuracy of a torch layer after the epoch that is selected by validation."""
    x, y = torch.tensor(rows, dtype=torch.float64), torch.tensor(labels)
    train, validation = torch.tensor(split.train), torch.tensor(split.val)
    candidates = []
    for decay in (0.0, 1e-4, 1e-2):
        layer = torch.nn.Linear(x.shape[1], int(y.max()) + 1, dtype=torch.float64)
        torch.nn.init.zeros_(layer.weight)
        torch.nn.init.zeros_(layer.bias)
        optimizer = torch.optim.Adam(layer.parameters(), lr=1e-2, weight_decay=decay)
        for _ in range(epochs):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(layer(x[train]), y[train]).backward()
            optimizer.step()
            correct = (layer(x).argmax(1) == y).numpy()
            loss = torch.nn.functional.cross_entropy(layer(x[validation]), y[validation]).item()
            candidates.append((float(correct[split.val].mean()), -loss, float(correct[split.test].mean())))
    best = max(candidates)
    return best[0], best[2]


@pytest.mark.parametrize("epochs", [1, 40, 300])
def test_scores_equal_those_of_a_torch_layer(graph, embedding, epochs):
    split = random_split(graph, random_state=0)
    found = DGIProbe(epochs=epochs).evaluate(embedding, graph.y, split)
    expected = torch_accuracies(embedding, graph.y, split, epochs)
    assert (found.val_accuracy, found.accuracy) == pytest.approx(expected)


def test_nodes_of_a_class_without_training_nodes_are_errors(graph, embedding):
    split = random_split(graph, random_state=0)
    labels = graph.y.copy()
    labels[np.concatenate([split.val[:5], split.test[:5]])] = 99
    found = PROBE.evaluate(embedding, labels, split)
    assert found.val_accuracy <= 1 - 5 / len(split.val)
    assert found.accuracy <= 1 - 5 / len(split.test)


def test_validation_accuracy_is_zero_if_no_validation_class_was_trained_on(embedding, graph):
    split = random_split(graph, random_state=0)
    labels = graph.y.copy()
    labels[split.val] = 99
    assert PROBE.evaluate(embedding, labels, split).val_accuracy == 0


def test_selection_ignores_labels_of_test_nodes(graph, embedding):
    split = random_split(graph, random_state=0)
    shuffled = graph.y.copy()
    shuffled[split.test] = np.random.default_rng(0).permutation(shuffled[split.test])
    ours, theirs = PROBE.evaluate(embedding, graph.y, split), PROBE.evaluate(embedding, shuffled, split)
    assert ours.val_accuracy == theirs.val_accuracy
    assert ours.accuracy > theirs.accuracy


def test_rows_are_not_normalized(graph, embedding):
    split = random_split(graph, random_state=0)
    short, long = (PROBE.evaluate(embedding * scale, graph.y, split) for scale in (1e-4, 1))
    assert short != long
    assert PROBE.evaluate(embedding, graph.y, split) == long


def test_class_numbers_are_arbitrary():
    labels = np.array([7, 3, 7, 3, 7, 3])
    found = PROBE.evaluate(np.eye(2)[(labels == 7).astype(int)], labels, NodeSplit([0, 1], [2, 3], [4, 5]))
    assert (found.accuracy, found.macro_f1, found.val_accuracy, found.c) == (1, 1, 1, None)


def test_splits_without_validation_nodes_are_rejected(graph, embedding):
    split = random_split(graph, random_state=0)
    with pytest.raises(GraphError, match="a probe needs validation nodes"):
        PROBE.evaluate(embedding, graph.y, NodeSplit(split.train, [], split.test))
