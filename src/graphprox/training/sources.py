"""Sources: the graph and its views, as they are or corrupted, as the encoder takes them step by step."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from numpy.random import Generator
from torch import Tensor

from graphprox.arrays import FloatArray, IntArray
from graphprox.graph import Graph
from graphprox.nn.convolutions import Edges
from graphprox.proximity.ranking import Ranking
from graphprox.training.model import Model
from graphprox.training.parts import Corruption
from graphprox.training.recipe import GRAPH, Recipe, parts_of_source


class Sources:
    """All that a recipe's turns name, of one graph; edges are prepared for the encoder once, and kept."""

    def __init__(self, graph: Graph, rankings: Mapping[str, Ranking], model: Model) -> None:
        self.recipe: Recipe = model.recipe
        self.model = model
        self.features = model.feature_matrix(graph)
        self._graph_edges = graph.edge_index, model.edge_weight(graph)
        self._rankings = rankings
        self._prepared: dict[tuple[str, int], Edges] = {}

    def k_of(self, view: str, position: float) -> int:
        """The k at a position in [0, 1) of a view's range: views of one range have one k in a step."""
        low, high = self.recipe.k_range(view)
        return min(low + int(position * (high - low + 1)), self._rankings[view].k_max)

    def encode(self, source: str, position: float, shared: Tensor | None, rng: Generator) -> Tensor:
        """What encoder and head make of a source, (nodes, channels); ``shared`` is the projection of all features."""
        base, name = parts_of_source(source)
        k = 0 if base == GRAPH else self.k_of(base, position)
        corruption = Corruption() if name is None else self.recipe.corruptions[name]
        edges = self._edges(base, k) if corruption.drop_edges == 0 else self._some_edges(base, k, corruption, rng)
        kept = None if corruption.mask_features == 0 else self._some_features(corruption, rng)
        projected = shared if kept is None else None
        if projected is None:
            projected = self.model.encoder.project(self.features, kept)
        encoded: Tensor = self.model.head(self.model.encoder(projected, edges))
        return encoded

    def share_projection(self, turns: tuple[tuple[str, str], ...]) -> bool:
        """Whether any source of these turns sees all features."""
        corruptions = [parts_of_source(source)[1] for turn in turns for source in turn]
        return any(name is None or self.recipe.corruptions[name].mask_features == 0 for name in corruptions)

    def _edges(self, base: str, k: int) -> Edges:
        if (base, k) not in self._prepared:
            self._prepared[base, k] = self._prepare(*self._listed(base, k))
        return self._prepared[base, k]

    def _some_edges(self, base: str, k: int, corruption: Corruption, rng: Generator) -> Edges:
        index, weight = self._listed(base, k)
        kept = rng.random(index.shape[1]) >= corruption.drop_edges
        return self._prepare(index[:, kept], None if weight is None else weight[kept])

    def _some_features(self, corruption: Corruption, rng: Generator) -> Tensor:
        kept = rng.random(self.features.shape[1]) >= corruption.mask_features
        return torch.tensor(kept, dtype=torch.float32, device=self.model.device)

    def _listed(self, base: str, k: int) -> tuple[IntArray, FloatArray | None]:
        if base == GRAPH:
            return self._graph_edges
        edges = self._rankings[base].graph(k)
        if self.recipe.views.both_directions:
            edges = np.unique(np.concatenate([edges, edges[::-1]], axis=1), axis=1)
        return edges, None

    def _prepare(self, index: IntArray, weight: FloatArray | None) -> Edges:
        nodes = self.features.shape[0]
        return self.model.encoder.edges(index, weight, num_nodes=nodes, device=self.model.device)
