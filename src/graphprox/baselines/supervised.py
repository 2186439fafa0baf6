"""What classifiers share: which classes they may know, features of which some are dropped, the loop and its end."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor, nn
from torch.nn import functional

from graphprox.arrays import IntArray
from graphprox.errors import GraphError, ParameterError, TrainingError
from graphprox.graph import UNKNOWN_LABEL, Graph
from graphprox.memory import pages_kept
from graphprox.nn.convolutions import Project
from graphprox.nn.features import FeatureMatrix
from graphprox.nn.sparse import Pattern
from graphprox.proximity.descriptors import Progress
from graphprox.splits import NodeSplit

SPARSE_BELOW = 0.25  # the share of filled features below which only those are drawn for

Decay = tuple[Iterable[nn.Parameter], float]  # some parameters, and their weight decay


# -- what may be known ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Pupils:
    """Some nodes, and the position of each one's class among all classes, (nodes of the part,) both."""

    nodes: Tensor
    targets: Tensor

    def loss(self, scores: Tensor) -> Tensor:
        """The mean cross-entropy, from the scores (nodes, classes) of all nodes."""
        return functional.cross_entropy(scores[self.nodes], self.targets)

    def accuracy(self, scores: Tensor) -> float:
        """The share of the nodes whose own class has the highest score."""
        return float((scores[self.nodes].argmax(1) == self.targets).double().mean())


class Learned(NamedTuple):
    """Scores (nodes, classes), and how good they are on validation nodes; more is better."""

    accuracy: float
    negative_loss: float
    scores: Tensor

    @property
    def quality(self) -> tuple[float, float]:
        """By which scores compare: the accuracy first, and where that is the same, the cross-entropy."""
        return self.accuracy, self.negative_loss


@dataclass(frozen=True, eq=False)
class Lesson:
    """All that a classifier may see: the graph without labels, and the classes of training and validation nodes.

    What is made from a lesson cannot depend on the class of any other node. ``classes`` are the numbers of the classes
    that are seen, rising.

    >>> graph = Graph(x=[[1], [2], [3], [4]], edge_index=[[0], [1]], y=[5, 2, 2, 7])
    >>> lesson = Lesson.of(graph, NodeSplit(train=[0, 1], validation=[2], test=[3]))
    >>> lesson.classes.tolist(), lesson.train.targets.tolist(), lesson.validation.targets.tolist()
    ([2, 5], [1, 0], [0])
    """

    graph: Graph
    classes: IntArray
    train: Pupils
    validation: Pupils

    @classmethod
    def of(cls, graph: Graph, split: NodeSplit) -> Lesson:
        """The lesson of a graph; refused where there is nothing to learn from, or to stop by."""
        if graph.y is None:
            raise GraphError("a classifier needs a graph with labels; got one without: give y")
        for name, nodes in (("training", split.train), ("validation", split.validation)):
            _check_part(graph.y, nodes, name)
        if len(np.unique(graph.y[split.train])) < 2:
            raise GraphError("a classifier must learn from two classes or more; got one among the training nodes")
        # From here on the labels of all other nodes are out of reach.
        seen = [graph.y[split.train], graph.y[split.validation]]
        classes, targets = np.unique(np.concatenate(seen), return_inverse=True)
        train, validation = (
            Pupils(torch.tensor(nodes), torch.tensor(part))
            for nodes, part in zip((split.train, split.validation), np.split(targets, [len(split.train)]), strict=True)
        )
        return cls(graph.without_labels(), classes, train, validation)

    @property
    def num_classes(self) -> int:
        """How many classes there are to tell apart."""
        return len(self.classes)

    def judged(self, scores: Tensor) -> Learned:
        """How good the scores of all nodes are on validation nodes; refused unless they are finite there."""
        loss = float(self.validation.loss(scores))
        if not np.isfinite(loss):
            raise TrainingError(f"the loss of validation nodes must be finite; it was {loss}: lower learning_rate")
        return Learned(self.validation.accuracy(scores), -loss, scores)

    def classes_of(self, scores: Tensor) -> IntArray:
        """The class with the highest score for each node."""
        found: IntArray = self.classes[scores.argmax(1).numpy()]
        return found


def _check_part(labels: IntArray, nodes: IntArray, name: str) -> None:
    if len(nodes) and nodes[-1] >= len(labels):
        raise ParameterError(
            f"a split must name nodes 0..{len(labels) - 1} of the graph; got node {nodes[-1]}: "
            "was it made for another graph?"
        )
    if len(nodes) == 0:
        raise GraphError(f"a classifier needs {name} nodes; the split has none: give some")
    unknown = nodes[labels[nodes] == UNKNOWN_LABEL]
    if len(unknown):
        raise GraphError(f"a classifier needs {name} nodes of known classes; that of node {unknown[0]} is not known")


# -- dropout of features ----------------------------------------------------------------------------------------------


def features_of(graph: Graph) -> FeatureMatrix:
    """The features, each row scaled to sum 1, in the form in which dropping some takes the least time."""
    features = FeatureMatrix.of(graph.x, normalize="rows")
    if features.dense is None or torch.count_nonzero(features.dense) >= SPARSE_BELOW * features.dense.numel():
        return features
    # To draw for each entry of a dense matrix takes longer than to multiply it: five times as long on PubMed.
    matrix = sp.csr_array(features.dense.numpy())
    return FeatureMatrix(features.shape, None, Pattern.of(matrix), torch.tensor(matrix.data))


def after_dropout(features: FeatureMatrix, share: float, *, training: bool) -> Project:
    """What multiplies a weight by the features; in training a share of the entries, drawn anew, counts as 0.

    Zeros of sparse features stay zeros whether they are dropped or not: only what is stored is drawn for.
    """
    if not training or share == 0:
        return features.times
    dense, values = (
        None if part is None else functional.dropout(part, share) for part in (features.dense, features.values)
    )
    return replace(features, dense=dense, values=values).times


# -- the loop ---------------------------------------------------------------------------------------------------------


def learn(
    network: nn.Module,
    scores: Callable[[], Tensor],
    lesson: Lesson,
    *,
    epochs: int,
    patience: int,
    learning_rate: float,
    decays: Sequence[Decay],
    progress: Progress | None = None,
) -> Learned:
    """Adam on a network, one step an epoch; what its best epoch gave.

    The best has the highest accuracy on validation nodes, and of several such the lowest cross-entropy. Learning ends
    after ``patience`` epochs in which neither of the two came to a new best.
    """
    optimizer = torch.optim.Adam(
        [{"params": list(parameters), "weight_decay": decay} for parameters, decay in decays], lr=learning_rate
    )
    best: Learned | None = None
    highest, since = -float("inf"), 0
    with pages_kept():
        for epoch in range(epochs):
            network.train()
            optimizer.zero_grad()
            lesson.train.loss(scores()).backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            network.eval()
            with torch.no_grad():
                learned = lesson.judged(scores())
            accuracy, negative_loss, _ = learned
            since = 0 if best is None or accuracy > best.accuracy or negative_loss > highest else since + 1
            highest = max(highest, negative_loss)
            # The scores are kept, not the weights: they are all that anybody asks for, and smaller.
            if best is None or learned.quality > best.quality:
                best = learned
            if progress is not None:
                progress("training", epoch + 1, epochs)
            if since == patience:
                break
    assert best is not None  # noqa: S101 - there is an epoch
    return best
