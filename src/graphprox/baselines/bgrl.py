"""BGRL: one copy of a graph is to tell what a slower encoder makes of another; no node is held against another."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from graphprox.arrays import FloatArray
from graphprox.baselines.augment import Copies, minimise_along, norm_and_prelu, warm_cosine
from graphprox.baselines.base import About, EmbeddingBaseline, setting
from graphprox.baselines.neural import GCNLayers, Tensors, as_embedding, seeded
from graphprox.graph import Graph
from graphprox.nn.encoder import PReLU
from graphprox.nn.head import Linear
from graphprox.proximity.descriptors import Progress


@dataclass(frozen=True)
class BGRL(EmbeddingBaseline):
    """Two layers of GCN, trained to tell from one copy of the graph what their own average makes of another.

    >>> from graphprox import synthetic
    >>> BGRL(width=8, hidden=16, epochs=2).embed(synthetic(nodes=140), seed=0).shape
    (140, 8)
    """

    about = About(
        title="BGRL",
        group="later peers",
        uses="AX",
        paper="Thakoor et al., Large-Scale Representation Learning on Graphs via Bootstrapping, ICLR 2022",
        summary="tells from one corrupted copy of the graph what a slower encoder makes of another",
    )
    # The authors train for 10,000 epochs, on larger graphs than these. On validation nodes of Cora, those of its public
    # split among them, 1,000 do better than 300, and 300 better than 100; on those of Texas 200 do as well as 1,000.
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "Cora": {"epochs": 1000},
        "CiteSeer": {"epochs": 1000},
        "CoauthorCS": {
            "edge_drop": 0.3,
            "edge_drop_2": 0.2,
            "feature_mask": 0.3,
            "feature_mask_2": 0.4,
        },
    }

    width: int = setting(256, least=1)
    hidden: int = setting(512, least=1)
    predictor: int = setting(512, least=1)  # the width of the layer between embedding and prediction
    epochs: int = setting(300, least=0)
    warm_up: float = setting(0.1, least=0, most=1)  # the share of epochs in which the learning rate rises
    learning_rate: float = setting(5e-4, least=0)
    weight_decay: float = setting(1e-5, least=0)
    momentum: float = setting(0.99, least=0, most=1)  # of the slower encoder; it rises to 1 along half a cosine
    edge_drop: float = setting(0.3, least=0, most=1)
    edge_drop_2: float = setting(0.4, least=0, most=1)  # of the second copy
    feature_mask: float = setting(0.3, least=0, most=1)
    feature_mask_2: float = setting(0.2, least=0, most=1)

    def embed(self, graph: Graph, seed: int, *, progress: Progress | None = None) -> FloatArray:
        """Train, and embed the graph as it is."""
        with seeded(seed) as rng:
            tensors = Tensors.of(graph)
            widths = [tensors.features.shape[1], self.hidden, self.width]
            encoder = GCNLayers(widths, rng=rng, activation=norm_and_prelu, last=True)
            predictor = nn.Sequential(
                Linear(self.width, self.predictor, rng=rng),
                PReLU(self.predictor),
                Linear(self.predictor, self.width, rng=rng),
            )
            slower = copy.deepcopy(encoder).requires_grad_(False)
            copies = Copies(graph, tensors, seed)

            def loss() -> Tensor:
                first = copies.draw(edges=self.edge_drop, features=self.feature_mask)
                second = copies.draw(edges=self.edge_drop_2, features=self.feature_mask_2)
                told = [predictor(encoder(tensors.features, *each)) for each in (first, second)]
                truth = [slower(tensors.features, *each) for each in (second, first)]
                return bootstrap_loss(told[0], truth[0]) + bootstrap_loss(told[1], truth[1])

            minimise_along(
                nn.ModuleList([encoder, predictor]),
                loss,
                lambda epoch: self.learning_rate * warm_cosine(epoch, self.epochs, int(self.warm_up * self.epochs)),
                epochs=self.epochs,
                weight_decay=self.weight_decay,
                after_step=lambda epoch: follow(slower, encoder, self._momentum(epoch)),
                progress=progress,
            )
            with torch.no_grad():
                return as_embedding(encoder(tensors.features, tensors.edges))

    def _momentum(self, epoch: int) -> float:
        return 1 - (1 - self.momentum) * warm_cosine(epoch, self.epochs)


def bootstrap_loss(told: Tensor, truth: Tensor) -> Tensor:
    """1 less the mean cosine of what is told of each node and what is true."""
    return 1 - functional.cosine_similarity(told, truth).mean()


@torch.no_grad()
def follow(slower: nn.Module, encoder: nn.Module, momentum: float) -> None:
    """Each weight of the slower module goes a part of the way to the other's, the smaller the greater the momentum."""
    for mine, theirs in zip(slower.parameters(), encoder.parameters(), strict=True):
        mine.lerp_(theirs, 1 - momentum)
