"""Geom-GCN: neighbours in the graph and in a latent plane, each kind of them apart by the direction they lie in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor, nn
from torch.nn import functional

from graphprox.arrays import IntArray
from graphprox.baselines.base import About, ClassifyingBaseline, setting
from graphprox.baselines.neural import seeded
from graphprox.baselines.poincare import nearest_pairs, poincare_embedding
from graphprox.baselines.supervised import Lesson, after_dropout, features_of, learn
from graphprox.graph import Graph
from graphprox.nn.convolutions import Edges, glorot
from graphprox.nn.features import FeatureMatrix
from graphprox.nn.sparse import Pattern, product
from graphprox.proximity.compiled import Float64Array
from graphprox.proximity.descriptors import Progress
from graphprox.splits import NodeSplit

QUADRANTS = 4
RELATIONS = 2 * QUADRANTS + 1  # neighbours in the graph, neighbours in the plane, the node itself


@dataclass(frozen=True)
class GeomGCN(ClassifyingBaseline):
    """Two layers that sum over each kind of neighbours with weights of its own, trained on labelled nodes.

    Nodes are placed in the hyperbolic plane by Nickel and Kiela's Poincaré embedding. Neighbours are those in the
    graph, and the pairs that are nearest in the plane, as many as there are edges; a neighbour's kind is where it is a
    neighbour and in which of four quadrants it lies. Directions and weights of edges play no part.

    >>> from graphprox import random_split, synthetic
    >>> graph = synthetic(nodes=140)
    >>> GeomGCN(epochs=2).predict(graph, random_split(graph, seed=0), seed=0).shape
    (140,)
    """

    about = About(
        title="Geom-GCN-P",
        group="semi-supervised",
        uses="AXY",
        paper="Pei et al., Geom-GCN: Geometric Graph Convolutional Networks, ICLR 2020",
        summary="sums over neighbours in the graph and in a hyperbolic plane, apart by direction",
    )
    # The accuracy on a hundred validation nodes often stands still for hundreds of epochs before it rises, and on Texas
    # it gets higher the more patience there is; a plane that was trained for longer helps too.
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "PubMed": {"width": 64},
        "Actor": {"width": 32},
        **{
            name: {"width": 32, "epochs": 5000, "patience": 500, "latent_epochs": 1000}
            for name in ("Texas", "Cornell", "Cornell-2021", "Wisconsin")
        },
    }

    width: int = setting(16, least=1)  # of each of the nine kinds
    epochs: int = setting(1000, least=1)
    patience: int = setting(100, least=1)
    learning_rate: float = setting(5e-2, least=0)
    weight_decay: float = setting(5e-6, least=0)
    dropout: float = setting(0.5, least=0, most=0.99)
    latent_epochs: int = setting(200, least=0)  # of the Poincaré embedding

    def predict(self, graph: Graph, split: NodeSplit, seed: int, *, progress: Progress | None = None) -> IntArray:
        """Place the nodes, train until the validation nodes say stop, and classify."""
        lesson = Lesson.of(graph, split)
        with seeded(seed) as rng:
            features = features_of(lesson.graph)
            kinds = Kinds.of(lesson.graph, seed=seed, epochs=self.latent_epochs)
            network = _Network(features.shape[1], self.width, lesson.num_classes, self.dropout, rng)
            learned = learn(
                network,
                lambda: network(features, kinds),
                lesson,
                epochs=self.epochs,
                patience=self.patience,
                learning_rate=self.learning_rate,
                decays=[(network.parameters(), self.weight_decay)],
                progress=progress,
            )
        return lesson.classes_of(learned.scores)


@dataclass(frozen=True, eq=False)
class Kinds:
    """The neighbours of each node by their kind, as two matrices; the columns are kinds of nodes, (nodes * kinds,).

    ``apart`` (nodes * kinds, nodes * kinds) sums over each kind for itself, ``together`` (nodes, nodes * kinds) is the
    mean over kinds of their sums.
    """

    apart: Edges
    together: Edges

    @classmethod
    def of(cls, graph: Graph, *, seed: int, epochs: int) -> Kinds:
        """Place a graph's nodes in the plane, and sort their neighbours."""
        whole = graph.to_undirected()
        index = whole.edge_index[:, whole.edge_index[0] != whole.edge_index[1]]
        points = _placed(index.tobytes(), graph.num_nodes, seed, epochs)
        # So many that a node has as many neighbours in the plane as in the graph, on average.
        near = nearest_pairs(points, index.shape[1] // 2)
        return cls.sorted_by(points, [index, np.concatenate([near, near[::-1]], axis=1)])

    @classmethod
    def sorted_by(cls, points: Float64Array, neighbours: list[IntArray]) -> Kinds:
        """The kinds of neighbours, given as pairs (2, pairs) that are listed both ways."""
        nodes = len(points)
        itself = np.arange(nodes)
        rows = np.concatenate([pairs[1] for pairs in neighbours] + [itself])
        columns = np.concatenate([pairs[0] for pairs in neighbours] + [itself])
        kind = np.concatenate(
            [space * QUADRANTS + _quadrant(points, *pairs) for space, pairs in enumerate(neighbours)]
            + [np.full(nodes, RELATIONS - 1)]
        )
        scale = 1 / np.sqrt(np.bincount(rows, minlength=nodes))
        values = (scale[rows] * scale[columns]).astype(np.float32)
        width = nodes * RELATIONS
        apart = sp.csr_array((values, (rows * RELATIONS + kind, columns * RELATIONS + kind)), shape=(width, width))
        together = sp.csr_array((values / RELATIONS, (rows, columns * RELATIONS + kind)), shape=(nodes, width))
        return cls(_edges(apart), _edges(together))


@lru_cache(maxsize=1)
def _placed(edge_index: bytes, num_nodes: int, seed: int, epochs: int) -> Float64Array:
    """The nodes' points; kept for the next split, which places the same graph by the same seed."""
    index = np.frombuffer(edge_index, np.int64).reshape(2, -1)
    points = poincare_embedding(index, num_nodes, seed=seed, epochs=epochs)
    points.flags.writeable = False  # it is lent to whoever asks next
    return points


def _quadrant(points: Float64Array, source: IntArray, target: IntArray) -> IntArray:
    """In which quadrant around each target its source lies."""
    right, above = (points[source] > points[target]).T
    found: IntArray = 2 * right.astype(np.int64) + above
    return found


def _edges(matrix: sp.csr_array) -> Edges:
    return Edges(Pattern.of(matrix), torch.tensor(matrix.data, dtype=torch.float32))


class _Network(nn.Module):
    """From features to scores, (nodes, classes)."""

    def __init__(self, features: int, width: int, classes: int, dropout: float, rng: torch.Generator) -> None:
        super().__init__()
        self.first = glorot(features, RELATIONS * width, rng=rng, outputs=width)
        self.second = glorot(RELATIONS * width, RELATIONS * classes, rng=rng, outputs=classes)
        self.dropout = dropout

    def forward(self, features: FeatureMatrix, kinds: Kinds) -> Tensor:
        projected = after_dropout(features, self.dropout, training=self.training)(self.first)
        # A node's row for all kinds is a row for each kind of node, and back.
        by_kind = projected.view(len(projected) * RELATIONS, -1)
        hidden = product(kinds.apart.pattern, kinds.apart.values, by_kind).view_as(projected).relu()
        hidden = functional.dropout(hidden, self.dropout, self.training)
        by_kind = (hidden @ self.second).view(len(hidden) * RELATIONS, -1)
        return product(kinds.together.pattern, kinds.together.values, by_kind)
