"""Sources of an encoder that works on rows: any rows of the graph and its views are encoded without the others."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from numpy.random import Generator
from torch import Tensor

from graphprox._utils.arrays import FloatArray
from graphprox._utils.memory import available_memory, current_memory
from graphprox.distributed.processes import Processes
from graphprox.ftgcl.model import Model
from graphprox.ftgcl.source_names import GRAPH, split_source
from graphprox.ftgcl.sources import Sources
from graphprox.ftgcl.stored_tables import WorkFolder
from graphprox.ftgcl.two_pass import split_rows
from graphprox.graph.checksum import graph_checksum
from graphprox.graph.graph import Graph
from graphprox.nn.convolution import Edges, in_neighbor_matrix
from graphprox.nn.encoders.base import ENCODERS
from graphprox.nn.features import ROWS_PER_BLOCK, FeatureMatrix
from graphprox.nn.propagated_features import PropagatedFeatures, propagate_columns
from graphprox.nn.propagation import diffuse, diffuse_array
from graphprox.views.ranking import Ranking

NO_HOPS = (1.0,)  # coefficients of a diffusion that leaves features as they are
SHARE_OF_MEMORY = 4  # propagation uses at most one part of this many of the free memory
ARRAYS = 3  # of as many rows as the graph has, while columns are propagated


@dataclass(frozen=True, eq=False)
class Draw:
    """Input of the encoder for a source in one epoch, after all that is random was drawn.

    Attributes
    ----------
    base : str
        The graph or a view.
    k : int
        Number of neighbors in the view; 0 for the graph.
    sample : tuple of str and int, optional
        Source whose augmentation has dropped edges, and number of the sample.
    kept : Tensor of shape (num_features,) or None
        1 for features to use and 0 for features to mask.
    """

    base: str
    k: int
    sample: tuple[str, int] | None = None
    kept: Tensor | None = None


class RowSources(Sources):
    """The sources of a graph, of which an encoder reads some rows at a time.

    Parameters
    ----------
    graph : Graph
    rankings : mapping of str to Ranking
    model : Model
        Its encoder has a ``feature_diffusion``.
    work : WorkFolder
        Where propagated features are stored. If several processes use it, each has the features of its own nodes.

    Attributes
    ----------
    rows : slice
        Nodes that this process can encode.
    """

    def __init__(self, graph: Graph, rankings: Mapping[str, Ranking], model: Model, work: WorkFolder) -> None:
        super().__init__(graph, rankings, model, work.processes)
        self.rows = slice(0, graph.num_nodes) if work.processes is None else work.processes.rows(graph.num_nodes)
        coefficients = ENCODERS.lookup(self.recipe.encoder.name).feature_diffusion(self.recipe.encoder)
        assert coefficients is not None  # noqa: S101 - the recipe was checked
        self._coefficients = coefficients
        self._work = work

    def draw_pairs(
        self, pairs: tuple[tuple[str, str], ...], position: float, rng: Generator
    ) -> list[tuple[Draw, Draw]]:
        """Draw all that is random in an epoch, by the same random numbers as for the full batch.

        Parameters
        ----------
        pairs : tuple of pairs of str
            Sources that are contrasted.
        position : float
            Position of k in its range, in [0, 1).
        rng : Generator

        Returns
        -------
        list of pairs of Draw
            A source without augmentation is the same object throughout.
        """
        plain: dict[str, Draw] = {}

        def draw(source: str) -> Draw:
            if "+" in source:
                return self._draw(source, position, rng)
            return plain.setdefault(source, self._draw(source, position, rng))

        return [(draw(a), draw(b)) for a, b in pairs]

    def _draw(self, source: str, position: float, rng: Generator) -> Draw:
        base, _ = split_source(source)
        k, augmentation = self._k_of_source(base, position), self._augmentation(source)
        sample = (source, self._draw_sample(source, rng)) if augmentation.drop_edges > 0 else None
        kept = self._mask_features(augmentation, rng) if augmentation.mask_features > 0 else None
        return Draw(base, k, sample, kept)

    def encode_pairs(self, draws: list[tuple[Draw, Draw]], rows: slice) -> list[tuple[Tensor, Tensor]]:
        """Return the output of encoder and head for some rows.

        Parameters
        ----------
        draws : list of pairs of Draw
        rows : slice

        Returns
        -------
        list of pairs of Tensor of shape (num_rows, channels)
        """
        distinct = dict.fromkeys(draw for pair in draws for draw in pair)
        encoded = {draw: self.model.head(self.embed(draw, rows)) for draw in distinct}
        return [(encoded[a], encoded[b]) for a, b in draws]

    def embed(self, draw: Draw, rows: slice) -> Tensor:
        """Return the output of the encoder for some rows, of shape (num_rows, n_components).

        Parameters
        ----------
        draw : Draw
        rows : slice
        """
        encoder = self.model.encoder
        dtype = next(encoder.parameters()).dtype
        return encoder.encode_propagated(self._read(draw, rows).to(dtype), draw.kept)

    # -- rows ---------------------------------------------------------------------------------------------------------

    def _read(self, draw: Draw, rows: slice) -> PropagatedFeatures:
        """Return rows of the features, after the diffusion along the edges of a source."""
        device = self.model.device
        if self._coefficients == NO_HOPS:
            x = self._read_features(rows)
            return PropagatedFeatures(x, torch.ones(x.shape[0], 1, device=device))
        table = self._work.table(self._key(draw), lambda: self._propagate(draw))
        start = self.rows.start
        values = torch.from_numpy(table.read(slice(rows.start - start, rows.stop - start))).to(device)
        dense = values[:, :-1]
        return PropagatedFeatures(FeatureMatrix((len(dense), dense.shape[1]), dense, None, None), values[:, -1:])

    def _propagate(self, draw: Draw) -> Iterator[FloatArray]:
        name, number = draw.sample or (draw.base, 0)
        index, weight = self._sampled_edges(name, draw.k, number) if draw.sample else self._edge_index(name, draw.k)
        width = _choose_width(self.rows.stop - self.rows.start)
        if self._processes is None:
            matrix = self.model.encoder.propagation_matrix(in_neighbor_matrix(index, weight, self.num_nodes))
            diffuse_columns = partial(_diffuse_alone, matrix, self._coefficients)
        else:
            diffuse_columns = partial(_diffuse_together, self._prepare(draw.base, index, weight), self._coefficients)
            width = _agree(self._processes, width)
        normalize, x = self.recipe.normalize, self._graph.x[self.rows]
        if self.model.directions is not None:
            chunks = split_rows(self.rows, ROWS_PER_BLOCK)
            normalize, x = "none", torch.cat([self._read_features(rows).to_dense().cpu() for rows in chunks]).numpy()
        return propagate_columns(x, diffuse_columns, normalize=normalize, width=width)

    def _read_features(self, rows: slice) -> FeatureMatrix:
        x = FeatureMatrix.of(self._graph.x[rows], normalize=self.recipe.normalize, device=self.model.device)
        return self.model.reduce(x)

    def _key(self, draw: Draw) -> dict[str, Any]:
        """Return all that propagated features depend on."""
        return {
            "graph": self._checksum,
            "base": draw.base,
            "edges": None if draw.base == GRAPH else self._ranking_checksum(draw.base, draw.k),
            "sample": None if draw.sample is None else self._sample_key(*draw.sample),
            "undirected": self.recipe.views.undirected,
            "weighted": self.model.weighted,
            "encoder": self.recipe.encoder.name,
            "coefficients": self._coefficients,
            "normalize": self.recipe.normalize,
            "directions": self._directions_checksum,
            "rows": [self.rows.start, self.rows.stop],
        }

    def _sample_key(self, source: str, number: int) -> list[object]:
        return [source, number, self._augmentation(source).drop_edges, self.recipe.random_state]

    @cached_property
    def _checksum(self) -> str:
        return graph_checksum(self._graph)

    @cached_property
    def _directions_checksum(self) -> str | None:
        directions = self.model.directions
        return None if directions is None else hashlib.sha256(directions.cpu().numpy().data).hexdigest()

    def _ranking_checksum(self, view: str, k: int) -> str:
        if (view, k) not in self._checksums:
            neighbors = np.ascontiguousarray(self._rankings[view].neighbors[:, :k])
            self._checksums[view, k] = hashlib.sha256(neighbors.data).hexdigest()
        return self._checksums[view, k]

    @cached_property
    def _checksums(self) -> dict[tuple[str, int], str]:
        return {}


def _choose_width(num_nodes: int) -> int:
    """Return how many columns are propagated at a time."""
    available = available_memory()
    free = 2**32 if available is None else max(available - current_memory(), 0)
    return max(1, free // SHARE_OF_MEMORY // (ARRAYS * 4 * max(num_nodes, 1)))


def _agree(processes: Processes, value: int) -> int:
    """Return the value of the first process."""
    processes.broadcast([tensor := torch.tensor([value])])
    return int(tensor)


def _diffuse_alone(matrix: sp.csr_array, coefficients: tuple[float, ...], columns: FloatArray) -> FloatArray:
    return diffuse_array(matrix, columns, coefficients)


def _diffuse_together(edges: Edges, coefficients: tuple[float, ...], columns: FloatArray) -> FloatArray:
    """Diffuse the rows of all processes, which exchange those on their boundaries before each hop."""
    diffused = diffuse(edges, torch.from_numpy(columns).to(edges.values.device), coefficients)
    return diffused.cpu().numpy()
