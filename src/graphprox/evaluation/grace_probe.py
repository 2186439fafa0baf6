"""GRACEProbe: the probe in the published code of GRACE and of many later methods.

It is provided for comparison with papers that used it: accuracies of different probes are not comparable.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

from graphprox._utils.arrays import IntArray
from graphprox._utils.random import Stream
from graphprox.evaluation.inputs import (
    Floats,
    RowsLike,
    check_row_labels,
    check_split,
    limit_to_one_thread,
    normalize_rows,
)
from graphprox.evaluation.probe import Probe, accuracy_and_f1, two_class_auc
from graphprox.evaluation.scores import SplitScore
from graphprox.evaluation.span import Span
from graphprox.graph.graph import Graph
from graphprox.graph.splits import NodeSplit, random_split

N_FOLDS = 5


def grace_split(graph: Graph, *, random_state: int = 0, stream: Stream = "own") -> NodeSplit:
    """Split the nodes into 10 % for training and 90 % for testing, without validation nodes.

    Parameters
    ----------
    graph : Graph
    random_state : int, default=0
        Random seed. The training nodes are those of :func:`graphprox.random_split` with the same seed.
    stream : {"own", "legacy"}, default="own"
        Stream of random numbers, as for :func:`graphprox.random_split`.

    Returns
    -------
    NodeSplit

    Examples
    --------
    >>> from graphprox import synthetic
    >>> grace_split(synthetic(), random_state=0)
    NodeSplit(84 train, 0 val, 756 test)
    """
    split = random_split(graph, random_state=random_state, stream=stream)
    return NodeSplit(split.train, [], np.concatenate([split.val, split.test]))


@dataclass(frozen=True)
class GRACEProbe(Probe):
    """One-vs-rest logistic regression by liblinear, its penalty selected by cross-validation.

    Rows are scaled to unit length. The penalty is selected by the accuracy of a five-fold cross-validation on the
    training nodes, the stronger one on ties; that accuracy is reported as the validation accuracy. The validation
    nodes of a split are ignored.

    Parameters
    ----------
    cs : tuple of float, default=(2**-10, ..., 2**10)
        Inverse strengths of the penalty, as ``C`` of scikit-learn, in ascending order.

    Examples
    --------
    >>> from graphprox import synthetic
    >>> graph = synthetic(nodes=210)
    >>> score = GRACEProbe(cs=(1, 4, 16)).evaluate(graph.x, graph.y, grace_split(graph, random_state=0))
    >>> 0.3 < score.accuracy < 0.7
    True
    """

    cs: tuple[float, ...] = tuple(2.0**power for power in range(-10, 11))

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
        check_split(labels, split, parts=("train", "test"))
        # liblinear regularizes the intercept, so that centering would change the solution.
        span, classes = Span.from_rows(rows, split.train, center=False), labels[split.train]
        with limit_to_one_thread():
            accuracies = [_cross_validate(span.coordinates, classes, c) for c in self.cs]
            best = int(np.argmax(accuracies))
            test_rows = span.transform(rows[split.test])
            classifier = _fit(span.coordinates, classes, self.cs[best])
            predicted, truth = classifier.predict(test_rows), labels[split.test]
        auc = None
        if len(classifier.classes_) == 2:
            auc = two_class_auc(truth, classifier.decision_function(test_rows).reshape(-1, 1), classifier.classes_)
        scores = accuracy_and_f1(predicted, truth)
        return SplitScore(*scores, val_accuracy=accuracies[best], c=self.cs[best], roc_auc=auc)


def _cross_validate(rows: Floats, labels: IntArray, c: float) -> float:
    """Return the accuracy over all nodes, each predicted by the fit that leaves its fold out."""
    n_correct = 0
    for fold in stratified_folds(labels):
        predicted = _fit_predict(rows[~fold], labels[~fold], rows[fold], c)
        n_correct += int((predicted == labels[fold]).sum())
    return n_correct / len(labels)


def stratified_folds(labels: IntArray) -> Iterator[NDArray[np.bool_]]:
    """Yield five stratified folds as masks, or one per node if there are fewer nodes.

    Parameters
    ----------
    labels : ndarray of shape (num_nodes,)

    Yields
    ------
    ndarray of bool of shape (num_nodes,)
        The nodes of a fold.

    Examples
    --------
    >>> [fold.astype(int).tolist() for fold in stratified_folds(np.array([1, 0, 0]))]
    [[0, 1, 0], [0, 0, 1], [1, 0, 0]]
    """
    # Nodes are assigned in turn, class by class: scikit-learn's StratifiedKFold rejects, or warns of, classes with
    # fewer nodes than folds, which are common in a tenth of the nodes.
    number = np.empty(len(labels), np.int64)
    number[np.argsort(labels, kind="stable")] = np.arange(len(labels)) % N_FOLDS
    for each in range(min(N_FOLDS, len(labels))):
        yield number == each


def _fit_predict(train_rows: Floats, labels: IntArray, rows: Floats, c: float) -> IntArray:
    if (labels == labels[0]).all():  # all nodes of the other classes are in the fold that is left out
        return np.full(len(rows), labels[0])
    predicted: IntArray = _fit(train_rows, labels, c).predict(rows)
    return predicted


def _fit(rows: Floats, labels: IntArray, c: float) -> OneVsRestClassifier:
    return OneVsRestClassifier(LogisticRegression(solver="liblinear", C=c)).fit(rows, labels)
