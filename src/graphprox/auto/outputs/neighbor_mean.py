"""Neighbor mean: features of neighbors, without those of the node itself."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphprox._utils.arrays import FloatArray
from graphprox.auto.outputs.base import PreparedGraph, Weights, register_output
from graphprox.auto.row_store import RowStore
from graphprox.auto.sparse_products import average_rows
from graphprox.nn.convolution import invert_positive


@register_output("neighbors", Weights(both=0.5, balanced=0.7, graph=0.4))
def neighbor_mean(prepared: PreparedGraph) -> FloatArray:
    """Mean features of the neighbors, without the node itself.

    Parameters
    ----------
    prepared : PreparedGraph

    Returns
    -------
    ndarray of shape (num_nodes, channels)
        Zero for nodes without neighbors.
    """
    return average_over_neighbors(prepared.neighbors, prepared.rows, prepared.store)


def average_over_neighbors(neighbors: sp.csr_array, rows: FloatArray, store: RowStore | None = None) -> FloatArray:
    """Return the mean of the rows of the neighbors of each node.

    Parameters
    ----------
    neighbors : csr_array of shape (num_nodes, num_nodes)
        Edge weights.
    rows : ndarray of shape (num_nodes, channels)
    store : RowStore, optional
        Where the result is kept; in memory by default.

    Returns
    -------
    ndarray of shape (num_nodes, channels)
        Those that the store keeps.
    """
    scale, store, num_nodes = invert_positive(sum_weights(neighbors)), store or RowStore(), neighbors.shape[0]

    def average(columns: slice) -> FloatArray:
        return average_rows(neighbors, scale, store.read_columns(rows, columns, num_nodes))

    return store.fill(num_nodes, rows.shape[1], average)


def sum_weights(neighbors: sp.csr_array) -> NDArray[np.float64]:
    """Return the sum of the weights of the neighbors of each node.

    Parameters
    ----------
    neighbors : csr_array of shape (num_nodes, num_nodes)

    Returns
    -------
    ndarray of shape (num_nodes,)
        In double precision: sums and inverses of weights in single precision may be infinite.
    """
    if (neighbors.data == 1).all():
        return np.diff(neighbors.indptr).astype(np.float64)
    parts = neighbors.data.astype(np.float64), neighbors.indices, neighbors.indptr
    return np.asarray(sp.csr_array(parts, shape=neighbors.shape).sum(axis=1)).ravel()
