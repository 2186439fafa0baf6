"""Adjacency: the neighbor lists of a graph, the input of compiled walks and subgraphs.

Directions and self-loops are ignored. Weights determine only how likely a walk takes an edge: an edge of weight zero
is part of every subgraph that contains both ends, but no walk takes it, unless all edges of the node have weight zero,
in which case all are equally likely.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from graphprox._utils.arrays import IntArray
from graphprox._utils.mapped import release_pages
from graphprox._utils.numba_helpers import Float32Array, Float64Array, Int32Array, njit
from graphprox.graph.graph import Graph


class Adjacency(NamedTuple):
    """Neighbor lists of a graph, alias tables to sample from them, and each edge once.

    The neighbors of node ``i`` are ``neighbor[start[i]:start[i + 1]]``, ascending. ``above`` lists each edge only at
    its end of lower degree (of equal degrees, at the smaller node), so hubs have short lists and the edges inside a
    subgraph are found without reading the long neighbor lists of its hubs.

    The alias table has an entry per neighbor, or is empty if the graph has no weights. A walk picks an entry uniformly
    and takes it with probability ``keep``, and otherwise the entry ``other`` of the same row.
    """

    start: IntArray  # (num_nodes + 1,)
    neighbor: Int32Array  # (num_entries,)
    above_start: IntArray  # (num_nodes + 1,)
    above: Int32Array  # (num_entries / 2,)
    share: Float32Array  # (num_entries,) of the total weight of the row; or empty
    keep: Float32Array  # (num_entries,) or empty
    other: Int32Array  # (num_entries,) position in the row; or empty


def to_adjacency(graph: Graph) -> Adjacency:
    """Return the neighbor lists of a graph, directed or not, weighted or not."""
    graph = graph.to_undirected() if graph.directed else graph
    source, target = graph.edge_index.astype(np.int32)
    weight = graph.edge_weight
    has_loops = bool(graph.num_self_loops)
    release_pages(graph.edge_index)
    if has_loops:
        joins = source != target
        source, target, weight = source[joins], target[joins], None if weight is None else weight[joins]
    start, degree = _row_starts(source, graph.num_nodes)
    lower, upper = degree[source], degree[target]
    rises = (lower < upper) | ((lower == upper) & (source < target))
    above_start, _ = _row_starts(source[rises], graph.num_nodes)
    if weight is None:
        table = (np.empty(0, np.float32), np.empty(0, np.float32), np.empty(0, np.int32))
    else:
        table = build_alias_table(start, weight.copy())  # numba compiles again for read-only arrays
    return Adjacency(start, target.copy(), above_start, target[rises], *table)


def _row_starts(source: Int32Array, num_nodes: int) -> tuple[IntArray, Int32Array]:
    """Return where the row of each node starts, (num_nodes + 1,), and its length, (num_nodes,)."""
    degree = np.bincount(source, minlength=num_nodes)
    start = np.zeros(num_nodes + 1, np.int64)
    np.cumsum(degree, out=start[1:])
    return start, degree.astype(np.int32)


@njit
def build_alias_table(start: IntArray, weight: Float32Array) -> tuple[Float32Array, Float32Array, Int32Array]:
    """Return the alias table of each row by Vose's method: share, keep and other, (num_entries,) each."""
    share = np.empty(len(weight), np.float32)
    keep = np.ones(len(weight), np.float32)
    other = np.zeros(len(weight), np.int32)
    longest = 0
    for node in range(len(start) - 1):
        longest = max(longest, start[node + 1] - start[node])
    level = np.empty(longest, np.float64)
    order = np.empty(longest, np.int32)
    for node in range(len(start) - 1):
        row = slice(start[node], start[node + 1])
        _normalize_weights(weight[row], share[row], level)
        _fill_alias_row(level, order, keep[row], other[row])
    return share, keep, other


@njit
def _normalize_weights(weight: Float32Array, share: Float32Array, level: Float64Array) -> None:
    """Write the share of each entry of the total weight, and its level: the ratio of its share to the mean share."""
    total = 0.0
    for each in weight:
        total += each
    for at in range(len(weight)):
        level[at] = weight[at] / total * len(weight) if total > 0 else 1.0
        share[at] = level[at] / len(weight)


@njit
def _fill_alias_row(level: Float64Array, order: Int32Array, keep: Float32Array, other: Int32Array) -> None:
    """Fill each entry whose level is below 1 from one whose level is above; the levels are overwritten."""
    # Two stacks in one array: low entries at its front, high ones at its back.
    low, high = 0, len(keep)
    for at in range(len(keep)):
        if level[at] < 1:
            order[low] = at
            low += 1
        else:
            high -= 1
            order[high] = at
    while low > 0 and high < len(keep):
        low -= 1
        taker, giver = order[low], order[high]
        keep[taker], other[taker] = level[taker], giver
        level[giver] -= 1 - level[taker]
        if level[giver] < 1:
            high += 1
            order[low] = giver
            low += 1
