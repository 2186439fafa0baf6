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
    # The authors train for 10,000 epochs, of these graphs on CoauthorCS alone. Percent of validation nodes by epochs,
    # by graphprox tune DATASET --method bgrl --over epochs=... --splits 20
    #
    #                25    50    100   300   1,000 2,000
    #   Cora               81.8  81.9  82.2  82.8
    #   CiteSeer     69.6  69.9  68.7  68.1
    #   PubMed                               86.1  86.6
    #   DBLP               81.0  81.4  82.5  83.7  84.1
    #   ACM          89.6  90.2  89.0  88.3
    #   CoauthorCS               93.0  93.1
    #   BlogCatalog        79.1  80.0  78.9
    #   Actor              27.6  27.9  27.9
    #   Texas        55.6  55.6  55.0  54.2  53.9
    #   Wisconsin    53.6  53.4  52.8  50.6
    #
    # More do better yet, perhaps. On two cores 2,000 take 44 minutes on PubMed and 30 on DBLP, reckoned from twenty by
    # graphprox embed DATASET --method bgrl --set epochs=20 --out vectors.npy
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "Cora": {"epochs": 1000},
        "CiteSeer": {"epochs": 50},
        "PubMed": {"epochs": 2000},
        "DBLP": {"epochs": 2000},
        "ACM": {"epochs": 50},
        "Actor": {"epochs": 100},
        "BlogCatalog": {"epochs": 100},
        **{name: {"epochs": 50} for name in ("Texas", "Cornell", "Cornell-2021", "Wisconsin")},
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
