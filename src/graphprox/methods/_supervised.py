"""Parts of semi-supervised classifiers: the task without labels of test nodes, dropout of features, training."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor, nn
from torch.nn import functional

from graphprox._utils.arrays import IntArray
from graphprox._utils.memory import keep_freed_memory
from graphprox._utils.progress import Progress
from graphprox.errors import GraphError, ParameterError, TrainingError
from graphprox.graph.graph import UNKNOWN_LABEL, Graph
from graphprox.graph.splits import NodeSplit
from graphprox.nn.convolution import MatMul
from graphprox.nn.features import FeatureMatrix
from graphprox.nn.sparse import SparsePattern

SPARSE_BELOW = 0.25  # share of nonzero features below which dropout is faster on a sparse matrix

ParameterGroup = tuple[Iterable[nn.Parameter], float]  # parameters and their weight decay


# -- the task -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class LabeledNodes:
    """Nodes of one part of a split, with their classes.

    Parameters
    ----------
    nodes : Tensor of shape (n_part,)
    targets : Tensor of shape (n_part,)
        Index of the class of each node.
    """

    nodes: Tensor
    targets: Tensor

    def loss(self, scores: Tensor) -> Tensor:
        """Return the mean cross-entropy of scores of all nodes, (num_nodes, n_classes)."""
        return functional.cross_entropy(scores[self.nodes], self.targets)

    def accuracy(self, scores: Tensor) -> float:
        """Return the accuracy of scores of all nodes, (num_nodes, n_classes)."""
        return float((scores[self.nodes].argmax(1) == self.targets).double().mean())


class ValScore(NamedTuple):
    """Validation score, which compares by accuracy first and then by cross-entropy; higher is better."""

    accuracy: float
    negative_loss: float


@dataclass(frozen=True, eq=False)
class SupervisedTask:
    """What a classifier may use: the graph without labels, and the classes of training and validation nodes.

    Labels of all other nodes are ignored by construction.

    Parameters
    ----------
    graph : Graph
        Graph without labels.
    classes : ndarray of shape (n_classes,)
        Sorted labels of training and validation nodes.
    train, val : LabeledNodes

    Examples
    --------
    >>> graph = Graph(x=[[1], [2], [3], [4]], edge_index=[[0], [1]], y=[5, 2, 2, 7])
    >>> task = SupervisedTask.of(graph, NodeSplit(train=[0, 1], val=[2], test=[3]))
    >>> task.classes.tolist(), task.train.targets.tolist(), task.val.targets.tolist()
    ([2, 5], [1, 0], [0])
    """

    graph: Graph
    classes: IntArray
    train: LabeledNodes
    val: LabeledNodes

    @classmethod
    def of(cls, graph: Graph, split: NodeSplit) -> SupervisedTask:
        """Return the task of a graph with labels and a split.

        Parameters
        ----------
        graph : Graph
        split : NodeSplit

        Returns
        -------
        SupervisedTask

        Raises
        ------
        GraphError
            If labels are missing, or there is only one class among training nodes.
        ParameterError
            If the split does not fit the graph.
        """
        if graph.y is None:
            raise GraphError("a classifier needs a graph with labels; got one without: give y")
        for name, nodes in (("training", split.train), ("validation", split.val)):
            _check_part(graph.y, nodes, name)
        if len(np.unique(graph.y[split.train])) < 2:
            raise GraphError("a classifier needs training nodes of at least two classes; got one class")
        labels = [graph.y[split.train], graph.y[split.val]]
        classes, targets = np.unique(np.concatenate(labels), return_inverse=True)
        train, val = (
            LabeledNodes(torch.tensor(nodes), torch.tensor(part))
            for nodes, part in zip((split.train, split.val), np.split(targets, [len(split.train)]), strict=True)
        )
        return cls(graph.without_labels(), classes, train, val)

    @property
    def num_classes(self) -> int:
        """Number of classes."""
        return len(self.classes)

    def score_val(self, scores: Tensor) -> ValScore:
        """Return the validation score.

        Parameters
        ----------
        scores : Tensor of shape (num_nodes, n_classes)

        Returns
        -------
        ValScore

        Raises
        ------
        TrainingError
            If the validation loss is not finite.
        """
        loss = float(self.val.loss(scores))
        if not np.isfinite(loss):
            raise TrainingError(
                f"training diverged: the validation loss must be finite; it became {loss}: lower learning_rate"
            )
        return ValScore(self.val.accuracy(scores), -loss)


def _check_part(labels: IntArray, nodes: IntArray, name: str) -> None:
    """Raise unless a part of a split has nodes of the graph, all with a label."""
    if len(nodes) and nodes[-1] >= len(labels):
        raise ParameterError(
            f"a split must contain nodes 0..{len(labels) - 1} of the graph; got node {nodes[-1]}: "
            "was it made for another graph?"
        )
    if len(nodes) == 0:
        raise GraphError(f"a classifier needs {name} nodes; the split has none: give some")
    unlabeled = nodes[labels[nodes] == UNKNOWN_LABEL]
    if len(unlabeled):
        raise GraphError(f"a classifier needs {name} nodes with labels; node {unlabeled[0]} has none")


# -- dropout of features --------------------------------------------------------------------------------------------


def to_feature_matrix(graph: Graph) -> FeatureMatrix:
    """Return the features with rows of sum 1, dense or sparse, whichever makes dropout faster.

    Parameters
    ----------
    graph : Graph

    Returns
    -------
    FeatureMatrix
    """
    features = FeatureMatrix.of(graph.x, normalize="rows")
    if features.dense is None or torch.count_nonzero(features.dense) >= SPARSE_BELOW * features.dense.numel():
        return features
    # Sampling a number for each entry of a dense matrix takes longer than its product: five times as long on PubMed.
    matrix = sp.csr_array(features.dense.numpy())
    return FeatureMatrix(features.shape, None, SparsePattern.of(matrix), torch.tensor(matrix.data))


def with_feature_dropout(features: FeatureMatrix, dropout: float, *, training: bool) -> MatMul:
    """Return a function that multiplies features, with dropout in training, by a weight.

    In sparse features, only stored entries are dropped: the others are zero anyway.

    Parameters
    ----------
    features : FeatureMatrix
    dropout : float
        Probability that an entry is dropped.
    training : bool

    Returns
    -------
    callable
    """
    if not training or dropout == 0:
        return features.matmul
    dense, values = (
        None if part is None else functional.dropout(part, dropout) for part in (features.dense, features.values)
    )
    return replace(features, dense=dense, values=values).matmul


# -- training -------------------------------------------------------------------------------------------------------


def train_classifier(
    network: nn.Module,
    compute_scores: Callable[[], Tensor],
    task: SupervisedTask,
    *,
    epochs: int,
    patience: int,
    learning_rate: float,
    parameter_groups: Sequence[ParameterGroup],
    progress: Progress | None = None,
) -> ValScore:
    """Train a network by Adam, one step per epoch, and keep the weights of its best epoch.

    The best epoch has the highest validation accuracy, and among equals the lowest validation cross-entropy.

    Parameters
    ----------
    network : Module
        Left in evaluation mode, with the weights of the best epoch.
    compute_scores : callable
        Returns the scores of all nodes, (num_nodes, n_classes).
    task : SupervisedTask
    epochs : int
        Largest number of epochs, at least 1.
    patience : int
        Number of epochs without a new highest accuracy or a new lowest cross-entropy after which training stops.
    learning_rate : float
    parameter_groups : sequence of (parameters, weight_decay)
    progress : callable, optional

    Returns
    -------
    ValScore
        Validation score of the best epoch.
    """
    optimizer = torch.optim.Adam(
        [{"params": list(parameters), "weight_decay": decay} for parameters, decay in parameter_groups],
        lr=learning_rate,
    )
    best, best_weights = ValScore(-float("inf"), -float("inf")), network.state_dict()
    highest_negative_loss, epochs_since = -float("inf"), 0
    with keep_freed_memory():
        for epoch in range(epochs):
            network.train()
            optimizer.zero_grad()
            task.train.loss(compute_scores()).backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            network.eval()
            with torch.no_grad():
                score = task.score_val(compute_scores())
            is_progress = score.accuracy > best.accuracy or score.negative_loss > highest_negative_loss
            epochs_since = 0 if is_progress else epochs_since + 1
            highest_negative_loss = max(highest_negative_loss, score.negative_loss)
            if score > best:
                best, best_weights = score, copy.deepcopy(network.state_dict())
            if progress is not None:
                progress("training", epoch + 1, epochs)
            if epochs_since == patience:
                break
    network.load_state_dict(best_weights)
    return best
