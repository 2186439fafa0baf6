"""Roles: how many neighbors a node has, and its neighbors have, whoever they are."""

from __future__ import annotations

import numpy as np

from graphprox._utils.arrays import FloatArray
from graphprox.auto.outputs.base import PreparedGraph, Weights, register_output
from graphprox.auto.outputs.neighbor_mean import sum_weights
from graphprox.auto.sparse_products import average_rows
from graphprox.nn.convolution import invert_positive

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
    scale = invert_positive(sum_weights(prepared.neighbors))

    def compute(columns: slice) -> FloatArray:
        own_columns = prepared.store.own_columns(columns)
        parts = []
        for hops in range(HOPS + 1):
            first = NUM_BUCKETS * hops
            own = range(max(own_columns.start - first, 0), min(own_columns.stop - first, NUM_BUCKETS))
            if len(own):
                part = (bucket[:, None] == np.asarray(own)).astype(np.float32)
                for _ in range(hops):
                    part = average_rows(prepared.neighbors, scale, part)
                parts.append(part)
        if not parts:  # more processes than columns
            return np.empty((len(bucket), 0), np.float32)
        return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)

    return prepared.store.fill(len(bucket), NUM_BUCKETS * (HOPS + 1), compute)
