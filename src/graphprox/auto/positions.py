"""Positions of nodes: the neighbors of a node, read as its words.

A column stands for a node of the fitted graph. A node of another graph is known if it has the id of a fitted one and,
in a graph with features, the same features: numbers 0, 1, 2, ... are the ids of any graph that has none. If features of
most nodes differ, none is known.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize

from graphprox._utils.arrays import FloatArray, IntArray, NodeIds
from graphprox._utils.mapped import release_pages
from graphprox._utils.team import Team, row_keepers
from graphprox.auto.exchange import gather_first
from graphprox.auto.neighbor_matrix import neighbor_matrix
from graphprox.auto.preparation import (
    MAX_DENSITY,
    MAX_DIRECTIONS,
    Preparation,
    sharpen,
    typical_size,
    weigh_counts,
)
from graphprox.auto.row_store import RowStore, row_blocks
from graphprox.auto.singular_vectors import NeighborRows, right_singular_vectors
from graphprox.errors import ParameterError
from graphprox.graph.graph import Graph


@dataclass(frozen=True, eq=False)
class Positions:
    """Nodes of the fitted graph, and how rows of neighbors are reduced.

    Parameters
    ----------
    ids : ndarray of shape (num_nodes,)
        Ids of the nodes of the fitted graph.
    signatures : ndarray of shape (num_nodes,) or None
        A number for the features of each; None in a graph without features.
    preparation : Preparation
        Weights and directions of the columns.

    Examples
    --------
    >>> from graphprox import synthetic
    >>> graph = synthetic(nodes=140)
    >>> Positions.fit(graph, has_features=True, random_state=0).transform(graph).shape
    (140, 140)
    """

    ids: NodeIds
    signatures: FloatArray | None
    preparation: Preparation

    @classmethod
    def fit(cls, graph: Graph, *, has_features: bool, random_state: int, store: RowStore | None = None) -> Positions:
        """Compute weights and directions of the neighbors of all nodes.

        Parameters
        ----------
        graph : Graph
        has_features : bool
            Whether nodes of another graph are recognized by their features, too.
        random_state : int
            Random seed of the singular vectors.
        store : RowStore, optional
            Where those of a large graph are kept; in memory by default.

        Returns
        -------
        Positions
            With the directions of the nodes that the store keeps; see `gather`.
        """
        store = store or RowStore()
        signatures = sign_features(graph) if has_features else None
        if _is_one_matrix(graph, store):
            matrix = _neighbor_words(graph, np.arange(graph.num_nodes), graph.num_nodes)
            preparation = Preparation.fit(matrix, random_state=random_state, centered=False)
        else:
            preparation = _fit_large(neighbor_matrix(graph), random_state, store)
        return cls(graph.ids, signatures, preparation)

    def gather(self, store: RowStore) -> Positions:
        """Return the same with the directions of all nodes, after several processes have fitted it.

        Inside of ``keep_own_rows``, the first process gets those of all nodes, and the others keep their own.

        Parameters
        ----------
        store : RowStore
            Where they are kept.

        Returns
        -------
        Positions
        """
        own, num_nodes = self.preparation.directions, len(self.ids)
        keepers = row_keepers()
        directions = store.gather(own, num_nodes) if keepers.size == 1 else gather_first(keepers, own, num_nodes)
        return replace(self, preparation=replace(self.preparation, directions=directions))

    def transform(self, graph: Graph, store: RowStore | None = None) -> FloatArray:
        """Return the reduced rows of neighbors.

        Parameters
        ----------
        graph : Graph
        store : RowStore, optional
            Where the rows are kept; in memory by default.

        Returns
        -------
        ndarray of shape (num_nodes, num_directions)
            Zero for nodes without known neighbors. Those that the store keeps.
        """
        store, known = store or RowStore(), self._find_known(graph)
        is_fitted = len(known) == len(self.ids) and bool((known == np.arange(len(known))).all())
        if _is_one_matrix(graph, store) or not is_fitted:
            return self.preparation.transform(_neighbor_words(graph, known, len(self.ids)), store)
        del known
        preparation, num_nodes = self.preparation, graph.num_nodes
        rows = _neighbor_rows(neighbor_matrix(graph), preparation.weights, store.team)

        def multiply(columns: slice) -> FloatArray:
            return rows.product(store.read_columns(preparation.directions, columns, num_nodes))

        return store.fill(num_nodes, preparation.directions.shape[1], multiply, partial(normalize, copy=False))

    def _find_known(self, graph: Graph) -> IntArray:
        """Return the number of each node in the fitted graph, or -1."""
        known = _find_ids(self.ids, graph.ids)
        if self.signatures is not None:
            tolerance = 1e-6 * float(np.abs(self.signatures).max(initial=0))
            same = np.abs(self.signatures[known] - sign_features(graph)) <= tolerance
            shared = known >= 0
            if 2 * np.count_nonzero(same & shared) < np.count_nonzero(shared):  # another graph, and some chance
                same[:] = False
            known[~same] = -1
        elif (known < 0).all():
            raise ParameterError(
                "a graph without features must share nodes with the one that auto was fitted on, as nodes are "
                "described by their neighbors; none of its ids is known: call fit_transform on that graph"
            )
        return known


def _find_ids(known: NodeIds, ids: NodeIds) -> IntArray:
    """Return the place of each id among known ones, or -1."""
    if np.array_equal(known, ids):
        return np.arange(len(ids))
    if known.dtype != object and ids.dtype != object:
        order = np.argsort(known, kind="stable")
        place = order[np.minimum(np.searchsorted(known, ids, sorter=order), len(known) - 1)]
        return np.where(known[place] == ids, place, -1)
    number = {each: place for place, each in enumerate(known.tolist())}
    return np.array([number.get(each, -1) for each in ids.tolist()], dtype=np.int64)


def _is_one_matrix(graph: Graph, store: RowStore) -> bool:
    """Return whether neighbors are a sparse matrix of one block; several processes divide its products instead."""
    return len(row_blocks(graph.num_nodes)) == 1 and store.team.size == 1


def _neighbor_rows(neighbors: sp.csr_array, weights: FloatArray | None, team: Team) -> NeighborRows:
    """Return the neighbors of each node as unit rows of weighted words, as `Preparation` makes them of a matrix."""
    factors = np.ones(neighbors.shape[0]) if weights is None else np.log(2) * weights.astype(np.float64)
    squares = np.zeros(neighbors.shape[0])
    filled = np.flatnonzero(np.diff(neighbors.indptr))
    squares[filled] = np.add.reduceat(np.square(factors)[neighbors.indices], neighbors.indptr[filled])
    lengths = np.divide(1, np.sqrt(squares), where=squares > 0, out=np.zeros_like(squares))
    return NeighborRows(neighbors, lengths.astype(np.float32), factors.astype(np.float32), team)


def _fit_large(neighbors: sp.csr_array, random_state: int, store: RowStore) -> Preparation:
    """Return what `Preparation.fit` returns for the matrix of neighbors, which is not copied."""
    num_nodes = neighbors.shape[0]
    degree = np.diff(neighbors.indptr).astype(np.float64)
    is_sparse = neighbors.nnz <= MAX_DENSITY * float(num_nodes) ** 2
    weights = weigh_counts(degree, num_nodes) if is_sparse and neighbors.nnz else None
    size = min(MAX_DIRECTIONS, num_nodes)
    rows = _neighbor_rows(neighbors, weights, store.team)
    values, right = right_singular_vectors(rows, size, random_state=random_state, store=store)
    return Preparation(weights, None, sharpen(values, right, num_nodes), is_sparse, typical_size(degree))


def sign_features(graph: Graph) -> FloatArray:
    """Return a number for the features of each node: their product with fixed random weights.

    Parameters
    ----------
    graph : Graph

    Returns
    -------
    ndarray of shape (num_nodes,)
    """
    weights = np.random.default_rng(0).normal(size=graph.num_features)
    parts = []
    for rows in row_blocks(graph.num_nodes):
        parts.append(graph.x[rows] @ weights)
        release_pages(graph.x)
    return np.concatenate(parts).astype(np.float64, copy=False)


def _neighbor_words(graph: Graph, known: IntArray, num_known: int) -> sp.csr_array:
    """Return a row for each node, with a one in the column of each neighbor that is known."""
    source, target = graph.edge_index
    if graph.edge_weight is not None:
        source, target = graph.edge_index[:, graph.edge_weight != 0]
    if graph.directed:
        source, target = np.concatenate([source, target]), np.concatenate([target, source])
    listed = (known[target] >= 0) & (source != target)
    entries = (source[listed], known[target[listed]])
    matrix = sp.csr_array((np.ones(len(entries[0]), np.float32), entries), shape=(graph.num_nodes, num_known))
    matrix.data[:] = 1  # both directions of an edge were added up
    return matrix
