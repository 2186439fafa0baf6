"""GAT: two layers, each a mean over neighbours weighed by attention, learned from the classes of some nodes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from graphprox.arrays import IntArray
from graphprox.baselines.base import About, ClassifyingBaseline, setting
from graphprox.baselines.neural import seeded
from graphprox.baselines.supervised import Lesson, after_dropout, features_of, learn
from graphprox.graph import Graph
from graphprox.nn.convolutions import (
    CONVOLUTIONS,
    NEGATIVE_SLOPE,
    Project,
    attention_factors,
    attention_scorer,
    glorot,
    in_neighbours,
)
from graphprox.nn.features import FeatureMatrix
from graphprox.nn.sparse import Pattern, attend
from graphprox.proximity.descriptors import Progress
from graphprox.splits import NodeSplit


@dataclass(frozen=True)
class GAT(ClassifyingBaseline):
    """Two layers of graph attention, trained by the cross-entropy of training nodes; edge weights play no part.

    >>> from graphprox import random_split, synthetic
    >>> graph = synthetic(nodes=140)
    >>> GAT(epochs=2).predict(graph, random_split(graph, seed=0), seed=0).shape
    (140,)
    """

    about = About(
        title="GAT",
        group="semi-supervised",
        uses="AXY",
        paper="Veličković et al., Graph Attention Networks, ICLR 2018",
        summary="two layers of means over neighbours, weighed by attention, trained on labelled nodes",
    )
    # The usual decay keeps a layer from learning thousands of features, validation nodes say: graphprox tune
    # BlogCatalog --method gat --over weight_decay=5e-4,5e-5 --splits 1.
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "CoauthorCS": {"weight_decay": 5e-5},
        "BlogCatalog": {"weight_decay": 5e-5},
        "PubMed": {"last_heads": 8, "learning_rate": 1e-2, "weight_decay": 1e-3},
    }

    width: int = setting(8, least=1)  # of each head of the first layer
    heads: int = setting(8, least=1)
    last_heads: int = setting(1, least=1)
    epochs: int = setting(1000, least=1)
    patience: int = setting(100, least=1)
    learning_rate: float = setting(5e-3, least=0)
    weight_decay: float = setting(5e-4, least=0)
    dropout: float = setting(0.6, least=0, most=0.99)  # of a layer's input, and of attention

    def predict(self, graph: Graph, split: NodeSplit, seed: int, *, progress: Progress | None = None) -> IntArray:
        """Train until the validation nodes say stop, and classify."""
        lesson = Lesson.of(graph, split)
        with seeded(seed) as rng:
            features = features_of(lesson.graph)
            pattern = _pattern(lesson.graph)
            network = _Network(self, features.shape[1], lesson.num_classes, rng)
            learned = learn(
                network,
                lambda: network(features, pattern),
                lesson,
                epochs=self.epochs,
                patience=self.patience,
                learning_rate=self.learning_rate,
                decays=[(network.parameters(), self.weight_decay)],
                progress=progress,
            )
        return lesson.classes_of(learned.scores)


class _Network(nn.Module):
    """From features to scores, (nodes, classes)."""

    def __init__(self, settings: GAT, features: int, classes: int, rng: torch.Generator) -> None:
        super().__init__()
        hidden = settings.heads * settings.width
        self.dropout = settings.dropout
        self.first = _Attention(features, settings.width, settings.heads, settings.dropout, rng=rng)
        self.second = _Attention(hidden, classes, settings.last_heads, settings.dropout, rng=rng, averaged=True)

    def forward(self, features: FeatureMatrix, pattern: Pattern) -> Tensor:
        hidden = functional.elu(self.first(after_dropout(features, self.dropout, training=self.training), pattern))
        hidden = functional.dropout(hidden, self.dropout, self.training)
        scores: Tensor = self.second(hidden.mm, pattern)
        return scores


class _Attention(nn.Module):
    """PyG's GATConv with its dropout of attention, by the products of our own encoder."""

    def __init__(
        self, inputs: int, width: int, heads: int, dropout: float, *, rng: torch.Generator, averaged: bool = False
    ) -> None:
        super().__init__()
        self.heads, self.dropout, self.averaged = heads, dropout, averaged
        self.weight = glorot(inputs, heads * width, rng=rng)
        self.source, self.target = glorot(heads, width, rng=rng), glorot(heads, width, rng=rng)
        self.bias = nn.Parameter(torch.zeros(width if averaged else heads * width))

    def forward(self, times: Project, pattern: Pattern) -> Tensor:
        """From a layer's input, which ``times`` multiplies by a matrix, to its output."""
        factors = attention_factors(pattern, self.heads, self.dropout) if self.training else None
        scorer = attention_scorer(self.source, self.target)
        by_head = attend(pattern, times(self.weight), scorer, heads=self.heads, slope=NEGATIVE_SLOPE, factors=factors)
        joined = by_head.view(len(by_head), self.heads, -1).mean(1) if self.averaged else by_head
        return joined + self.bias


def _pattern(graph: Graph) -> Pattern:
    """Where the edges are, with one self-loop a node."""
    return CONVOLUTIONS["gat"].edges(in_neighbours(graph.edge_index, None, graph.num_nodes)).pattern
