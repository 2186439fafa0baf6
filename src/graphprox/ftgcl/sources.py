"""Sources: the graph and its views, with or without augmentation, as inputs of the encoder in each epoch."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property

import numpy as np
import torch
from numpy.random import Generator
from numpy.typing import NDArray
from torch import Tensor

from graphprox._utils.arrays import FloatArray, IntArray
from graphprox._utils.mapped import release_pages
from graphprox.distributed.halo import Halo
from graphprox.distributed.processes import Processes
from graphprox.ftgcl.model import Model
from graphprox.ftgcl.recipe import Recipe
from graphprox.ftgcl.recipe_tables import AugmentationOptions
from graphprox.ftgcl.source_names import GRAPH, split_source
from graphprox.graph.graph import Graph
from graphprox.nn.convolution import Edges
from graphprox.nn.features import FeatureMatrix
from graphprox.nn.propagated_features import PropagatedFeatures
from graphprox.views.ranking import Ranking

MAX_PROPAGATED_BYTES = 2**29  # of all sources together
# Epochs over which the cost of propagating features is spread. It is not the number of epochs of the recipe, because
# training for longer must give the same bytes up to where it was: what is worth it pays after a few.
EXPECTED_EPOCHS = 20
EDGES_PER_BLOCK = 1 << 18  # selected at a time
SAMPLE_STREAM = 2  # of the seeds of edges that are sampled before training

Keep = Callable[[int], NDArray[np.bool_]]  # number of edges -> whether each is kept


class Sources:
    """The sources of a graph that the pairs of a recipe name.

    Edges without augmentation are prepared for the encoder once, and cached. So are features that are propagated along
    them, where the encoder prefers those and they fit into ``MAX_PROPAGATED_BYTES``.

    Parameters
    ----------
    graph : Graph
    rankings : mapping of str to Ranking
        Rankings of the views.
    model : Model
    processes : Processes, optional
        The processes among which the nodes are divided. Each encodes its own.
    """

    def __init__(
        self, graph: Graph, rankings: Mapping[str, Ranking], model: Model, processes: Processes | None = None
    ) -> None:
        self.recipe: Recipe = model.recipe
        self.model = model
        self.num_nodes = graph.num_nodes
        self._graph = graph
        self._processes = processes
        self._halos: dict[str, Halo] = {}
        self._graph_edges = graph.edge_index, model.edge_weight(graph)
        self._rankings = rankings
        self._prepared: dict[tuple[str, int], Edges] = {}
        self._propagated: dict[tuple[str, int], PropagatedFeatures | None] = {}
        self._samples: dict[tuple[str, int, int], Edges] = {}
        self._used: tuple[Generator, dict[str, list[int]]] | None = None  # samples that an epoch has drawn

    @cached_property
    def features(self) -> FeatureMatrix:
        """Features of the graph, or of the nodes of this process, as the encoder reads them."""
        rows = None if self._processes is None else self._processes.rows(self.num_nodes)
        return self.model.feature_matrix(self._graph, rows)

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
            Rows of this process, if there are several.
        """
        base, _ = split_source(source)
        k, augmentation = self._k_of_source(base, position), self._augmentation(source)
        edges = self._edges(base, k) if augmentation.drop_edges == 0 else self._drop_edges(source, k, rng)
        kept = None if augmentation.mask_features == 0 else self._mask_features(augmentation, rng)
        propagated = self._propagate_features(base, k) if augmentation.drop_edges == 0 else None
        if propagated is not None:
            embedded = self.model.encoder.encode_propagated(propagated, kept)
        else:
            projected = shared if kept is None else None
            if projected is None:
                projected = self.model.encoder.project(self.features, kept)
            embedded = self.model.encoder(projected, edges)
        encoded: Tensor = self.model.head(embedded)
        return encoded

    def embed_graph(self) -> Tensor:
        """Return the output of the encoder for the graph: rows of this process, if there are several."""
        encoder = self.model.encoder
        embedded: Tensor = encoder(encoder.project(self.features), self._edges(GRAPH, 0))
        return embedded

    def share_projection(self, pairs: tuple[tuple[str, str], ...], position: float) -> bool:
        """Return whether any source of these pairs uses the projection of all features."""
        return any(self._uses_projection(source, position) for pair in pairs for source in pair)

    def _uses_projection(self, source: str, position: float) -> bool:
        base, _ = split_source(source)
        augmentation = self._augmentation(source)
        if augmentation.mask_features > 0:
            return False
        k = self._k_of_source(base, position)
        return augmentation.drop_edges > 0 or self._propagate_features(base, k) is None

    def _k_of_source(self, base: str, position: float) -> int:
        return 0 if base == GRAPH else self.k_of(base, position)

    def _augmentation(self, source: str) -> AugmentationOptions:
        _, name = split_source(source)
        return AugmentationOptions() if name is None else self.recipe.augmentations[name]

    # -- features propagated in advance -------------------------------------------------------------------------------

    def _propagate_features(self, base: str, k: int) -> PropagatedFeatures | None:
        """Return the features propagated along the edges of a graph or view; None if that does not pay."""
        if (base, k) not in self._propagated:
            self._propagated[base, k] = (
                self.model.encoder.propagate_features(
                    self.features, self._edges(base, k), uses=self._expected_uses(base), sharing=self._sharing()
                )
                if self._fits(base, k)
                else None
            )
        return self._propagated[base, k]

    def _expected_uses(self, base: str) -> float:
        """Return in how many of ``EXPECTED_EPOCHS`` the graph, or a view with one of its k, is encoded."""
        pairs = self.recipe.pairs
        containing = sum(base in (split_source(a)[0], split_source(b)[0]) for a, b in pairs)
        share = 1.0 if self.recipe.schedule == "sum" else containing / len(pairs)
        return EXPECTED_EPOCHS * share / len(self._k_values(base))

    def _sharing(self) -> int:
        """Return how many sources of an epoch use all features, at least 1."""
        pairs = self.recipe.pairs
        epochs = [pairs] if self.recipe.schedule == "sum" else [(pair,) for pair in pairs]
        sources = [{source for pair in epoch for source in pair} for epoch in epochs]
        return max(1, *(sum(self._augmentation(each).mask_features == 0 for each in epoch) for epoch in sources))

    def _fits(self, base: str, k: int) -> bool:
        """Return whether there is memory for the propagated features of a source, after those that precede it.

        It does not depend on the epochs so far: training that is resumed must give the same bytes.
        """
        num_features = self.features.shape[1]
        ordered = [(each, value) for each in (GRAPH, *sorted(self._rankings)) for value in self._k_values(each)]
        return 4 * self.num_nodes * num_features * (ordered.index((base, k)) + 1) <= MAX_PROPAGATED_BYTES

    def _k_values(self, base: str) -> range:
        if base == GRAPH:
            return range(1)
        low, high = self.recipe.views.k_range(base)
        k_max = self._rankings[base].k_max
        return range(min(low, k_max), min(high, k_max) + 1)

    # -- edges and masks ----------------------------------------------------------------------------------------------

    def _edges(self, base: str, k: int) -> Edges:
        if (base, k) not in self._prepared:
            self._prepared[base, k] = self._prepare(base, *self._edge_index(base, k))
        return self._prepared[base, k]

    def _drop_edges(self, source: str, k: int, rng: Generator) -> Edges:
        base, _ = split_source(source)
        if self._augmentation(source).edge_samples is None:
            return self._prepare(base, *self._keep_edges(source, k, rng))
        number = self._draw_sample(source, rng)
        if (source, k, number) not in self._samples:
            self._samples[source, k, number] = self._prepare(base, *self._sampled_edges(source, k, number))
        return self._samples[source, k, number]

    def _keep_edges(self, source: str, k: int, rng: Generator) -> tuple[IntArray, FloatArray | None]:
        drop_edges = self._augmentation(source).drop_edges
        # Processes draw for all edges, so that the random numbers of an edge do not depend on their number.
        return self._select_edges(split_source(source)[0], k, lambda size: rng.random(size) >= drop_edges)

    def _draw_sample(self, source: str, rng: Generator) -> int:
        """Draw the number of a sample: one that the epoch of a generator has not used, as long as there are some."""
        if self._used is None or self._used[0] is not rng:
            self._used = rng, {}
        used = self._used[1].setdefault(source, [])
        numbers = range(self._augmentation(source).edge_samples or 1)
        left = [number for number in numbers if number not in used] or list(numbers)
        used.append(left[int(rng.integers(len(left)))])
        return used[-1]

    def _sampled_edges(self, source: str, k: int, number: int) -> tuple[IntArray, FloatArray | None]:
        """Return the edges of a sample, which depend on the random state of the recipe and on no epoch."""
        seed = [self.recipe.random_state, SAMPLE_STREAM, zlib.crc32(source.encode()), number]
        return self._keep_edges(source, k, np.random.default_rng(seed))

    def _mask_features(self, augmentation: AugmentationOptions, rng: Generator) -> Tensor:
        kept = rng.random(self.model.in_channels) >= augmentation.mask_features
        return torch.tensor(kept, dtype=torch.float32, device=self.model.device)

    def _edge_index(self, base: str, k: int) -> tuple[IntArray, FloatArray | None]:
        """Return the edges of a graph or view, or those to the nodes of this process, if there are several."""
        if base == GRAPH and self._processes is None:
            return self._graph_edges
        return self._select_edges(base, k, None)

    def _select_edges(self, base: str, k: int, keep: Keep | None) -> tuple[IntArray, FloatArray | None]:
        """Return the edges that are kept, of all or of those to the nodes of this process."""
        own = None if self._processes is None else self._processes.rows(self.num_nodes)
        indices, weights = [np.empty((2, 0), np.int64)], [np.empty(0, np.float32)]
        weight: FloatArray | None = None
        for index, weight in self._edge_blocks(base, k):
            selected = np.ones(index.shape[1], bool) if keep is None else keep(index.shape[1])
            if own is not None:
                selected &= (index[1] >= own.start) & (index[1] < own.stop)
            indices.append(index[:, selected])
            if weight is not None:
                weights.append(weight[selected])
        return np.concatenate(indices, axis=1), None if weight is None else np.concatenate(weights)

    def _edge_blocks(self, base: str, k: int) -> Iterator[tuple[IntArray, FloatArray | None]]:
        """Yield all edges, in blocks that take little memory."""
        if base == GRAPH:
            index, weight = self._graph_edges
            for start in range(0, index.shape[1] or 1, EDGES_PER_BLOCK):
                block = slice(start, start + EDGES_PER_BLOCK)
                yield index[:, block], None if weight is None else weight[block]
                release_pages(index, weight)
        elif self.recipe.views.undirected:
            edges = self._rankings[base].edge_index(k)
            yield np.unique(np.concatenate([edges, edges[::-1]], axis=1), axis=1), None
        else:
            yield from ((block, None) for block in self._rankings[base].edge_blocks(k))

    def _prepare(self, base: str, index: IntArray, weight: FloatArray | None) -> Edges:
        encoder, device = self.model.encoder, self.model.device
        if self._processes is None:
            return encoder.prepare_edges(index, weight, num_nodes=self.num_nodes, device=device)
        halo = self._halo(base, self._processes)
        return encoder.prepare_neighbors(halo.in_neighbors(index, weight), device, halo)

    def _halo(self, base: str, processes: Processes) -> Halo:
        """Return the halo of a graph, or of a view with the most neighbors: those of fewer are among them."""
        if base not in self._halos:
            index, _ = self._edge_index(base, self._k_values(base)[-1])
            self._halos[base] = Halo(processes, index, self.num_nodes)
        return self._halos[base]
