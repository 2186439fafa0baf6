"""Graph Barlow Twins: each column is to be the same in two corrupted copies of a graph, and unlike all others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor

from graphprox.arrays import FloatArray
from graphprox.baselines.augment import (
    Copies,
    minimise_along,
    norm_and_prelu,
    standardised,
    warm_cosine,
)
from graphprox.baselines.base import About, EmbeddingBaseline, setting
from graphprox.baselines.neural import GCNLayers, Tensors, as_embedding, seeded
from graphprox.graph import Graph
from graphprox.proximity.descriptors import Progress


@dataclass(frozen=True)
class BarlowTwins(EmbeddingBaseline):
    """Two layers of GCN, trained to make the correlations of two copies' columns the identity.

    >>> from graphprox import synthetic
    >>> BarlowTwins(width=8, hidden=16, epochs=2).embed(synthetic(nodes=140), seed=0).shape
    (140, 8)
    """

    about = About(
        title="Graph Barlow Twins",
        group="later peers",
        uses="AX",
        paper="Bielak et al., Graph Barlow Twins, Knowledge-Based Systems 2022",
        summary="makes each column the same in two corrupted copies of the graph, and unlike all others",
    )
    # Percent of validation nodes by epochs, by
    # graphprox tune DATASET --method barlow-twins --over epochs=... --splits 20
    #
    #                10    25    50    100   300
    #   Cora               83.7  84.3  84.4
    #   CiteSeer     70.8  71.9  71.1  70.8
    #   PubMed                         85.5  86.0
    #   DBLP               82.9  83.6  83.9  84.1
    #   ACM          90.4  90.6  90.5  90.2
    #   BlogCatalog        75.2  75.2  74.7  72.8
    #   Texas        56.4  55.0  54.7  54.2  54.7
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "CiteSeer": {"epochs": 25},
        "PubMed": {"epochs": 300},
        "DBLP": {"epochs": 300},
        "BlogCatalog": {"epochs": 50},
        "CoauthorCS": {
            "edge_drop": 0.3,
            "edge_drop_2": 0.2,
            "feature_mask": 0.3,
            "feature_mask_2": 0.4,
        },
    }

    width: int = setting(256, least=1)
    hidden: int = setting(512, least=1)
    epochs: int = setting(100, least=0)
    warm_up: float = setting(0.1, least=0, most=1)  # the share of epochs in which the learning rate rises
    learning_rate: float = setting(1e-3, least=0)
    weight_decay: float = setting(1e-5, least=0)
    edge_drop: float = setting(0.3, least=0, most=1)
    edge_drop_2: float = setting(0.4, least=0, most=1)  # of the second copy
    feature_mask: float = setting(0.3, least=0, most=1)
    feature_mask_2: float = setting(0.2, least=0, most=1)

    def embed(self, graph: Graph, seed: int, *, progress: Progress | None = None) -> FloatArray:
        """Train, and embed the graph as it is."""
        with seeded(seed) as rng:
            tensors = Tensors.of(graph)
            widths = [tensors.features.shape[1], self.hidden, self.width]
            encoder = GCNLayers(widths, rng=rng, activation=norm_and_prelu)
            copies = Copies(graph, tensors, seed)

            def loss() -> Tensor:
                first = copies.draw(edges=self.edge_drop, features=self.feature_mask)
                second = copies.draw(edges=self.edge_drop_2, features=self.feature_mask_2)
                a, b = (encoder(tensors.features, *each) for each in (first, second))
                return redundancy_loss(a, b)

            minimise_along(
                encoder,
                loss,
                lambda epoch: self.learning_rate * warm_cosine(epoch, self.epochs, int(self.warm_up * self.epochs)),
                epochs=self.epochs,
                weight_decay=self.weight_decay,
                progress=progress,
            )
            with torch.no_grad():
                return as_embedding(encoder(tensors.features, tensors.edges))


def redundancy_loss(a: Tensor, b: Tensor) -> Tensor:
    """How far the correlations of two copies' columns are from the identity, squared; others than a column's own are
    so many more that they are divided by the number of columns.
    """
    nodes, width = a.shape
    correlations = standardised(a).T @ standardised(b) / nodes
    own = correlations.diagonal()
    others = correlations.square().sum() - own.square().sum()
    return (1 - own).square().sum() + others / width
