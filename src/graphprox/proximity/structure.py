"""Structure: the bare shape of a graph, as walks and subgraphs read it.

Direction and self-loops are left out. Weights say how likely a walk takes an edge, and nothing else: an edge of weight
zero is part of every subgraph that holds both ends, but no walk takes it, unless all edges of the node weigh zero, when
all are alike.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from graphprox.arrays import IntArray
from graphprox.graph import Graph
from graphprox.proximity.compiled import Float32Array, Float64Array, Int32Array, compiled


class Structure(NamedTuple):
    """The neighbours of each node, twice: all of them, to walk; and those that stand above it, to find edges.

    Those of node ``i`` are ``neighbour[start[i]:start[i + 1]]``, rising. A node stands above another if it has more
    neighbours, or as many and a higher number: each edge is listed once, at its lower end. So a hub lists but
    few, and the edges inside a subgraph are found without reading the long rows of the hubs in it.

    The alias table has an entry per neighbour, or is empty where the graph has no weights. A walk picks an entry, all
    alike, and with probability ``keep`` takes it, otherwise the entry ``other`` of the same row.
    """

    start: IntArray  # (nodes + 1,)
    neighbour: Int32Array  # (entries,)
    above_start: IntArray  # (nodes + 1,)
    above: Int32Array  # (entries / 2,)
    share: Float32Array  # (entries,) of the weight of all entries of the row; or empty
    keep: Float32Array  # (entries,) or empty
    other: Int32Array  # (entries,) position in the row; or empty


def structure_of(graph: Graph) -> Structure:
    """The structure of a graph, directed or not, weighted or not."""
    graph = graph.to_undirected() if graph.directed else graph
    source, target = graph.edge_index.astype(np.int32)
    weight = graph.edge_weight
    if graph.num_self_loops:
        joins = source != target
        source, target, weight = source[joins], target[joins], None if weight is None else weight[joins]
    start, degree = _starts(source, graph.num_nodes)
    lower, upper = degree[source], degree[target]
    rises = (lower < upper) | ((lower == upper) & (source < target))
    above_start, _ = _starts(source[rises], graph.num_nodes)
    if weight is None:
        table = (np.empty(0, np.float32), np.empty(0, np.float32), np.empty(0, np.int32))
    else:
        table = _alias_table(start, weight.copy())  # numba takes read-only arrays for another type
    return Structure(start, target.copy(), above_start, target[rises], *table)


def _starts(source: Int32Array, num_nodes: int) -> tuple[IntArray, Int32Array]:
    """Where the row of each node begins, (nodes + 1,), and how long it is, (nodes,)."""
    degree = np.bincount(source, minlength=num_nodes)
    start = np.zeros(num_nodes + 1, np.int64)
    np.cumsum(degree, out=start[1:])
    return start, degree.astype(np.int32)


@compiled
def _alias_table(start: IntArray, weight: Float32Array) -> tuple[Float32Array, Float32Array, Int32Array]:
    """Walker's table of each row by Vose's method: share, keep and other, (entries,) each."""
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
        _share_out(weight[row], share[row], level)
        _pair_up(level, order, keep[row], other[row])
    return share, keep, other


@compiled
def _share_out(weight: Float32Array, share: Float32Array, level: Float64Array) -> None:
    """The share of each entry, and its level: how many times the mean share it has."""
    total = 0.0
    for each in weight:
        total += each
    for at in range(len(weight)):
        level[at] = weight[at] / total * len(weight) if total > 0 else 1.0
        share[at] = level[at] / len(weight)


@compiled
def _pair_up(level: Float64Array, order: Int32Array, keep: Float32Array, other: Int32Array) -> None:
    """Fill each entry whose level is below 1 up to 1 from one whose level is above. The levels are used up."""
    # Two stacks in one array: low entries from its front, high ones from its back.
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
