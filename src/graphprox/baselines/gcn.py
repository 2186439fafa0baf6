"""GCN: two layers, each a mean over neighbours, learned from the classes of some nodes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from graphprox.arrays import IntArray
from graphprox.baselines.base import About, ClassifyingBaseline, setting
from graphprox.baselines.neural import Tensors, gcn_edges, seeded
from graphprox.baselines.supervised import Lesson, after_dropout, features_of, learn
from graphprox.graph import Graph
from graphprox.nn import convolutions
from graphprox.proximity.descriptors import Progress
from graphprox.splits import NodeSplit


@dataclass(frozen=True)
class GCN(ClassifyingBaseline):
    """Two layers of GCN, trained by the cross-entropy of training nodes.

    >>> from graphprox import random_split, synthetic
    >>> graph = synthetic(nodes=140)
    >>> GCN(epochs=2).predict(graph, random_split(graph, seed=0), seed=0).shape
    (140,)
    """

    about = About(
        title="GCN",
        group="semi-supervised",
        uses="AXY",
        paper="Kipf and Welling, Semi-Supervised Classification with Graph Convolutional Networks, ICLR 2017",
        summary="two layers of weighted means over neighbours, trained on labelled nodes",
    )

    # The usual decay keeps a layer from learning thousands of features, validation nodes say: graphprox tune
    # BlogCatalog --method gcn --over weight_decay=5e-4,5e-5,5e-6 --over width=16,64 --splits 1.
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "CoauthorCS": {"width": 64, "weight_decay": 5e-5},
        "BlogCatalog": {"width": 64, "weight_decay": 5e-6},
    }

    width: int = setting(16, least=1)
    # The authors' 200 end too early where classes are not alike in size, validation nodes say, by nearly four points on
    # Cora: graphprox tune Cora --method gcn --over epochs=200,1000.
    epochs: int = setting(1000, least=1)
    patience: int = setting(100, least=1)
    learning_rate: float = setting(1e-2, least=0)
    weight_decay: float = setting(5e-4, least=0)  # of the first layer; the second has none
    dropout: float = setting(0.5, least=0, most=0.99)

    def predict(self, graph: Graph, split: NodeSplit, seed: int, *, progress: Progress | None = None) -> IntArray:
        """Train until the validation nodes say stop, and classify."""
        lesson = Lesson.of(graph, split)
        with seeded(seed) as rng:
            tensors = Tensors(features_of(lesson.graph), gcn_edges(lesson.graph))
            network = _Network(tensors.features.shape[1], self.width, lesson.num_classes, self.dropout, rng)
            learned = learn(
                network,
                lambda: network(tensors),
                lesson,
                epochs=self.epochs,
                patience=self.patience,
                learning_rate=self.learning_rate,
                decays=[(network.first.parameters(), self.weight_decay), (network.second.parameters(), 0.0)],
                progress=progress,
            )
        return lesson.classes_of(learned.scores)


class _Network(nn.Module):
    """From features to scores, (nodes, classes)."""

    def __init__(self, features: int, width: int, classes: int, dropout: float, rng: torch.Generator) -> None:
        super().__init__()
        self.first = convolutions.GCN(features, width, rng=rng)
        self.second = convolutions.GCN(width, classes, rng=rng)
        self.dropout = dropout

    def forward(self, tensors: Tensors) -> Tensor:
        times = after_dropout(tensors.features, self.dropout, training=self.training)
        hidden = self.first.propagate(self.first.project(times), tensors.edges).relu()
        hidden = functional.dropout(hidden, self.dropout, self.training)
        return self.second.propagate(self.second.project(hidden.mm), tensors.edges)
