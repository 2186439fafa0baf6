"""GAE and VGAE: autoencoders whose vectors are to tell, by inner products, which nodes are joined."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from graphprox.arrays import FloatArray
from graphprox.baselines.base import About, EmbeddingBaseline, setting
from graphprox.baselines.neural import GCNLayers, Tensors, as_embedding, edge_index_of, minimise, seeded
from graphprox.errors import GraphError
from graphprox.graph import Graph
from graphprox.nn.convolutions import GCN, Edges
from graphprox.nn.features import FeatureMatrix
from graphprox.nn.pairs import pair_products
from graphprox.proximity.descriptors import Progress


@dataclass(frozen=True)
class GAE(EmbeddingBaseline):
    """Two layers of GCN, trained to give joined nodes a high inner product and others a low one.

    >>> from graphprox import synthetic
    >>> GAE(width=8, epochs=2).embed(synthetic(nodes=140), seed=0).shape
    (140, 8)
    """

    about = About(
        title="GAE",
        group="autoencoders",
        uses="AX",
        paper="Kipf and Welling, Variational Graph Auto-Encoders, NeurIPS workshop 2016",
        summary="two layers of GCN whose inner products tell joined nodes from others",
    )

    # The authors' layers are 32 and 16 wide and see features as they are, which is for telling edges. Of classes wider
    # layers tell more, and features of rows that sum to 1, by ten points on validation nodes of CiteSeer:
    # graphprox tune CiteSeer --method gae --over normalize=none,rows --over hidden=32,256 --over width=16,64 --splits 3
    # On BlogCatalog, of 66 neighbours a node, GAE then gives all nodes one vector from most seeds. Of validation nodes
    # GAE tells 74 % and VGAE 75 % as below; 64 and 58 % at a rate of 1e-2; 50 and 61 % with scaled rows, by
    # graphprox tune BlogCatalog --method gae --over normalize=none,rows --over learning_rate=1e-2,1e-3 --splits 20
    # and with vgae in its place.
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {"BlogCatalog": {"normalize": "none", "learning_rate": 1e-3}}

    width: int = setting(64, least=1)
    hidden: int = setting(256, least=1)
    epochs: int = setting(200, least=0)
    learning_rate: float = setting(1e-2, least=0)
    normalize: str = setting("rows", among=("rows", "none"))

    def embed(self, graph: Graph, seed: int, *, progress: Progress | None = None) -> FloatArray:
        """Train by PyG's objective, and embed."""
        with seeded(seed) as rng:
            tensors = Tensors.of(graph, normalize=self.normalize)
            edges, others = edges_and_loops(graph), NonEdges.of(graph)
            model = self._model(tensors.features.shape[1], rng)

            def loss() -> Tensor:
                z = model.encode(tensors.features, tensors.edges)
                return self._loss(model, z, edges, others.draw(edges.shape[1], rng))

            minimise(model, loss, epochs=self.epochs, learning_rate=self.learning_rate, progress=progress)
            with torch.no_grad():
                return as_embedding(model.encode(tensors.features, tensors.edges))

    def _model(self, features: int, rng: torch.Generator) -> Any:
        from torch_geometric import nn as pyg

        return pyg.GAE(GCNLayers([features, self.hidden, self.width], rng=rng), InnerProducts())

    def _loss(self, model: Any, z: Tensor, edges: Tensor, non_edges: Tensor) -> Tensor:
        loss: Tensor = model.recon_loss(z, edges, non_edges)
        return loss


