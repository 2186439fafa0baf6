"""DeepWalk: nodes are words, random walks are sentences, and word2vec does the rest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from graphprox.arrays import FloatArray
from graphprox.baselines.base import About, EmbeddingBaseline, setting
from graphprox.baselines.neural import as_embedding
from graphprox.baselines.skipgram import skip_gram
from graphprox.graph import Graph
from graphprox.proximity.compiled import Int32Array
from graphprox.proximity.descriptors import Progress
from graphprox.proximity.walks import random_walks


@dataclass(frozen=True)
class DeepWalk(EmbeddingBaseline):
    """Skip-gram with negative sampling over random walks from every node. Walks go either way along an edge.

    ``length`` counts the nodes of a walk. A walk from an isolated node stays there.

    >>> from graphprox import synthetic
    >>> DeepWalk(width=8, walks=1, length=5).embed(synthetic(nodes=140), seed=0).shape
    (140, 8)
    """

    about = About(
        title="DeepWalk",
        group="walks and edges",
        uses="A",
        paper="Perozzi et al., DeepWalk: Online Learning of Social Representations, KDD 2014",
        summary="tells nodes that are near each other on random walks from nodes drawn at random",
    )

    width: int = setting(128, least=1)
    walks: int = setting(10, least=1)
    length: int = setting(80, least=2)
    window: int = setting(10, least=1)
    negatives: int = setting(5, least=1)
    # A second and a fifth pass over the walks change nothing on validation nodes.
    epochs: int = setting(1, least=1)
    learning_rate: float = setting(0.025, least=0)

    def embed(self, graph: Graph, seed: int, *, progress: Progress | None = None) -> FloatArray:
        """Walk, and train."""
        rng = np.random.default_rng(seed)
        vectors = skip_gram(
            self._walks(graph, rng).reshape(-1, self.length),
            rng,
            nodes=graph.num_nodes,
            width=self.width,
            window=self.window,
            negatives=self.negatives,
            epochs=self.epochs,
            learning_rate=self.learning_rate,
            progress=progress,
        )
        return as_embedding(torch.from_numpy(vectors))

    def _walks(self, graph: Graph, rng: np.random.Generator) -> Int32Array:
        return random_walks(graph, rng, walks=self.walks, length=self.length - 1)
