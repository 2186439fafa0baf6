"""node2vec: DeepWalk whose walks may keep near their start or lead away from it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graphprox.baselines.base import About, setting
from graphprox.baselines.deepwalk import DeepWalk
from graphprox.graph import Graph
from graphprox.proximity.compiled import Int32Array
from graphprox.proximity.options import MOST_BIASED
from graphprox.proximity.walks import random_walks


@dataclass(frozen=True)
class Node2Vec(DeepWalk):
    """Skip-gram over walks of second order: a small ``p`` leads back often, a small ``q`` leads away.

    >>> from graphprox import synthetic
    >>> Node2Vec(width=8, walks=1, length=5, q=2.0).embed(synthetic(nodes=140), seed=0).shape
    (140, 8)
    """

    about = About(
        title="node2vec",
        group="walks and edges",
        uses="A",
        paper="Grover and Leskovec, node2vec: Scalable Feature Learning for Networks, KDD 2016",
        summary="DeepWalk with walks that prefer to stay or to explore",
    )

    p: float = setting(1.0, least=1 / MOST_BIASED, most=MOST_BIASED)
    q: float = setting(1.0, least=1 / MOST_BIASED, most=MOST_BIASED)

    def _walks(self, graph: Graph, rng: np.random.Generator) -> Int32Array:
        return random_walks(graph, rng, walks=self.walks, length=self.length - 1, p=self.p, q=self.q)
