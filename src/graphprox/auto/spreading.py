"""Spreading of rows: over edges, and over the nodes that are most similar."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphprox._utils.arrays import FloatArray
from graphprox._utils.progress import current_progress
from graphprox.auto.row_store import RowStore
from graphprox.auto.stages import Stages
from graphprox.nn.convolution import Edges
from graphprox.nn.encoders.gcn import GCNConv
from graphprox.nn.propagation import evaluate_polynomial, pagerank_coefficients
from graphprox.views.ranking import NO_NEIGHBOR
from graphprox.views.search import rank

NUM_SIMILAR = 20  # nodes that each node is linked with
LARGE = 10_000  # nodes; the search for similar ones in a smaller graph is too short to be shown


def similar_edges(
    rows: FloatArray,
    *,
    random_state: int,
    store: RowStore | None = None,
    num_nodes: int = 0,
    stages: Stages | None = None,
    name: str = "",
) -> Edges:
    """Link each node with the nodes whose rows are most similar by cosine, in both directions.

    Parameters
    ----------
    rows : ndarray of shape (num_nodes, channels)
    random_state : int
        Random seed of ties.
    store : RowStore, optional
        Where rows are kept, which several processes may divide; by default these are all.
    num_nodes : int, optional
        Number of nodes of all processes, by default that of the rows.
    stages : Stages, optional
        Where the nodes that were found are kept, for a run that is resumed.
    name : str, default=""
        Name of the stage.

    Returns
    -------
    Edges
        Of all nodes, normalized as GCN does.

    Examples
    --------
    >>> edges = similar_edges(np.eye(3, dtype=np.float32) + 1, random_state=0)
    >>> diffuse_rows(edges, np.eye(3, dtype=np.float32), 0.5, 1)[0].round(2)
    array([0.67, 0.17, 0.17], dtype=float32)
    """

    def search() -> NDArray[np.int32]:
        return _find_similar(rows if store is None else store.gather(rows, num_nodes), random_state)

    return GCNConv.prepare_edges(_link_both_ways((stages or Stages()).keep(name, search)))


def _find_similar(rows: FloatArray, random_state: int) -> NDArray[np.int32]:
    num_nodes = len(rows)
    # The search takes most of the time in a large graph, and says how far it is.
    progress = current_progress() if num_nodes >= LARGE else None
    return rank(rows, k_max=min(NUM_SIMILAR, num_nodes - 1), random_state=random_state, progress=progress).neighbors


def _link_both_ways(neighbors: NDArray[np.int32]) -> sp.csr_array:
    """Return ones where one of two nodes has the other among its neighbors, which are padded by -1."""
    listed = neighbors != NO_NEIGHBOR
    starts = np.concatenate([[0], np.cumsum(listed.sum(axis=1))])
    starts = starts.astype(np.int32 if starts[-1] < np.iinfo(np.int32).max else np.int64)
    parts = np.ones(starts[-1], np.int8), neighbors[listed], starts
    matrix = sp.csr_array(parts, shape=(len(neighbors), len(neighbors)))
    matrix.sort_indices()
    return sp.csr_array(matrix.maximum(sp.csr_array(matrix.T))).astype(np.float32)


def diffuse_rows(
    edges: Edges,
    rows: FloatArray,
    alpha: float,
    hops: int,
    *,
    store: RowStore | None = None,
    finish: Callable[[FloatArray], FloatArray] | None = None,
) -> FloatArray:
    """Return the personalized PageRank of every column.

    Parameters
    ----------
    edges : Edges
    rows : ndarray of shape (num_nodes, channels)
        Those that the store keeps, if several processes divide them.
    alpha : float
        Teleport probability: the weight of a node's own row.
    hops : int
        Number of power iterations.
    store : RowStore, optional
        Where the result is kept; in memory by default.
    finish : callable, optional
        Applied to blocks of the resulting rows.

    Returns
    -------
    ndarray of shape (num_nodes, channels)
        Those that the store keeps.
    """
    rows, store, num_nodes = np.asarray(rows, np.float32), store or RowStore(), len(edges.pattern.starts) - 1
    coefficients = pagerank_coefficients(alpha, hops)

    def spread(columns: slice) -> FloatArray:
        return evaluate_polynomial(edges, store.read_columns(rows, columns, num_nodes), coefficients)

    return store.fill(num_nodes, rows.shape[1], spread, finish)