@dataclass(frozen=True)
class VGAE(GAE):
    """As GAE, but a node is a normal distribution, which is to stay near the standard one; its mean is the vector.

    >>> from graphprox import synthetic
    >>> VGAE(width=8, epochs=2).embed(synthetic(nodes=140), seed=0).shape
    (140, 8)
    """

    about = About(
        title="VGAE",
        group="autoencoders",
        uses="AX",
        paper="Kipf and Welling, Variational Graph Auto-Encoders, NeurIPS workshop 2016",
        summary="an autoencoder whose nodes are normal distributions; their means are the vectors",
    )

    def _model(self, features: int, rng: torch.Generator) -> Any:
        from torch_geometric import nn as pyg

        return pyg.VGAE(Distributions(features, self.hidden, self.width, rng), InnerProducts())

    def _loss(self, model: Any, z: Tensor, edges: Tensor, non_edges: Tensor) -> Tensor:
        divergence: Tensor = model.kl_loss()
        return super()._loss(model, z, edges, non_edges) + divergence / len(z)


class Distributions(nn.Module):
    """Two layers of GCN, the second one twice: for the means and for the logarithms of the deviations."""

    def __init__(self, features: int, hidden: int, width: int, rng: torch.Generator) -> None:
        super().__init__()
        self.first = GCNLayers([features, hidden], rng=rng, last=True)
        self.mean = GCN(hidden, width, rng=rng)
        self.deviation = GCN(hidden, width, rng=rng)

    def forward(self, features: FeatureMatrix, edges: Edges) -> tuple[Tensor, Tensor]:
        """Both, (nodes, width) each."""
        h = self.first(features, edges)
        mean, deviation = (each.propagate(each.project(h.mm), edges) for each in (self.mean, self.deviation))
        return mean, deviation


class InnerProducts(nn.Module):
    """PyG's decoder of the same name, in less than half the time: how likely it is that an edge joins each pair."""

    def forward(self, z: Tensor, pairs: Tensor, sigmoid: bool = True) -> Tensor:
        """(pairs,); the inner products themselves where no ``sigmoid`` is wanted."""
        products = pair_products(z, pairs)
        return products.sigmoid() if sigmoid else products


def edges_and_loops(graph: Graph) -> Tensor:
    """The pairs that are to score high, (2, pairs): edges, and every node with itself, as the authors have it.

    Without the latter the area under the curve of held-out edges is lower by two points on CiteSeer.
    """
    joined = edge_index_of(graph)
    loops = torch.arange(graph.num_nodes).repeat(2, 1)
    return torch.cat([joined[:, joined[0] != joined[1]], loops], 1)


@dataclass(frozen=True, eq=False)
class NonEdges:
    """The ordered pairs of different nodes that no edge joins, of which some are drawn anew in every epoch.

    PyG's own draw takes Python's source of chance, which is not ours to seed, and twenty times as long.

    >>> pairs = NonEdges.of(Graph([[1]] * 3, [[0], [1]])).draw(50, torch.Generator().manual_seed(0))
    >>> sorted(set(zip(*pairs.tolist(), strict=True)))
    [(0, 2), (1, 2), (2, 0), (2, 1)]
    """

    nodes: int
    count: int
    preceding: Tensor  # (pairs that are taken,) how many that are not come before each

    @classmethod
    def of(cls, graph: Graph) -> NonEdges:
        """Those of a graph, which must not have all edges."""
        nodes = graph.num_nodes
        taken = np.union1d(graph.edge_index[0] * nodes + graph.edge_index[1], np.arange(nodes) * (nodes + 1))
        count = nodes * nodes - len(taken)
        if count == 0:
            raise GraphError(
                "an autoencoder of edges must see nodes that no edge joins; "
                f"got {nodes} nodes that are all joined to each other: take a method of another group"
            )
        return cls(nodes, count, torch.from_numpy(taken - np.arange(len(taken))))

    def draw(self, size: int, rng: torch.Generator) -> Tensor:
        """So many of them, with repeats, (2, size)."""
        # In rising order they are found, and their rows read, one beside the other.
        rank = torch.from_numpy(np.sort(torch.randint(self.count, (size,), generator=rng).numpy()))
        # The pair with so many others before it is found, not tried for: even a nearly complete graph costs no more.
        pair = rank + torch.searchsorted(self.preceding, rank, right=True)
        return torch.stack([pair // self.nodes, pair % self.nodes])
