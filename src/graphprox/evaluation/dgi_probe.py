"""DGIProbe: the probe in the published code of DGI, MVGRL, CCA-SSG, GraphMAE and others.

It is provided for comparison with papers that used it: accuracies of different probes are not comparable.
Those implementations differ in the number of epochs and in the weight decay, some by data set; here both are selected
by validation accuracy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import log_softmax, softmax

from graphprox._utils.arrays import IntArray
from graphprox.evaluation.inputs import (
    Floats,
    RowsLike,
    check_row_labels,
    check_rows,
    check_split,
    limit_to_one_thread,
    to_dense,
)
from graphprox.evaluation.probe import Probe, accuracy_and_f1, choose_class, two_class_auc
from graphprox.evaluation.scores import SplitScore
from graphprox.graph.splits import NodeSplit

BETAS, EPSILON = (0.9, 0.999), 1e-8  # of Adam


@dataclass(frozen=True)
class DGIProbe(Probe):
    """A linear softmax layer, trained by Adam with early stopping.

    Rows are not scaled, so that their length matters. The epoch and the weight decay are selected by validation
    accuracy, and by validation cross-entropy on ties. The layer starts at zero, so that nothing is random.

    Parameters
    ----------
    epochs : int, default=2000
        Epochs of training, as in CCA-SSG; DGI uses 100, MVGRL and GraphMAE use 300.
    learning_rate : float, default=0.01
    weight_decays : tuple of float, default=(0.0, 0.0001, 0.01)
        L2 penalties to select from.

    Examples
    --------
    >>> from graphprox import random_split, synthetic
    >>> graph = synthetic()
    >>> score = DGIProbe(epochs=100).evaluate(graph.x, graph.y, random_split(graph, random_state=0))
    >>> 0.4 < score.accuracy < 0.7
    True
    """

    epochs: int = 2000
    learning_rate: float = 1e-2
    weight_decays: tuple[float, ...] = (0.0, 1e-4, 1e-2)

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
        rows = check_rows(embedding)
        labels = check_row_labels(y, n_rows=rows.shape[0])
        check_split(labels, split, parts=("train", "val", "test"))
        with limit_to_one_thread():
            layer, val_accuracy = self._train(*(_select(rows, labels, nodes) for nodes in (split.train, split.val)))
            test = _select(rows, labels, split.test)
            scores = test.rows @ layer.weights
        auc = two_class_auc(test.labels, scores, layer.classes)
        predicted = choose_class(scores, layer.classes)
        return SplitScore(*accuracy_and_f1(predicted, test.labels), val_accuracy=val_accuracy, roc_auc=auc)

    def _train(self, train: _Examples, val: _Examples) -> tuple[_Layer, float]:
        """Return the layer after its best epoch, and its validation accuracy.

        The layers of all weight decays are trained at once, and the gradient is written out: for matrices this small,
        torch's autograd takes four times as long as their products.
        """
        classes, targets = np.unique(train.labels, return_inverse=True)
        one_hot = np.eye(len(classes))[targets]
        # Validation nodes of a class without training nodes are errors.
        known = np.isin(val.labels, classes)
        val_rows, val_targets = val.rows[known], np.searchsorted(classes, val.labels[known])
        adam = _Adam((len(self.weight_decays), train.rows.shape[1], len(classes)), self)
        best_weights, best = np.zeros(adam.weights.shape[1:]), (-1.0, 0.0)
        for _ in range(self.epochs):
            adam.step(train.rows.T @ (softmax(train.rows @ adam.weights, axis=2) - one_hot) / len(one_hot))
            scores = val_rows @ adam.weights  # (n_decays, n_val, n_classes)
            accuracies = (scores.argmax(axis=2) == val_targets).sum(axis=1) / len(known)
            for at in np.flatnonzero(accuracies >= best[0]):
                quality = (float(accuracies[at]), -_cross_entropy(scores[at], val_targets))
                if quality > best:
                    best_weights, best = adam.weights[at].copy(), quality
        return _Layer(best_weights, classes), best[0]


class _Examples(NamedTuple):
    rows: Floats  # the last column is 1, so that the last row of the weights is the bias
    labels: IntArray


def _select(rows: Any, labels: IntArray, nodes: IntArray) -> _Examples:
    return _Examples(np.hstack([to_dense(rows[nodes]), np.ones((len(nodes), 1))]), labels[nodes])


class _Layer(NamedTuple):
    weights: Floats  # (n_components + 1, n_classes)
    classes: IntArray


def _cross_entropy(scores: Floats, targets: IntArray) -> float:
    if not len(targets):
        return 0.0
    return -float(log_softmax(scores, axis=1)[np.arange(len(targets)), targets].mean())


class _Adam:
    """Layers that start at zero, (n_decays, n_components + 1, n_classes), and the state of Adam for each."""

    def __init__(self, shape: tuple[int, int, int], probe: DGIProbe) -> None:
        self.weights, self._mean, self._square = (np.zeros(shape) for _ in range(3))
        self._decays = np.reshape(probe.weight_decays, (-1, 1, 1))
        self._learning_rate = probe.learning_rate
        self._n_steps = 0

    def step(self, gradient: Floats) -> None:
        self._n_steps += 1
        gradient = gradient + self._decays * self.weights
        beta1, beta2 = BETAS
        self._mean += (1 - beta1) * (gradient - self._mean)
        self._square += (1 - beta2) * (gradient**2 - self._square)
        scale = np.sqrt(self._square / (1 - beta2**self._n_steps)) + EPSILON
        self.weights -= self._learning_rate / (1 - beta1**self._n_steps) * self._mean / scale
