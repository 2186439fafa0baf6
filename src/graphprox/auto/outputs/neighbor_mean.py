"""Neighbor mean: features of neighbors, without those of the node itself."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from graphprox._utils.arrays import FloatArray
from graphprox.auto.outputs.base import PreparedGraph, register_output
from graphprox.nn.convolution import invert_positive


@register_output("neighbors")
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
    scale = invert_positive(np.asarray(neighbors.sum(axis=1), np.float32).ravel())
    return np.asarray(sp.diags_array(scale) @ (neighbors @ rows), dtype=np.float32)
