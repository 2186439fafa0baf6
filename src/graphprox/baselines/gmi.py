"""GMI: a node's vector is to tell the features of the node and of its neighbours, and which nodes are joined."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor, nn
from torch.autograd import Function
from torch.nn.functional import softplus

from graphprox.arrays import FloatArray
from graphprox.baselines.base import About, EmbeddingBaseline, setting
from graphprox.baselines.neural import GCNLayers, Tensors, as_embedding, minimise, seeded
from graphprox.graph import Graph
from graphprox.nn.convolutions import glorot, in_neighbours
from graphprox.nn.encoder import PReLU
from graphprox.nn.sparse import Pattern
from graphprox.proximity.descriptors import Progress

PAPER = "Peng et al., Graph Representation Learning via Graphical Mutual Information Maximization, WWW 2020"


@dataclass(frozen=True)
class GMI(EmbeddingBaseline):
    """Layers of GCN, trained to share information with features nearby and with edges, measured without a summary.

    Three terms: ``own`` weighs that with a node's own features, ``near`` that with its neighbours', ``edges`` that
    with edges. A neighbour counts by how near the two vectors are ("adaptive"), or all count alike ("mean").

    >>> from graphprox import synthetic
    >>> GMI(width=8, epochs=2).embed(synthetic(nodes=140), seed=0).shape
    (140, 8)
    """

    about = About(
        title="GMI-Adaptive",
        group="contrast",
        uses="AX",
        paper=PAPER,
        summary="vectors that tell features of neighbours, the nearer the more, and which nodes are joined",
    )
    presets: ClassVar = {"CiteSeer": {"layers": 1}, "PubMed": {"layers": 1}}

    neighbours: str = setting("adaptive", among=("adaptive", "mean"))
    width: int = setting(512, least=1)
    layers: int = setting(2, least=1)
    own: float = setting(0.8, least=0)
    near: float = setting(1.0, least=0)
    edges: float = setting(1.0, least=0)
    negatives: int = setting(5, least=1)
    epochs: int = setting(550, least=0)
    patience: int = setting(20, least=1)
    learning_rate: float = setting(1e-3, least=0)

    def embed(self, graph: Graph, seed: int, *, progress: Progress | None = None) -> FloatArray:
        """Train, and embed."""
        with seeded(seed) as rng:
            tensors, pairs = Tensors.of(graph), Pairs.of(graph)
            model = _Model(tensors.features.shape[1], [self.width] * self.layers, rng)

            def loss() -> Tensor:
                terms = model.terms(tensors, pairs, pairs.draw(self.negatives, rng), self.neighbours)
                return self.own * terms[0] + self.near * terms[1] + self.edges * terms[2]

            minimise(
                model,
                loss,
                epochs=self.epochs,
                patience=self.patience,
                learning_rate=self.learning_rate,
                progress=progress,
            )
            with torch.no_grad():
                return as_embedding(model.encoder(tensors.features, tensors.edges))


@dataclass(frozen=True)
class GMIMean(GMI):
    """GMI with neighbours that all count alike.

    >>> from graphprox import synthetic
    >>> GMIMean(width=8, epochs=2).embed(synthetic(nodes=140), seed=0).shape
    (140, 8)
    """

    about = About(
        title="GMI-mean",
        group="contrast",
        uses="AX",
        paper=PAPER,
        summary="vectors that tell features of neighbours, all alike, and which nodes are joined",
    )

    neighbours: str = setting("mean", among=("adaptive", "mean"))


@dataclass(frozen=True, eq=False)
class Pairs:
    """The pairs of nodes that an edge joins, without loops: row i of the pattern lists the in-neighbours of node i."""

    joined: Pattern
    shares: Tensor  # (entries,) one divided by how many neighbours the row has
    keys: Tensor  # (entries,) row times nodes plus column, rising

    @classmethod
    def of(cls, graph: Graph) -> Pairs:
        """Those of a graph; weights of edges play no part in them."""
        loops = graph.edge_index[0] == graph.edge_index[1]
        matrix = in_neighbours(graph.edge_index[:, ~loops], None, graph.num_nodes)
        rows = np.repeat(np.arange(graph.num_nodes), np.diff(matrix.indptr))
        shares = 1 / np.diff(matrix.indptr)[rows]
        keys = rows * graph.num_nodes + matrix.indices
        return cls(Pattern.of(matrix), torch.tensor(shares, dtype=torch.float32), torch.from_numpy(keys))

    def draw(self, count: int, rng: torch.Generator) -> Negatives:
        """For each node ``count`` others, drawn anew."""
        nodes = self.joined.shape[0]
        node = torch.arange(nodes)[:, None]
        other = (node + torch.randint(1, nodes, (nodes, count), generator=rng)) % nodes
        # Each pair once, as torch's products at entries want it; on all but the smallest graphs nearly all differ.
        keys, place = torch.unique(node * nodes + other, return_inverse=True)
        found = keys.numpy()
        matrix = sp.csr_array((found, (found // nodes, found % nodes)), shape=(nodes, nodes))
        return Negatives(Pattern.of(matrix), place, ~torch.isin(keys, self.keys)[place])


@dataclass(frozen=True, eq=False)
class Negatives:
    """Pairs of different nodes that were drawn, as many for every node, and whether no edge joins them."""

    pairs: Pattern  # each once
    place: Tensor  # (nodes, count) which of them each draw is
    unjoined: Tensor  # (nodes, count)


class _Model(nn.Module):
    """Layers of GCN, and a bilinear form that tells a node's features from another's."""

    def __init__(self, features: int, widths: list[int], rng: torch.Generator) -> None:
        super().__init__()
        self.encoder = GCNLayers([features, *widths], rng=rng, activation=PReLU, last=True)
        self.form = glorot(features, widths[-1], rng=rng)

    def terms(self, tensors: Tensors, pairs: Pairs, negatives: Negatives, neighbours: str) -> tuple[Tensor, ...]:
        """What is to become small: for a node's own features, for its neighbours', for edges."""
        h = self.encoder(tensors.features, tensors.edges)
        told = tensors.features.times(self.form)  # row j times a vector is what the form makes of it and of x_j
        closeness = products(pairs.joined, h, h)
        # The authors take a sigmoid of each score before the softplus. Scores then sink to where it is flat, and stay:
        # on Cora a probe gets 76 % of the validation nodes right, and 80 % without the sigmoid.
        wrong = softplus(products(negatives.pairs, h, told))[negatives.place].mean(1)
        own = softplus(-(h * told).sum(1)) + wrong
        near = softplus(-products(pairs.joined, h, told)) + wrong[pairs.joined.rows]
        weights = torch.sigmoid(closeness) if neighbours == "adaptive" else pairs.shares
        return own.mean(), (weights * near).sum() / tensors.nodes, self._edges(h, closeness, negatives)

    def _edges(self, h: Tensor, closeness: Tensor, negatives: Negatives) -> Tensor:
        """How badly inner products tell who is joined. Every node counts as joined to itself.

        The authors go through all pairs, with weights by which those that are joined count twice as much as the others
        taken together. Of the others only some are drawn, or 20,000 nodes would cost half a minute an epoch.
        """
        joined = softplus(-torch.cat([closeness, (h * h).sum(1)])).mean()
        unjoined = softplus(products(negatives.pairs, h, h))[negatives.place] * negatives.unjoined
        return 2 * joined + unjoined.sum() / negatives.unjoined.sum().clamp(min=1)


class _Products(Function):
    @staticmethod
    def forward(ctx: Any, pattern: Pattern, left: Tensor, right: Tensor) -> Tensor:
        ctx.pattern = pattern
        ctx.save_for_backward(left, right)
        return pattern.inner_products(left, right)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Any, ...]:
        (upstream,), (left, right) = gradients, ctx.saved_tensors
        return None, ctx.pattern.times(upstream, right), ctx.pattern.transposed_times(upstream, left)


def products(pattern: Pattern, left: Tensor, right: Tensor) -> Tensor:
    """Row i of ``left`` times row j of ``right`` for each entry (i, j) of a pattern, (entries,), with gradients."""
    result: Tensor = _Products.apply(pattern, left, right)  # type: ignore[no-untyped-call]
    return result
