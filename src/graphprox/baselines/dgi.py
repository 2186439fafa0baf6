"""Deep Graph Infomax: a node's vector is to tell that it belongs to the graph's summary, and a shuffled one's not."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from graphprox.arrays import FloatArray
from graphprox.baselines.base import About, EmbeddingBaseline, setting
from graphprox.baselines.neural import Tensors, as_embedding, minimise, seeded
from graphprox.graph import Graph
from graphprox.nn.convolutions import GCN, Edges
from graphprox.nn.encoder import PReLU
from graphprox.nn.features import FeatureMatrix
from graphprox.proximity.descriptors import Progress


@dataclass(frozen=True)
class DGI(EmbeddingBaseline):
    """One layer of GCN, trained to tell the graph's nodes from those of the graph with shuffled features.

    >>> from graphprox import synthetic
    >>> DGI(width=8, epochs=2).embed(synthetic(nodes=140), seed=0).shape
    (140, 8)
    """

    about = About(
        title="DGI",
        group="contrast",
        uses="AX",
        paper="Veličković et al., Deep Graph Infomax, ICLR 2019",
        summary="tells nodes of the graph from nodes with shuffled features, by a summary of the graph",
    )

    width: int = setting(512, least=1)
    epochs: int = setting(10_000, least=0)
    patience: int = setting(20, least=1)
    learning_rate: float = setting(1e-3, least=0)

    def embed(self, graph: Graph, seed: int, *, progress: Progress | None = None) -> FloatArray:
        """Train by PyG's objective, and embed."""
        from torch_geometric.nn import DeepGraphInfomax

        with seeded(seed) as rng:
            tensors = Tensors.of(graph)
            encoder = _Encoder(tensors.features.shape[1], self.width, rng)
            model = DeepGraphInfomax(self.width, encoder, _summary, _shuffled)
            minimise(
                model,
                lambda: model.loss(*model(encoder.project(tensors.features), tensors.edges)),
                epochs=self.epochs,
                patience=self.patience,
                learning_rate=self.learning_rate,
                progress=progress,
            )
            with torch.no_grad():
                return as_embedding(encoder(encoder.project(tensors.features), tensors.edges))


class _Encoder(nn.Module):
    """One layer of GCN, in two halves.

    To shuffle what the weight made of the rows is to shuffle the rows. So both graphs share the first half, which takes
    most of the time.
    """

    def __init__(self, features: int, width: int, rng: torch.Generator) -> None:
        super().__init__()
        self.convolution = GCN(features, width, rng=rng)
        self.activation = PReLU(width)

    def project(self, features: FeatureMatrix) -> Tensor:
        return self.convolution.project(features.times)

    def forward(self, projected: Tensor, edges: Edges) -> Tensor:
        h: Tensor = self.activation(self.convolution.propagate(projected, edges))
        return h


def _summary(positive: Tensor, *_: object) -> Tensor:
    return torch.sigmoid(positive.mean(0))


def _shuffled(projected: Tensor, edges: Edges) -> tuple[Tensor, Edges]:
    return projected[torch.randperm(len(projected))], edges
