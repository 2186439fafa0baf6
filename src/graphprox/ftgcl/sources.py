"""Sources: the graph and its views, with or without augmentation, as inputs of the encoder in each epoch."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from numpy.random import Generator
from torch import Tensor

from graphprox._utils.arrays import FloatArray, IntArray
from graphprox.ftgcl.model import Model
from graphprox.ftgcl.recipe import Recipe
from graphprox.ftgcl.recipe_tables import AugmentationOptions
from graphprox.ftgcl.source_names import GRAPH, split_source
from graphprox.graph.graph import Graph
from graphprox.nn.convolution import Edges
from graphprox.views.ranking import Ranking


class Sources:
    """The sources of a graph that the pairs of a recipe name.

    Edges without augmentation are prepared for the encoder once, and cached.

    Parameters
    ----------
    graph : Graph
    rankings : mapping of str to Ranking
        Rankings of the views.
    model : Model
    """

    def __init__(self, graph: Graph, rankings: Mapping[str, Ranking], model: Model) -> None:
        self.recipe: Recipe = model.recipe
        self.model = model
        self.features = model.feature_matrix(graph)
        self._graph_edges = graph.edge_index, model.edge_weight(graph)
        self._rankings = rankings
        self._prepared: dict[tuple[str, int], Edges] = {}

    def k_of(self, view: str, position: float) -> int:
        """Return the k at a position in [0, 1) of a view's range; views with the same range have the same k."""
        low, high = self.recipe.views.k_range(view)
        return min(low + int(position * (high - low + 1)), self._rankings[view].k_max)

    def encode(self, source: str, position: float, shared: Tensor | None, rng: Generator) -> Tensor:
        """Return the output of encoder and head for a source.

        Parameters
        ----------
        source : str
        position : float
            Position of k in its range, in [0, 1).
        shared : Tensor or None
            Projection of all features, used unless the source masks some.
        rng : Generator
            Random numbers for the augmentation.

        Returns
        -------
        Tensor of shape (num_nodes, channels)
        """
        base, name = split_source(source)
        k = 0 if base == GRAPH else self.k_of(base, position)
        augmentation = AugmentationOptions() if name is None else self.recipe.augmentations[name]
        edges = self._edges(base, k) if augmentation.drop_edges == 0 else self._drop_edges(base, k, augmentation, rng)
        kept = None if augmentation.mask_features == 0 else self._mask_features(augmentation, rng)
        projected = shared if kept is None else None
        if projected is None:
            projected = self.model.encoder.project(self.features, kept)
        encoded: Tensor = self.model.head(self.model.encoder(projected, edges))
        return encoded

    def share_projection(self, pairs: tuple[tuple[str, str], ...]) -> bool:
        """Return whether any source of these pairs uses all features."""
        names = [split_source(source)[1] for pair in pairs for source in pair]
        return any(name is None or self.recipe.augmentations[name].mask_features == 0 for name in names)

    def _edges(self, base: str, k: int) -> Edges:
        if (base, k) not in self._prepared:
            self._prepared[base, k] = self._prepare(*self._edge_index(base, k))
        return self._prepared[base, k]

    def _drop_edges(self, base: str, k: int, augmentation: AugmentationOptions, rng: Generator) -> Edges:
        index, weight = self._edge_index(base, k)
        kept = rng.random(index.shape[1]) >= augmentation.drop_edges
        return self._prepare(index[:, kept], None if weight is None else weight[kept])

    def _mask_features(self, augmentation: AugmentationOptions, rng: Generator) -> Tensor:
        kept = rng.random(self.features.shape[1]) >= augmentation.mask_features
        return torch.tensor(kept, dtype=torch.float32, device=self.model.device)

    def _edge_index(self, base: str, k: int) -> tuple[IntArray, FloatArray | None]:
        if base == GRAPH:
            return self._graph_edges
        edges = self._rankings[base].edge_index(k)
        if self.recipe.views.undirected:
            edges = np.unique(np.concatenate([edges, edges[::-1]], axis=1), axis=1)
        return edges, None

    def _prepare(self, index: IntArray, weight: FloatArray | None) -> Edges:
        num_nodes = self.features.shape[0]
        return self.model.encoder.prepare_edges(index, weight, num_nodes=num_nodes, device=self.model.device)
