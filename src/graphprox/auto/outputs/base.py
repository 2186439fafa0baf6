"""Outputs and their registry.

An output is a function of a `PreparedGraph` that returns a row for every node: the node as one proximity sees it. Where
it is registered, it says how much it counts in each kind of graph.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TypeVar

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize

from graphprox._utils.arrays import FloatArray, IntArray
from graphprox._utils.registry import Registry
from graphprox.auto.neighbor_matrix import neighbor_matrix
from graphprox.auto.positions import Positions
from graphprox.auto.preparation import Preparation
from graphprox.auto.row_store import RowStore
from graphprox.auto.spreading import diffuse_rows, similar_edges
from graphprox.auto.stages import Stages
from graphprox.graph.graph import Graph
from graphprox.nn.convolution import Edges
from graphprox.nn.encoders.gcn import GCNConv

# Stages that a run is resumed after.
ROWS, POSITION_ROWS, SIMILAR, VIEW_ROWS = "rows", "position rows", "similar nodes", "view rows"


def output_stage(name: str) -> str:
    """Return the name of the stage of an output."""
    return f"output {name}"


Compute = Callable[["PreparedGraph"], FloatArray]
F = TypeVar("F", bound=Compute)


@dataclass(frozen=True)
class Weights:
    """How much an output counts, by how much the edges of a graph tell about the features of a node.

    Parameters
    ----------
    features : float, default=0.0
        Where edges tell much less than features do, and are left out.
    both : float, default=0.0
        Where they tell a little less, or little is known, as the graph is small.
    balanced : float, default=0.0
        Where they tell as much, or nothing can be concluded.
    graph : float, default=0.0
        Where they tell more.
    edges : float, default=0.0
        In a graph without features.

    Examples
    --------
    >>> Weights(both=0.5, graph=1.0).features
    0.0
    """

    features: float = 0.0
    both: float = 0.0
    balanced: float = 0.0
    graph: float = 0.0
    edges: float = 0.0


@dataclass(frozen=True)
class Output:
    """A registered output.

    Parameters
    ----------
    compute : callable
        Function of a `PreparedGraph` that returns an array of shape (num_nodes, channels).
    weights : Weights
    """

    compute: Compute
    weights: Weights

    def __call__(self, prepared: PreparedGraph) -> FloatArray:
        """Return a row for every node of a graph."""
        return self.compute(prepared)

    @property
    def description(self) -> str:
        """The first line of the function's docstring."""
        return (self.compute.__doc__ or "").partition("\n")[0]


OUTPUTS: Registry[Output] = Registry("output", package="graphprox.auto.outputs", group="graphprox.outputs")


def register_output(name: str, weights: Weights) -> Callable[[F], F]:
    """Register the decorated function as an output of the default method.

    Parameters
    ----------
    name : str
        Its name; the first line of its docstring describes it.
    weights : Weights
        How much it counts. An output without any weight is computed only if a criterion asks for it.

    Returns
    -------
    callable
        Decorator for a function of a `PreparedGraph` that returns an array of shape (num_nodes, channels).
    """

    def register(compute: F) -> F:
        OUTPUTS.add(name, Output(compute, weights), definition=compute)
        return compute

    return register


