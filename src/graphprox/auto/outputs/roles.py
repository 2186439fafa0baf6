"""Roles: how many neighbors a node has, and its neighbors have, whoever they are."""

from __future__ import annotations

import numpy as np

from graphprox._utils.arrays import FloatArray
from graphprox.auto.outputs.base import PreparedGraph, Weights, register_output
from graphprox.auto.outputs.neighbor_mean import average_over_neighbors

NUM_BUCKETS = 64  # two for each doubling of the degree, so that no graph has more
HOPS = 2


@register_output("roles", Weights(both=0.3, balanced=0.2, graph=0.2, edges=0.5))
def roles(prepared: PreparedGraph) -> FloatArray:
    """Degree of the node and distribution of degrees around it: stars, rings and cliques differ.

    Parameters
    ----------
    prepared : PreparedGraph

    Returns
    -------
    ndarray of shape (num_nodes, 192)
        Buckets of the degree, one-hot, and their mean over one and two hops.
    """
    bucket = np.minimum(np.floor(2 * np.log2(prepared.num_neighbors + 1)).astype(np.int64), NUM_BUCKETS - 1)
    hops = [np.eye(NUM_BUCKETS, dtype=np.float32)[bucket]]
    for _ in range(HOPS):
        hops.append(average_over_neighbors(prepared.neighbors, hops[-1]))
    return np.concatenate(hops, axis=1)
