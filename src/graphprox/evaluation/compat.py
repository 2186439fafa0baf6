"""The probe of GRACE's code and of others after it: one class against the rest, a tenth to learn from.

It is kept apart from :mod:`graphprox.evaluation.probe` so that figures of papers that used it have something to be
held against. Two papers' figures compare only where both used the same probe.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

from graphprox.arrays import IntArray
from graphprox.evaluation.inputs import Floats, RowsLike, check_split, checked_labels, one_thread, unit_rows
from graphprox.evaluation.probe import Score, counted
from graphprox.evaluation.span import Span
from graphprox.graph import Graph
from graphprox.splits import NodeSplit, random_split

STRENGTHS = tuple(2.0**power for power in range(-10, 11))  # of the penalty, inverse, as scikit-learn's C
FOLDS = 5


def compat_split(graph: Graph, *, seed: int) -> NodeSplit:
    """A tenth of the nodes to train on, the rest to test, nobody to validate.

    The training nodes are those of the random split of the same seed.

    >>> from graphprox import synthetic
    >>> compat_split(synthetic(), seed=0)
    NodeSplit(84 train, 0 validation, 756 test)
    """
    drawn = random_split(graph, seed=seed)
    return NodeSplit(drawn.train, [], np.concatenate([drawn.validation, drawn.test]))


def compat_probe(embedding: RowsLike, y: ArrayLike, split: NodeSplit) -> Score:
    """Learn each class against the rest by a logistic regression of liblinear, and count on the test nodes.

    Rows are scaled to length 1. The strength of the penalty is the one that does best in a five-fold
    cross-validation among the training nodes, the stronger where two do; its accuracy is the validation accuracy.
    Validation nodes, if the split has any, play no part.

    >>> from graphprox import synthetic
    >>> graph = synthetic()
    >>> score = compat_probe(graph.x, graph.y, compat_split(graph, seed=0))
    >>> 0.4 < score.accuracy < 0.7
    True
    """
    rows = unit_rows(embedding)
    labels = checked_labels(y, rows=rows.shape[0])
    check_split(labels, split, parts=("train", "test"))
    # liblinear penalises the intercept too, so that a shift is not free: the rows are not centred.
    span, classes = Span.of(rows, split.train, centred=False), labels[split.train]
    with one_thread():
        right = [_cross_validated(span.coordinates, classes, strength) for strength in STRENGTHS]
        best = int(np.argmax(right))
        asked = span.located(rows[split.test])
        predicted = _predicted(span.coordinates, classes, asked, STRENGTHS[best])
    return Score(*counted(predicted, labels[split.test]), validation_accuracy=right[best], c=STRENGTHS[best])


def _cross_validated(vectors: Floats, labels: IntArray, strength: float) -> float:
    """The share of the nodes that are told right by a regression on the folds they are not in."""
    right = 0
    for fold in folds(labels):
        predicted = _predicted(vectors[~fold], labels[~fold], vectors[fold], strength)
        right += int((predicted == labels[fold]).sum())
    return right / len(labels)


def folds(labels: IntArray) -> Iterator[np.ndarray]:
    """Five parts of the nodes, or one for each node if there are fewer, as masks, each with its share of every class.

    >>> [fold.astype(int).tolist() for fold in folds(np.array([1, 0, 0]))]
    [[0, 1, 0], [0, 0, 1], [1, 0, 0]]
    """
    # Dealt out class by class, like cards: scikit-learn's stratified folds refuse, or complain of, a class of fewer
    # nodes than folds, and a tenth of the nodes of a rare class is often that.
    number = np.empty(len(labels), np.int64)
    number[np.argsort(labels, kind="stable")] = np.arange(len(labels)) % FOLDS
    for each in range(min(FOLDS, len(labels))):
        yield number == each


def _predicted(vectors: Floats, labels: IntArray, asked: Floats, strength: float) -> IntArray:
    if (labels == labels[0]).all():  # a rare class was in the fold that is left out, whole
        return np.full(len(asked), labels[0])
    classifier = OneVsRestClassifier(LogisticRegression(solver="liblinear", C=strength))
    predicted: IntArray = classifier.fit(vectors, labels).predict(asked)
    return predicted
