"""The probe of the code of DGI, CCA-SSG, GraphMAE and others: one linear layer, trained by Adam and stopped in time.

It is kept apart from :mod:`graphprox.evaluation.probe` so that figures of papers that used it have something to be
held against. It takes rows as they are, and so the length of a row counts. Those codes differ in how long they train
and in how much the weights decay, some by data set; here validation nodes choose among all they take.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import log_softmax, softmax

from graphprox.arrays import IntArray
from graphprox.evaluation.inputs import (
    Floats,
    RowsLike,
    check_split,
    checked_labels,
    checked_rows,
    dense,
    one_thread,
)
from graphprox.evaluation.probe import Score, counted
from graphprox.splits import NodeSplit

STEPS = 2000  # CCA-SSG's; DGI takes 100, MVGRL and GraphMAE take 300
LEARNING_RATE = 1e-2
WEIGHT_DECAYS = (0.0, 1e-4, 1e-2)
MOMENTA, EPSILON = (0.9, 0.999), 1e-8  # of Adam


def descent_probe(embedding: RowsLike, y: ArrayLike, split: NodeSplit) -> Score:
    """Learn classes from the training nodes by steps of Adam, and count on the test nodes.

    Of all steps with all decays of weights it takes the one after which most validation nodes are told right, and of
    several the one with the least cross-entropy there; test nodes play no part in any choice. The layer starts at zero,
    so that nothing is drawn.

    >>> from graphprox import random_split, synthetic
    >>> graph = synthetic()
    >>> score = descent_probe(graph.x, graph.y, random_split(graph, seed=0))
    >>> 0.4 < score.accuracy < 0.7
    True
    """
    rows = checked_rows(embedding)
    labels = checked_labels(y, rows=rows.shape[0])
    check_split(labels, split, parts=("train", "validation", "test"))
    with one_thread():
        layer, right = _best_on_validation(*(_part(rows, labels, nodes) for nodes in (split.train, split.validation)))
        asked = _part(rows, labels, split.test)
        return Score(*counted(layer.classes_of(asked.rows), asked.labels), validation_accuracy=right)


class _Part(NamedTuple):
    rows: Floats  # the last column is 1, so that the last row of a weight is the bias
    labels: IntArray


def _part(rows: Any, labels: IntArray, nodes: IntArray) -> _Part:
    return _Part(np.hstack([dense(rows[nodes]), np.ones((len(nodes), 1))]), labels[nodes])


class _Layer(NamedTuple):
    weight: Floats  # (width + 1, classes)
    classes: IntArray

    def classes_of(self, rows: Floats) -> IntArray:
        found: IntArray = self.classes[(rows @ self.weight).argmax(axis=1)]
        return found


def _best_on_validation(train: _Part, validation: _Part) -> tuple[_Layer, float]:
    """The layer after its best step, and the share of the validation nodes that it tells right.

    The layers of all decays take their steps side by side, and the gradient is written out: for matrices this small
    torch's tape takes four times as long as their products.
    """
    classes, targets = np.unique(train.labels, return_inverse=True)
    known = np.isin(validation.labels, classes)  # a class that no training node has is never told right
    others, asked = validation.rows[known], np.searchsorted(classes, validation.labels[known])
    truth = np.eye(len(classes))[targets]
    descent = _Descent(len(WEIGHT_DECAYS), train.rows.shape[1], len(classes))
    best, highest = np.zeros(descent.weights.shape[1:]), (-1.0, 0.0)
    for _ in range(STEPS):
        descent.step(train.rows.T @ (softmax(train.rows @ descent.weights, axis=2) - truth) / len(truth))
        scores = others @ descent.weights  # (decays, nodes, classes)
        right = (scores.argmax(axis=2) == asked).sum(axis=1) / len(known)
        for at in np.flatnonzero(right >= highest[0]):
            found = (float(right[at]), -_cross_entropy(scores[at], asked))
            if found > highest:
                best, highest = descent.weights[at].copy(), found
    return _Layer(best, classes), highest[0]


def _cross_entropy(scores: Floats, asked: IntArray) -> float:
    if not len(asked):
        return 0.0
    return -float(log_softmax(scores, axis=1)[np.arange(len(asked)), asked].mean())


class _Descent:
    """Layers that begin at zero, one for each decay, (decays, width + 1, classes), and Adam's state of each."""

    def __init__(self, *shape: int) -> None:
        self.weights, self.mean, self.square = (np.zeros(shape) for _ in range(3))
        self.decays = np.reshape(WEIGHT_DECAYS, (-1, 1, 1))
        self.steps = 0

    def step(self, gradient: Floats) -> None:
        self.steps += 1
        gradient = gradient + self.decays * self.weights
        slow, slower = MOMENTA
        self.mean += (1 - slow) * (gradient - self.mean)
        self.square += (1 - slower) * (gradient**2 - self.square)
        scale = np.sqrt(self.square / (1 - slower**self.steps)) + EPSILON
        self.weights -= LEARNING_RATE / (1 - slow**self.steps) * self.mean / scale
