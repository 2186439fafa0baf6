"""ARVGA: a variational autoencoder whose vectors must pass, before a discriminator, for draws of a normal law."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from graphprox.arrays import FloatArray
from graphprox.baselines.base import About, EmbeddingBaseline, setting
from graphprox.baselines.gae import Distributions, InnerProducts, NonEdges, edges_and_loops
from graphprox.baselines.neural import Tensors, as_embedding, minimise, seeded
from graphprox.graph import Graph
from graphprox.proximity.descriptors import Progress


@dataclass(frozen=True)
class ARVGA(EmbeddingBaseline):
    """A variational autoencoder of edges, and a discriminator that learns to tell its vectors from normal ones.

    >>> from graphprox import synthetic
    >>> ARVGA(width=8, epochs=2).embed(synthetic(nodes=140), seed=0).shape
    (140, 8)
    """

    about = About(
        title="ARVGA",
        group="autoencoders",
        uses="AX",
        paper="Pan et al., Adversarially Regularized Graph Autoencoder for Graph Embedding, IJCAI 2018",
        summary="a variational autoencoder whose vectors must pass for draws of a normal law",
    )
    # Five times the rate tells more of Cora's validation edges and classes, and fewer of CiteSeer's classes.
    presets: ClassVar = {
        "Cora": {"learning_rate": 5e-3},
        "PubMed": {"epochs": 2000, "discriminator_rate": 8e-3},
    }

    width: int = setting(16, least=1)
    hidden: int = setting(32, least=1)
    discriminator: int = setting(64, least=1)  # the width of its hidden layers
    discriminator_steps: int = setting(1, least=0)  # in every epoch
    discriminator_rate: float = setting(1e-3, least=0)
    epochs: int = setting(200, least=0)
    learning_rate: float = setting(1e-3, least=0)
    normalize: str = setting("none", among=("rows", "none"))

    def embed(self, graph: Graph, seed: int, *, progress: Progress | None = None) -> FloatArray:
        """Train by PyG's objectives, and embed."""
        from torch_geometric.nn import ARGVA

        with seeded(seed) as rng:
            tensors = Tensors.of(graph, normalize=self.normalize)
            edges, others = edges_and_loops(graph), NonEdges.of(graph)
            encoder = Distributions(tensors.features.shape[1], self.hidden, self.width, rng)
            model = ARGVA(encoder, _discriminator(self.width, self.discriminator), InnerProducts())
            optimizer = torch.optim.Adam(model.discriminator.parameters(), lr=self.discriminator_rate)

            def loss() -> Tensor:
                z = model.encode(tensors.features, tensors.edges)
                for _ in range(self.discriminator_steps):
                    _discern(model, z, optimizer)
                reconstruction = model.recon_loss(z, edges, others.draw(edges.shape[1], rng))
                total: Tensor = reconstruction + model.reg_loss(z) + model.kl_loss() / graph.num_nodes
                return total

            minimise(
                model,
                loss,
                epochs=self.epochs,
                learning_rate=self.learning_rate,
                parameters=encoder.parameters(),
                progress=progress,
            )
            with torch.no_grad():
                return as_embedding(model.encode(tensors.features, tensors.edges))


def _discriminator(width: int, hidden: int) -> nn.Module:
    layers = (nn.Linear(width, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, 1))
    return nn.Sequential(*layers)


def _discern(model: Any, z: Tensor, optimizer: torch.optim.Optimizer) -> None:
    """A step of the discriminator; what the encoder's own loss left in its gradients is forgotten first."""
    optimizer.zero_grad()
    model.discriminator_loss(z).backward()
    optimizer.step()
