"""The probe of the code of DGI and of others after it."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from graphprox import GraphError, NodeSplit, random_split
from graphprox.evaluation import descent
from graphprox.evaluation.descent import descent_probe


@pytest.fixture(autouse=True)
def few_steps(monkeypatch):
    monkeypatch.setattr(descent, "STEPS", 150)


def literally(rows, labels, split, steps):
    """The same by torch's own layer: the shares told right after what is best on validation nodes."""
    x, y = torch.tensor(rows, dtype=torch.float64), torch.tensor(labels)
    train, validation = torch.tensor(split.train), torch.tensor(split.validation)
    after = []
    for decay in (0.0, 1e-4, 1e-2):
        layer = torch.nn.Linear(x.shape[1], int(y.max()) + 1, dtype=torch.float64)
        torch.nn.init.zeros_(layer.weight)
        torch.nn.init.zeros_(layer.bias)
        optimizer = torch.optim.Adam(layer.parameters(), lr=1e-2, weight_decay=decay)
        for _ in range(steps):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(layer(x[train]), y[train]).backward()
            optimizer.step()
            right = (layer(x).argmax(1) == y).numpy()
            surprise = torch.nn.functional.cross_entropy(layer(x[validation]), y[validation]).item()
            after.append((float(right[split.validation].mean()), -surprise, float(right[split.test].mean())))
    best = max(after)
    return best[0], best[2]


@pytest.mark.parametrize("steps", [1, 40, 300])
def test_it_is_a_layer_of_torch_after_its_best_step(graph, embedding, monkeypatch, steps):
    monkeypatch.setattr(descent, "STEPS", steps)
    split = random_split(graph, seed=0)
    found = descent_probe(embedding, graph.y, split)
    assert (found.validation_accuracy, found.accuracy) == pytest.approx(literally(embedding, graph.y, split, steps))


def test_a_class_without_training_nodes_is_never_told_right(graph, embedding):
    split = random_split(graph, seed=0)
    labels = graph.y.copy()
    labels[np.concatenate([split.validation[:5], split.test[:5]])] = 99
    found = descent_probe(embedding, labels, split)
    assert found.validation_accuracy <= 1 - 5 / len(split.validation)
    assert found.accuracy <= 1 - 5 / len(split.test)


def test_no_validation_node_of_a_known_class_leaves_nothing_to_choose_by(embedding, graph):
    split = random_split(graph, seed=0)
    labels = graph.y.copy()
    labels[split.validation] = 99
    assert descent_probe(embedding, labels, split).validation_accuracy == 0


def test_labels_of_test_nodes_choose_nothing(graph, embedding):
    split = random_split(graph, seed=0)
    shuffled = graph.y.copy()
    shuffled[split.test] = np.random.default_rng(0).permutation(shuffled[split.test])
    ours, theirs = descent_probe(embedding, graph.y, split), descent_probe(embedding, shuffled, split)
    assert ours.validation_accuracy == theirs.validation_accuracy
    assert ours.accuracy > theirs.accuracy


def test_the_length_of_rows_counts(graph, embedding):
    split = random_split(graph, seed=0)
    short, long = (descent_probe(embedding * scale, graph.y, split) for scale in (1e-4, 1))
    assert short != long
    assert descent_probe(embedding, graph.y, split) == long


def test_classes_may_have_any_numbers():
    labels = np.array([7, 3, 7, 3, 7, 3])
    found = descent_probe(np.eye(2)[(labels == 7).astype(int)], labels, NodeSplit([0, 1], [2, 3], [4, 5]))
    assert (found.accuracy, found.macro_f1, found.validation_accuracy, found.c) == (1, 1, 1, None)


def test_what_cannot_be_learned_from_is_refused(graph, embedding):
    split = random_split(graph, seed=0)
    with pytest.raises(GraphError, match="a probe needs validation nodes"):
        descent_probe(embedding, graph.y, NodeSplit(split.train, [], split.test))
