"""LINE: joined nodes are near (first order), and so are nodes with the same neighbours (second order)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.random import Generator

from graphprox.arrays import FloatArray
from graphprox.baselines.base import About, EmbeddingBaseline, setting
from graphprox.baselines.neural import as_embedding
from graphprox.baselines.skipgram import (
    NOISE_POWER,
    Chances,
    ascend,
    begin,
    draw,
    draw_noise,
    parts,
    rate_at,
    scratch,
)
from graphprox.graph import Graph
from graphprox.proximity.compiled import Float32Array, Int32Array, fast
from graphprox.proximity.descriptors import Progress
from graphprox.proximity.hashing import GOLDEN, stream
from graphprox.proximity.options import draw_seed


@dataclass(frozen=True)
class LINE(EmbeddingBaseline):
    """Edges drawn by their weight, each told from a few drawn nodes; first and second order apart, then side by side.

    In the first order both ends of an edge have vectors of one kind; in the second a node is told by a vector of
    another kind, which is thrown away in the end. Each half has length 1. Edges go both ways, self-loops are left out.
    A node without edges keeps the vector that it was given by chance.

    >>> from graphprox import synthetic
    >>> LINE(width=8, rounds=2).embed(synthetic(nodes=140), seed=0).shape
    (140, 8)
    """

    about = About(
        title="LINE",
        group="walks and edges",
        uses="A",
        paper="Tang et al., LINE: Large-scale Information Network Embedding, WWW 2015",
        summary="tells edges from pairs drawn at random, directly and by shared neighbours",
    )

    width: int = setting(128, least=2)
    order: str = setting("both", among=("both", "first", "second"))
    rounds: int = setting(1000, least=1)
    negatives: int = setting(5, least=1)
    learning_rate: float = setting(0.025, least=0)

    def embed(self, graph: Graph, seed: int, *, progress: Progress | None = None) -> FloatArray:
        """Train each order by itself, and put both side by side."""
        rng, edges = np.random.default_rng(seed), _Edges.of(graph)
        widths = (self.width // 2, self.width - self.width // 2) if self.order == "both" else (self.width,)
        orders = ("first", "second") if self.order == "both" else (self.order,)
        halves = [self._half(edges, order, width, rng, progress) for order, width in zip(orders, widths, strict=True)]
        return as_embedding(torch.from_numpy(np.concatenate(halves, axis=1)))

    def _half(self, edges: _Edges, order: str, width: int, rng: Generator, progress: Progress | None) -> FloatArray:
        vectors = begin(rng, edges.nodes, width)
        contexts = vectors if order == "first" else np.zeros_like(vectors)
        seed, total = draw_seed(rng), self.rounds * len(edges.source)
        for first, end in parts(total, progress, f"{order} order"):
            rates = rate_at(first, total, self.learning_rate), rate_at(end, total, self.learning_rate)
            _train(
                edges.source, edges.target, edges.chances, edges.noise, vectors, contexts,
                self.negatives, *rates, seed, first, end,
            )  # fmt: skip
        length = np.linalg.norm(vectors, axis=1, keepdims=True)
        length[length == 0] = 1
        vectors /= length
        return vectors


@dataclass(frozen=True, eq=False)
class _Edges:
    """Both directions of every edge, and how likely each is drawn."""

    nodes: int
    source: Int32Array  # (entries,)
    target: Int32Array  # (entries,)
    chances: Chances
    noise: Chances

    @classmethod
    def of(cls, graph: Graph) -> _Edges:
        graph = graph.to_undirected() if graph.directed else graph
        source, target = graph.edge_index.astype(np.int32)
        weight = np.ones(len(source), np.float32) if graph.edge_weight is None else graph.edge_weight
        joins = source != target
        source, target, weight = source[joins], target[joins], weight[joins]
        degree = np.bincount(source, weight, minlength=graph.num_nodes)
        return cls(graph.num_nodes, source, target, Chances.of(weight), Chances.of(degree**NOISE_POWER))


@fast
def _train(
    source: Int32Array,
    target: Int32Array,
    edge: Chances,
    noise: Chances,
    vectors: Float32Array,
    contexts: Float32Array,
    negatives: int,
    first_rate: float,
    last_rate: float,
    seed: np.uint64,
    first: int,
    end: int,
) -> None:
    keep, other, noise_keep, noise_other = edge.keep, edge.other, noise.keep, noise.other
    targets = np.empty(1 + negatives, np.int64)
    score, x, change = scratch(negatives, vectors.shape[1])
    state = stream(seed, first, 0)
    for step in range(first, end):
        rate = np.float32(first_rate + (last_rate - first_rate) * (step - first) / (end - first))
        drawn = draw(keep, other, state)
        state += GOLDEN
        targets[0] = target[drawn]
        known, state = draw_noise(noise_keep, noise_other, targets, source[drawn], state)
        ascend(vectors, source[drawn], contexts, targets, known, 0.0, 0.0, rate, score, x, change)
