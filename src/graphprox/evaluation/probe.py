"""LinearProbe: a logistic regression on a frozen embedding."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, roc_auc_score

from graphprox._utils.arrays import IntArray
from graphprox.evaluation.inputs import (
    Floats,
    Rows,
    RowsLike,
    check_row_labels,
    check_split,
    limit_to_one_thread,
    normalize_rows,
)
from graphprox.evaluation.scores import SplitScore
from graphprox.evaluation.span import Span
from graphprox.graph.graph import UNKNOWN_LABEL
from graphprox.graph.splits import NodeSplit


class Probe(ABC):
    """Base class of probes: classifiers that measure how well classes can be predicted from an embedding.

    Subclasses implement ``evaluate``: `LinearProbe`, and the probes of the authors of DGI and GRACE.

    Examples
    --------
    >>> class MajorityProbe(Probe):
    ...     def evaluate(self, embedding, y, split):
    ...         largest = np.bincount(y[split.train]).argmax()
    ...         accuracy, val_accuracy = (float(np.mean(y[part] == largest)) for part in (split.test, split.val))
    ...         return SplitScore(accuracy, macro_f1=0.0, val_accuracy=val_accuracy)
    >>> from graphprox import random_split, synthetic
    >>> graph = synthetic(nodes=140)
    >>> MajorityProbe().evaluate(graph.x, graph.y, random_split(graph)).accuracy < 0.5
    True
    """

    @abstractmethod
    def evaluate(self, embedding: RowsLike, y: ArrayLike, split: NodeSplit) -> SplitScore:
        """Fit on the training nodes of a split, and score on its test nodes.

        Parameters
        ----------
        embedding : array-like or sparse matrix of shape (num_nodes, n_components)
        y : array-like of shape (num_nodes,)
            Labels; -1 for nodes outside the split that have none.
        split : NodeSplit

        Returns
        -------
        SplitScore
        """


@dataclass(frozen=True)
class LinearProbe(Probe):
    """L2-regularized multinomial logistic regression on rows of unit length.

    The penalty is selected by validation accuracy, the stronger one on ties. Penalties are tried from the strongest to
    the weakest; the search stops after ``patience`` penalties without improvement, or when a fit does not converge.

    Parameters
    ----------
    cs : tuple of float, default=(0.01, 0.1, 1, 10, 100, 1000, 10000)
        Inverse strengths of the penalty, as ``C`` of scikit-learn, in ascending order.
    patience : int, default=2
        Number of penalties in a row without a better validation accuracy that end the search.
    min_train_accuracy : float, default=0.9
        Training accuracy below which ``patience`` is ignored: a probe that underfits may still improve.
    max_iter : int, default=400
        Iterations of a fit. One that needs more ends the search, as weaker penalties converge more slowly still.
    tol : float, default=1e-5
        Tolerance of the gradient. At scikit-learn's default of 1e-4 predictions still change.

    Examples
    --------
    >>> from graphprox import random_split, synthetic
    >>> graph = synthetic()
    >>> score = LinearProbe().evaluate(graph.x, graph.y, random_split(graph, random_state=0))
    >>> round(score.accuracy, 1)
    0.5
    """

    cs: tuple[float, ...] = tuple(10.0**power for power in range(-2, 5))
    patience: int = 2
    min_train_accuracy: float = 0.9
    max_iter: int = 400
    tol: float = 1e-5

    def evaluate(self, embedding: RowsLike, y: ArrayLike, split: NodeSplit) -> SplitScore:
        """Fit on the training nodes of a split, and score on its test nodes.

        Parameters
        ----------
        embedding : array-like or sparse matrix of shape (num_nodes, n_components)
        y : array-like of shape (num_nodes,)
            Labels; -1 for nodes outside the split that have none.
        split : NodeSplit
            Labels of its test nodes are used for the score only.

        Returns
        -------
        SplitScore
        """
        rows = normalize_rows(embedding)
        labels = check_row_labels(y, n_rows=rows.shape[0])
        check_split(labels, split, parts=("train", "val", "test"))
        with limit_to_one_thread():
            best = self._search(rows, labels, split)
        truth = labels[split.test]
        auc = two_class_auc(truth, best.scores, best.classes)
        return SplitScore(
            *accuracy_and_f1(choose_class(best.scores, best.classes), truth),
            val_accuracy=best.val_accuracy,
            c=best.c,
            roc_auc=auc,
        )

    def _search(self, rows: Rows, labels: IntArray, split: NodeSplit) -> _Candidate:
        """Return the regression that is selected by validation accuracy."""
        regression = _Regression(rows, labels, split.train, max_iter=self.max_iter, tol=self.tol)
        val_rows = rows[split.val]
        best, n_without_gain = _Candidate(0, -1, np.empty((0, 1)), np.empty(0, np.int64)), 0
        for c in self.cs:
            regression.fit(c)
            predicted = choose_class(regression.decision_function(val_rows), regression.classes)
            val_accuracy = _accuracy(predicted, labels[split.val])
            if val_accuracy > best.val_accuracy:
                scores = regression.decision_function(rows[split.test])
                best, n_without_gain = _Candidate(c, val_accuracy, scores, regression.classes), 0
            elif regression.train_accuracy >= self.min_train_accuracy:
                n_without_gain += 1
            if n_without_gain == self.patience or not regression.converged:
                break
        return best


@dataclass(frozen=True, eq=False)
class _Candidate:
    c: float
    val_accuracy: float
    scores: Floats  # of the test nodes, (n_test, n_classes), or (n_test, 1) for two classes
    classes: IntArray


class _Regression:
    """A logistic regression in the span of its centered training rows, as its intercept is not regularized.

    Each fit starts from the previous one: the solutions of neighboring penalties are close.
    """

    def __init__(self, rows: Rows, labels: IntArray, train: IntArray, *, max_iter: int, tol: float) -> None:
        self._span, self._labels = Span.from_rows(rows, train, center=True), labels[train]
        self._classifier = LogisticRegression(max_iter=max_iter, tol=tol, warm_start=True)

    def fit(self, c: float) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # see `converged`
            self._classifier.set_params(C=c).fit(self._span.coordinates, self._labels)

    @property
    def converged(self) -> bool:
        return bool(self._classifier.n_iter_.max() < self._classifier.max_iter)

    @property
    def train_accuracy(self) -> float:
        return float(self._classifier.score(self._span.coordinates, self._labels))

    @property
    def classes(self) -> IntArray:
        classes: IntArray = self._classifier.classes_
        return classes

    def decision_function(self, rows: Rows) -> Floats:
        scores: Floats = self._span.decision_function(rows, self._classifier.coef_) + self._classifier.intercept_
        return scores


def choose_class(scores: Floats, classes: IntArray) -> IntArray:
    """Return the class with the highest score of each row; a single score is positive for the second class."""
    number = np.argmax(scores, axis=1) if scores.shape[1] > 1 else (scores[:, 0] > 0).astype(np.int64)
    chosen: IntArray = classes[number]
    return chosen


def two_class_auc(labels: IntArray, scores: Floats, classes: IntArray) -> float | None:
    """Return the area under the ROC curve, or None unless there are two classes, both among the labels.

    Parameters
    ----------
    labels : ndarray of shape (n_nodes,)
        True classes.
    scores : ndarray of shape (n_nodes, 1) or (n_nodes, 2)
        Scores of the second class, or of both.
    classes : ndarray of shape (n_classes,)
        The classes that were learned, in the order of the scores.

    Returns
    -------
    float or None

    Examples
    --------
    >>> two_class_auc(np.array([0, 1, 1]), np.array([[0.1], [0.9], [0.0]]), np.array([0, 1]))
    0.5
    """
    if len(classes) != 2 or not np.array_equal(np.unique(labels), np.sort(classes)):
        return None
    margin = scores[:, 0] if scores.shape[1] == 1 else scores[:, 1] - scores[:, 0]
    return float(roc_auc_score(labels == classes[1], margin))


def score_predictions(
    predicted: ArrayLike, y: ArrayLike, split: NodeSplit, *, proba: ArrayLike | None = None
) -> SplitScore:
    """Score the predictions of a classifier on the validation and test nodes of a split.

    Parameters
    ----------
    predicted : array-like of shape (num_nodes,)
        Predicted classes.
    y : array-like of shape (num_nodes,)
        True classes.
    split : NodeSplit
    proba : array-like of shape (num_nodes, 2), optional
        Probabilities of the two classes, if there are two, in ascending order: for the ROC-AUC.

    Returns
    -------
    SplitScore

    Examples
    --------
    >>> score_predictions([0, 1, 1], [0, 1, 0], NodeSplit(train=[], val=[0], test=[1, 2])).accuracy
    0.5
    """
    classes = np.asarray(predicted)
    labels = check_row_labels(y, n_rows=len(classes))
    check_split(labels, split, parts=("val", "test"))
    val_accuracy = _accuracy(classes[split.val], labels[split.val])
    truth, auc = labels[split.test], None
    if proba is not None:
        auc = two_class_auc(
            truth, np.asarray(proba, np.float64)[split.test], np.unique(labels[labels != UNKNOWN_LABEL])
        )
    return SplitScore(*accuracy_and_f1(classes[split.test], truth), val_accuracy=val_accuracy, roc_auc=auc)


def accuracy_and_f1(predicted: NDArray[np.int64], labels: IntArray) -> tuple[float, float]:
    """Return accuracy and macro F1."""
    return _accuracy(predicted, labels), float(f1_score(labels, predicted, average="macro"))


def _accuracy(predicted: IntArray, labels: IntArray) -> float:
    return float(np.mean(predicted == labels))
