"""CCA-SSG: two corrupted copies of a graph are to look alike, and no two columns of a copy are to say the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from graphprox.arrays import FloatArray
from graphprox.baselines.augment import BatchNorm, Copies, standardised
from graphprox.baselines.base import About, EmbeddingBaseline, setting
from graphprox.baselines.neural import GCNLayers, Tensors, as_embedding, minimise, seeded
from graphprox.graph import Graph
from graphprox.nn.convolutions import Dense, Edges
from graphprox.nn.features import FeatureMatrix
from graphprox.nn.head import Linear
from graphprox.proximity.descriptors import Progress


@dataclass(frozen=True)
class CCASSG(EmbeddingBaseline):
    """Layers of GCN, or of none, trained by canonical correlation of two copies of the graph.

    >>> from graphprox import synthetic
    >>> CCASSG(width=8, epochs=2).embed(synthetic(nodes=140), seed=0).shape
    (140, 8)
    """

    about = About(
        title="CCA-SSG",
        group="later peers",
        uses="AX",
        paper="Zhang et al., From Canonical Correlation Analysis to Self-supervised GNNs, NeurIPS 2021",
        summary="makes two corrupted copies of the graph agree, with columns that do not correlate",
    )
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "CiteSeer": {"layers": 1, "epochs": 20, "decorrelation": 5e-4, "feature_mask": 0.0},
        "PubMed": {"epochs": 100, "feature_mask": 0.3, "edge_drop": 0.5},
        "CoauthorCS": {"encoder": "mlp", "feature_mask": 0.2},
    }

    width: int = setting(512, least=1)
    layers: int = setting(2, least=1)
    encoder: str = setting("gcn", among=("gcn", "mlp"))
    epochs: int = setting(50, least=0)
    learning_rate: float = setting(1e-3, least=0)
    decorrelation: float = setting(1e-3, least=0)  # the weight lambda of the second half of the loss
    feature_mask: float = setting(0.1, least=0, most=1)
    edge_drop: float = setting(0.4, least=0, most=1)

    def embed(self, graph: Graph, seed: int, *, progress: Progress | None = None) -> FloatArray:
        """Train, and embed the graph as it is."""
        with seeded(seed) as rng:
            tensors = Tensors.of(graph)
            kind = GCNLayers if self.encoder == "gcn" else _Dense
            encoder = kind([tensors.features.shape[1], *[self.width] * self.layers], rng=rng)
            copies = Copies(graph, tensors, seed)
            edge_drop = self.edge_drop if self.encoder == "gcn" else 0  # to draw edges that no one looks at takes time

            def loss() -> Tensor:
                drawn = (copies.draw(edges=edge_drop, features=self.feature_mask) for _ in range(2))
                a, b = (encoder(tensors.features, copy.edges, copy.kept) for copy in drawn)
                return correlation_loss(a, b, self.decorrelation)

            minimise(encoder, loss, epochs=self.epochs, learning_rate=self.learning_rate, progress=progress)
            with torch.no_grad():
                return as_embedding(encoder(tensors.features, tensors.edges))


def correlation_loss(a: Tensor, b: Tensor, decorrelation: float) -> Tensor:
    """How far two copies are apart, and, weighted, how far the columns of each are from being uncorrelated."""
    a, b = (standardised(h) / len(h) ** 0.5 for h in (a, b))
    correlations = sum((_correlated(h) for h in (a, b)), a.new_zeros(()))
    return (a - b).square().sum() + decorrelation * correlations


def _correlated(h: Tensor) -> Tensor:
    identity = torch.eye(h.shape[1])
    return (h.T @ h - identity).square().sum()


class _Dense(nn.Module):
    """Layers without edges, batch norm and ReLU between them."""

    def __init__(self, widths: list[int], *, rng: torch.Generator) -> None:
        super().__init__()
        first, *rest = pairwise(widths)
        self.first = Dense(*first, rng=rng)
        self.rest = nn.Sequential(
            *(nn.Sequential(BatchNorm(ends[0]), nn.ReLU(), Linear(*ends, rng=rng)) for ends in rest)
        )

    def forward(self, features: FeatureMatrix, edges: Edges, kept: Tensor | None = None) -> Tensor:
        """(nodes, width), from features of which only those ``kept`` count."""
        times = features.times if kept is None else lambda weight: features.times(weight * kept[:, None])
        h: Tensor = self.rest(self.first.propagate(self.first.project(times), edges))
        return h
