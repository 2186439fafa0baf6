"""Amount: how many features a node has, which rows of unit length do not show."""

from __future__ import annotations

import numpy as np

from graphprox._utils.arrays import FloatArray
from graphprox._utils.mapped import release_pages
from graphprox.auto.outputs.base import PreparedGraph, Weights, register_output
from graphprox.auto.row_store import row_blocks

NUM_BUCKETS = 65  # four for each doubling, half of them below the typical amount
PER_DOUBLING = 4


@register_output("amount", Weights(features=0.3, both=0.3, balanced=0.2, graph=0.2))
def amount(prepared: PreparedGraph) -> FloatArray:
    """Number of features that the node has, or the length of its row if they are dense.

    Parameters
    ----------
    prepared : PreparedGraph

    Returns
    -------
    ndarray of shape (num_nodes, 65)
        Its place on a logarithmic scale around the typical amount: the two nearest buckets share a one, so that
        amounts that are nearly equal are nearly equal here. Zero for nodes without features.
    """
    sizes = prepared.sizes
    rows = prepared.store.empty(len(sizes), NUM_BUCKETS)
    for block in row_blocks(len(sizes)):
        rows[block] = _divide_among_buckets(sizes[block])
        release_pages(rows)
    return rows


def _divide_among_buckets(sizes: FloatArray) -> FloatArray:
    rows = np.zeros((len(sizes), NUM_BUCKETS), np.float32)
    present = np.flatnonzero(sizes)
    place = np.clip(PER_DOUBLING * np.log2(sizes[present]) + NUM_BUCKETS // 2, 0, NUM_BUCKETS - 1)
    below = np.minimum(np.floor(place).astype(np.int64), NUM_BUCKETS - 2)
    rows[present, below] = 1 - (place - below)
    rows[present, below + 1] = place - below
    return rows
