"""The linear probe: a logistic regression on a frozen embedding."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score

from graphprox.arrays import IntArray
from graphprox.evaluation.inputs import Rows, RowsLike, check_split, checked_labels, one_thread, unit_rows
from graphprox.evaluation.span import Span
from graphprox.splits import NodeSplit

STRENGTHS = tuple(10.0**power for power in range(-2, 5))  # of the penalty, inverse, as scikit-learn's C
PATIENCE = 2  # so many weaker penalties in a row that do no better end the search, but only
LEARNED = 0.9  # where such a share of the training nodes is told right: a probe that still underfits may yet do better
MOST_ITERATIONS = 400  # a fit that takes more ends the search too: weaker penalties would take longer still
TOLERANCE = 1e-5  # of the gradient; scikit-learn's default of 1e-4 stops where predictions still change


@dataclass(frozen=True)
class Score:
    """How many nodes are told right: of the test nodes, and of those for validation, by which a probe chooses ``c``."""

    accuracy: float
    macro_f1: float
    validation_accuracy: float
    c: float | None = None


def probe(embedding: RowsLike, y: ArrayLike, split: NodeSplit) -> Score:
    """Learn classes from the training nodes by an l2-regularised logistic regression, and count on the test nodes.

    Rows, which may be sparse, are scaled to length 1. The strength of the penalty is the one that does best on the
    validation nodes, the stronger where two do; test nodes play no part in any choice. Penalties are tried from the
    strongest on. Once nine in ten training nodes are told right, ``PATIENCE`` weaker penalties in a row that do no
    better end the search, and so does a fit that does not converge; what would come after them is never tried.

    >>> from graphprox import random_split, synthetic
    >>> graph = synthetic()
    >>> score = probe(graph.x, graph.y, random_split(graph, seed=0))
    >>> 0.4 < score.accuracy < 0.7
    True
    """
    rows = unit_rows(embedding)
    labels = checked_labels(y, rows=rows.shape[0])
    check_split(labels, split, parts=("train", "validation", "test"))
    with one_thread():
        chosen = _best_on_validation(rows, labels, split)
    return Score(*counted(chosen.predicted, labels[split.test]), validation_accuracy=chosen.right, c=chosen.strength)


def score(predicted: ArrayLike, y: ArrayLike, split: NodeSplit) -> Score:
    """Count how many nodes have the class that a classifier predicted of them, (nodes,).

    >>> score([0, 1, 1], [0, 1, 0], NodeSplit(train=[], validation=[0], test=[1, 2])).accuracy
    0.5
    """
    told = np.asarray(predicted)
    labels = checked_labels(y, rows=len(told))
    check_split(labels, split, parts=("validation", "test"))
    right = _share(told[split.validation] == labels[split.validation])
    return Score(*counted(told[split.test], labels[split.test]), validation_accuracy=right)


def counted(predicted: IntArray, truth: IntArray) -> tuple[float, float]:
    """Accuracy, and F1 as a mean over classes."""
    return _share(predicted == truth), float(f1_score(truth, predicted, average="macro"))


@dataclass(frozen=True, eq=False)
class _Chosen:
    strength: float
    right: float  # of the validation nodes
    predicted: IntArray  # classes of the test nodes


def _best_on_validation(rows: Rows, labels: IntArray, split: NodeSplit) -> _Chosen:
    """The regression whose penalty serves the validation nodes best."""
    regression, validation = _Regression(rows, labels, split.train), rows[split.validation]
    chosen, in_vain = _Chosen(0, -1, np.empty(0, np.int64)), 0
    for strength in STRENGTHS:
        regression.fit(strength)
        right = _share(regression.predict(validation) == labels[split.validation])
        if right > chosen.right:
            chosen, in_vain = _Chosen(strength, right, regression.predict(rows[split.test])), 0
        elif regression.learned >= LEARNED:
            in_vain += 1
        if in_vain == PATIENCE or not regression.converged:
            break
    return chosen


class _Regression:
    """A logistic regression in the span of its training rows. Its intercept has no penalty, so that they are centred.

    Each fit starts from the one before. From one penalty to the next weaker, that is most of the way.
    """

    def __init__(self, rows: Rows, labels: IntArray, train: IntArray) -> None:
        self._span, self._labels = Span.of(rows, train, centred=True), labels[train]
        self._classifier = LogisticRegression(max_iter=MOST_ITERATIONS, tol=TOLERANCE, warm_start=True)

    def fit(self, strength: float) -> None:
        with warnings.catch_warnings():
            # Where a fit did not converge, it is asked for below.
            warnings.simplefilter("ignore", ConvergenceWarning)
            self._classifier.set_params(C=strength).fit(self._span.coordinates, self._labels)

    @property
    def converged(self) -> bool:
        """Whether the last fit needed no more iterations than it may take."""
        return int(self._classifier.n_iter_.max()) < MOST_ITERATIONS

    @property
    def learned(self) -> float:
        """The share of the training nodes that are told right."""
        return float(self._classifier.score(self._span.coordinates, self._labels))

    def predict(self, rows: Rows) -> IntArray:
        scores = self._span.scores(rows, self._classifier.coef_) + self._classifier.intercept_
        # Of two classes there is one score, which is above 0 for the second.
        number = np.argmax(scores, axis=1) if scores.shape[1] > 1 else (scores[:, 0] > 0).astype(np.int64)
        classes: IntArray = self._classifier.classes_[number]
        return classes


def _share(right: np.ndarray) -> float:
    return float(np.mean(right))
