"""Neighbor mean: features of neighbors, without those of the node itself."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from graphprox._utils.arrays import FloatArray
from graphprox.auto.outputs.base import PreparedGraph, Weights, register_output
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
    return average_over_neighbors(prepared.neighbors, prepared.rows)


def average_over_neighbors(neighbors: sp.csr_array, rows: FloatArray) -> FloatArray:
    """Return the mean of the rows of the neighbors of each node.

    Parameters
    ----------
    neighbors : csr_array of shape (num_nodes, num_nodes)
        Edge weights.
    rows : ndarray of shape (num_nodes, channels)

    Returns
    -------
    ndarray of shape (num_nodes, channels)
    """
    weights = neighbors.astype(np.float64)  # sums and inverses of weights in single precision may be infinite
    scale = invert_positive(np.asarray(weights.sum(axis=1)).ravel())
    return np.asarray(sp.diags_array(scale) @ weights @ rows, dtype=np.float32)