@dataclass(frozen=True, eq=False)
class PreparedGraph:
    """A graph and its prepared features; what several outputs need is computed once.

    Parameters
    ----------
    graph : Graph
    rows : ndarray of shape (num_nodes, channels)
        Prepared features, rows of unit length.
    random_state : int
        Random seed of ties in the feature view.
    sizes : ndarray of shape (num_nodes,), optional
        How many features each node has, relative to a typical one; see `Preparation.relative_sizes`.
    position_rows : ndarray of shape (num_nodes, channels), optional
        Prepared neighbors of each node; see :mod:`graphprox.auto.positions`.
    store : RowStore, optional
        Where rows are kept; those of a large graph are memory maps. If several processes divide them, rows here and
        those of outputs are the ones that this process keeps.
    stages : Stages, optional
        Where what takes long is kept for a run that is resumed.

    Examples
    --------
    >>> from graphprox import synthetic
    >>> graph = synthetic(nodes=140)
    >>> prepared = PreparedGraph(graph, np.asarray(graph.x), random_state=0)
    >>> prepared.diffuse(prepared.edges, prepared.rows, alpha=0.15, hops=10).shape
    (140, 32)
    """

    graph: Graph
    rows: FloatArray
    random_state: int
    sizes: FloatArray = field(default_factory=lambda: np.empty(0, np.float32))
    position_rows: FloatArray = field(default_factory=lambda: np.empty((0, 0), np.float32))
    store: RowStore = field(default_factory=RowStore)
    stages: Stages = field(default_factory=Stages)

    @classmethod
    def of(
        cls,
        graph: Graph,
        preparation: Preparation | None,
        positions: Positions | None,
        *,
        random_state: int,
        store: RowStore | None = None,
        stages: Stages | None = None,
    ) -> PreparedGraph:
        """Prepare a graph by what was fitted.

        Parameters
        ----------
        graph : Graph
        preparation : Preparation or None
            None for a graph without features.
        positions : Positions or None
            None if no output reads them.
        random_state : int
        store : RowStore, optional
            Where rows are kept; in memory by default.
        stages : Stages, optional
            Where what takes long is kept for a run that is resumed.

        Returns
        -------
        PreparedGraph
        """
        store, stages = store or RowStore(), stages or Stages()
        own = store.own_rows(graph.num_nodes)
        rows = position_rows = np.empty((own.stop - own.start, 0), np.float32)
        sizes = np.zeros(len(rows), np.float32)
        if preparation is not None:
            rows = stages.keep(ROWS, lambda: preparation.transform(graph.x, store), store=store)
            sizes = preparation.relative_sizes(graph.x, store.team)
        if positions is not None:
            position_rows = stages.keep(POSITION_ROWS, lambda: positions.transform(graph, store), store=store)
        return cls(graph, rows, random_state, sizes, position_rows, store, stages)

    @cached_property
    def neighbors(self) -> sp.csr_array:
        """Weights of the edges in both directions, the larger one where they differ; without self-loops."""
        return neighbor_matrix(self.graph)

    @cached_property
    def num_neighbors(self) -> IntArray:
        """Number of neighbors of each node."""
        return np.diff(self.neighbors.indptr).astype(np.int64)

    @cached_property
    def edges(self) -> Edges:
        """Edges of the graph, normalized as GCN does."""
        return GCNConv.prepare_edges(self.neighbors)

    @cached_property
    def feature_edges(self) -> Edges:
        """Edges of the feature view, which links each node with the nodes whose prepared features are most similar."""
        return similar_edges(
            self.rows,
            random_state=self.random_state,
            store=self.store,
            num_nodes=self.graph.num_nodes,
            stages=self.stages,
            name=SIMILAR,
        )

    @cached_property
    def view_rows(self) -> FloatArray:
        """Features diffused over the feature view, rows of unit length."""

        def spread() -> FloatArray:
            unit = partial(normalize, copy=False)
            return diffuse_rows(self.feature_edges, self.rows, 0.3, 5, store=self.store, finish=unit)

        return self.stages.keep(VIEW_ROWS, spread, store=self.store)

    def compute(self, name: str) -> FloatArray:
        """Return the rows of an output; the stored ones, if its stage is finished.

        Parameters
        ----------
        name : str
            Name of a registered output.

        Returns
        -------
        ndarray of shape (num_nodes, channels)
            In a very large graph, rows of unit length in half precision.
        """
        return self.stages.keep(
            output_stage(name), lambda: self._compute(name), store=self.store, is_stored=self._is_field
        )

    def _compute(self, name: str) -> FloatArray:
        rows = OUTPUTS[name](self)
        return rows if self._is_field(rows) else self.store.compact(rows)

    def _is_field(self, rows: FloatArray) -> bool:
        """Return whether rows are those of a field, which is stored as such."""
        return any(rows is each for each in vars(self).values())

    def diffuse(self, edges: Edges, rows: FloatArray, *, alpha: float, hops: int) -> FloatArray:
        """Return the personalized PageRank of every column.

        Parameters
        ----------
        edges : Edges
        rows : ndarray of shape (num_nodes, channels)
        alpha : float
            Teleport probability: the weight of a node's own row.
        hops : int
            Number of power iterations.

        Returns
        -------
        ndarray of shape (num_nodes, channels)
        """
        return diffuse_rows(edges, rows, alpha, hops, store=self.store)
