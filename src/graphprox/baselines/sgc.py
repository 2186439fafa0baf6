"""SGC: a linear classifier of features that are smoothed along edges a few times."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from graphprox.arrays import IntArray
from graphprox.baselines.base import About, ClassifyingBaseline, setting
from graphprox.baselines.neural import Tensors, gcn_edges, minimise
from graphprox.baselines.supervised import Learned, Lesson, features_of
from graphprox.graph import Graph
from graphprox.nn.sparse import product
from graphprox.proximity.descriptors import Progress
from graphprox.splits import NodeSplit

# Which of them to take, validation nodes decide: the authors search this range by a tuner, for each data set.
WEIGHT_DECAYS = (0.0, 1e-6, 3e-6, 1e-5, 3e-5, 1e-4)


@dataclass(frozen=True)
class SGC(ClassifyingBaseline):
    """A logistic regression on features that are smoothed ``hops`` times, without anything in between.

    >>> from graphprox import random_split, synthetic
    >>> graph = synthetic(nodes=140)
    >>> SGC(epochs=2).predict(graph, random_split(graph, seed=0), seed=0).shape
    (140,)
    """

    about = About(
        title="SGC",
        group="semi-supervised",
        uses="AXY",
        paper="Wu et al., Simplifying Graph Convolutional Networks, ICML 2019",
        summary="a linear classifier of features that are smoothed along edges",
    )
    drawn: ClassVar[bool] = False

    hops: int = setting(2, least=1)
    epochs: int = setting(100, least=1)
    learning_rate: float = setting(0.2, least=0)

    def predict(self, graph: Graph, split: NodeSplit, seed: int, *, progress: Progress | None = None) -> IntArray:
        """Train with one weight decay after another, and classify by the one that suits the validation nodes best."""
        del seed  # the problem is convex, and begins at zeros
        lesson = Lesson.of(graph, split)
        tensors = Tensors(features_of(lesson.graph), gcn_edges(lesson.graph))
        tried = [self._learn(lesson, tensors, decay, progress) for decay in WEIGHT_DECAYS]
        return lesson.classes_of(max(tried, key=lambda learned: learned.quality).scores)

    def _learn(self, lesson: Lesson, tensors: Tensors, weight_decay: float, progress: Progress | None) -> Learned:
        network = _Network(tensors.features.shape[1], lesson.num_classes, self.hops)
        minimise(
            network,
            lambda: lesson.train.loss(network(tensors)),
            epochs=self.epochs,
            learning_rate=self.learning_rate,
            weight_decay=weight_decay,
            progress=progress,
        )
        with torch.no_grad():
            return lesson.judged(network(tensors))


class _Network(nn.Module):
    """From features to scores, (nodes, classes)."""

    def __init__(self, features: int, classes: int, hops: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(features, classes))
        self.bias = nn.Parameter(torch.zeros(classes))
        self.hops = hops

    def forward(self, tensors: Tensors) -> Tensor:
        # To smooth what the weight makes of the features is the same, and no wide matrix is ever dense.
        scores = tensors.features.times(self.weight)
        for _ in range(self.hops):
            scores = product(tensors.edges.pattern, tensors.edges.values, scores)
        return scores + self.bias
