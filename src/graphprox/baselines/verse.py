"""VERSE: nodes are as near as a random walk with restarts makes them, told by noise-contrastive estimation."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch

from graphprox.arrays import FloatArray, IntArray
from graphprox.baselines.base import About, EmbeddingBaseline, setting
from graphprox.baselines.neural import as_embedding
from graphprox.baselines.skipgram import ascend, parts, scratch
from graphprox.graph import Graph
from graphprox.proximity.compiled import Float32Array, Int32Array, fast
from graphprox.proximity.descriptors import Progress
from graphprox.proximity.hashing import GOLDEN, stream, uniform
from graphprox.proximity.options import draw_seed
from graphprox.proximity.structure import Structure, structure_of
from graphprox.proximity.walks import _any_neighbour


@dataclass(frozen=True)
class VERSE(EmbeddingBaseline):
    """One vector for every node, whose products estimate personalised PageRank.

    A node is drawn, and a walk from it, which ends at each node with probability 1 - ``alpha``; where it ends is to be
    told from ``negatives`` nodes of any kind. Walks go either way along an edge.

    >>> from graphprox import synthetic
    >>> VERSE(width=8, rounds=2).embed(synthetic(nodes=140), seed=0).shape
    (140, 8)
    """

    about = About(
        title="VERSE",
        group="walks and edges",
        uses="A",
        paper="Tsitsulin et al., VERSE: Versatile Graph Embeddings from Similarity Measures, WWW 2018",
        summary="products of vectors estimate personalised PageRank, by noise-contrastive estimation",
    )

    width: int = setting(128, least=1)
    alpha: float = setting(0.85, least=0, most=0.999)
    rounds: int = setting(10_000, least=1)
    negatives: int = setting(3, least=1)
    learning_rate: float = setting(0.0025, least=0)

    def embed(self, graph: Graph, seed: int, *, progress: Progress | None = None) -> FloatArray:
        """Train on pairs drawn one after another."""
        rng, structure = np.random.default_rng(seed), structure_of(graph)
        vectors = rng.random((graph.num_nodes, self.width), np.float32) - np.float32(0.5)
        start = draw_seed(rng)
        for first, end in parts(self.rounds * graph.num_nodes, progress):
            _train(structure, self.alpha, vectors, self.negatives, self.learning_rate, start, first, end)
        return as_embedding(torch.from_numpy(vectors))


@fast
def ppr_sample(
    start: IntArray,
    neighbour: Int32Array,
    keep: Float32Array,
    other: Int32Array,
    alpha: float,
    source: int,
    state: np.uint64,
) -> tuple[int, np.uint64]:
    """Where a walk ends that goes on with probability ``alpha`` at each node, and the next state."""
    steps = int(math.log(1 - uniform(state)) / math.log(alpha)) if alpha > 0 else 0
    state += GOLDEN
    here = source
    if start[here] < start[here + 1]:
        for _ in range(steps):
            here = _any_neighbour(start, neighbour, keep, other, here, state)
            state += GOLDEN
    return here, state


@fast
def _train(
    structure: Structure,
    alpha: float,
    vectors: Float32Array,
    negatives: int,
    learning_rate: float,
    seed: np.uint64,
    first: int,
    end: int,
) -> None:
    start, neighbour, keep, other = structure.start, structure.neighbour, structure.keep, structure.other
    nodes, rate = len(vectors), np.float32(learning_rate)
    # Noise comes from all nodes alike: so often would a pair be drawn as one of noise.
    bias, noise_bias = math.log(nodes), math.log(nodes / negatives)
    targets = np.empty(1 + negatives, np.int64)
    score, x, change = scratch(negatives, vectors.shape[1])
    state = stream(seed, first, 0)
    for _ in range(first, end):
        source = int(uniform(state) * nodes)
        state += GOLDEN
        targets[0], state = ppr_sample(start, neighbour, keep, other, alpha, source, state)
        for k in range(1, len(targets)):
            targets[k] = int(uniform(state) * nodes)
            state += GOLDEN
        ascend(vectors, source, vectors, targets, len(targets), bias, noise_bias, rate, score, x, change)
