"""Random walks: first order, or second order as in node2vec.

A second-order walk that came from ``previous`` weighs each edge by 1/p if it leads back there, by 1 if it leads to a
neighbour of ``previous``, by 1/q otherwise. Nothing is prepared per edge: a neighbour is drawn as in a first-order walk
and kept with the probability that its weight asks for. The way back, whose weight may be large, is weighed apart, or
with p = 0.01 every step would draw a hundred times (KnightKing, SOSP 2019).
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.random import Generator

from graphprox.arrays import IntArray
from graphprox.graph import Graph
from graphprox.proximity.compiled import Float32Array, Int32Array, UInt64Array, compiled, in_parallel
from graphprox.proximity.hashing import GOLDEN, stream, uniform
from graphprox.proximity.options import check_bias, check_whole, draw_seed
from graphprox.proximity.structure import Structure, structure_of

NOWHERE = -1  # where a walk came from that has just begun
TRIES = 32  # after as many draws in vain all neighbours are weighed: long at a hub, but it comes to an end


def random_walks(
    graph: Graph, rng: Generator, *, walks: int = 10, length: int = 80, p: float = 1.0, q: float = 1.0
) -> Int32Array:
    """Walks from every node, (nodes, walks, length + 1): the node itself, then ``length`` steps.

    An edge is taken with a probability proportional to its weight, in either direction; self-loops are not taken. A
    walk from a node without neighbours stays there. ``p`` and ``q`` are node2vec's: a small p leads back often, a large
    q keeps a walk near its start; with both 1 the walk is of first order. An equally seeded rng gives the same bytes
    on any number of threads.

    >>> ring = Graph(x=[[1]] * 4, edge_index=[[0, 1, 2, 3], [1, 2, 3, 0]])
    >>> walks = random_walks(ring, np.random.default_rng(0), walks=2, length=5)
    >>> walks.shape, walks[:, :, 0].tolist()
    ((4, 2, 6), [[0, 0], [1, 1], [2, 2], [3, 3]])
    """
    check_whole(walks=walks, length=length)
    check_bias(p=p, q=q)
    found = np.empty((graph.num_nodes, walks, length + 1), np.int32)
    fill = partial(_fill_walks, structure_of(graph), float(p), float(q), draw_seed(rng), found)
    in_parallel(fill, graph.num_nodes)
    return found


@compiled
def _fill_walks(
    structure: Structure, p: float, q: float, seed: np.uint64, found: Int32Array, first: int, end: int
) -> None:
    for node in range(first, end):
        previous, current, state = begin_walks(seed, node, found.shape[1])
        found[node, :, 0] = node
        for at in range(1, found.shape[2]):
            advance(structure, p, q, previous, current, state)
            found[node, :, at] = current


# All walks of a node go forward together: the processor then waits for the memory of many steps at once. Within a step
# arrays are handed on one by one, as numba counts references to all arrays of a tuple whenever it is handed on.


@compiled
def begin_walks(seed: np.uint64, node: int, walks: int) -> tuple[Int32Array, Int32Array, UInt64Array]:
    """Where each walk of a node comes from, where it is, and the state of its random numbers, (walks,) each."""
    state = np.empty(walks, np.uint64)
    for number in range(walks):
        state[number] = stream(seed, node, number)
    return np.full(walks, NOWHERE, np.int32), np.full(walks, node, np.int32), state


@compiled
def advance(
    structure: Structure, p: float, q: float, previous: Int32Array, current: Int32Array, state: UInt64Array
) -> None:
    """Move each walk of a node by one step."""
    start, neighbour, share = structure.start, structure.neighbour, structure.share
    keep, other = structure.keep, structure.other
    first_order = p == 1.0 and q == 1.0
    for number in range(len(current)):
        here, came_from, random = current[number], previous[number], state[number]
        if start[here] == start[here + 1]:
            continue
        if first_order or came_from == NOWHERE:
            there = _any_neighbour(start, neighbour, keep, other, here, random)
            random += GOLDEN
        else:
            there, random = _second_order_step(
                start, neighbour, share, keep, other, 1 / p, 1 / q, came_from, here, random
            )
        previous[number], current[number], state[number] = here, there, random


@compiled
def _any_neighbour(
    start: IntArray, neighbour: Int32Array, keep: Float32Array, other: Int32Array, current: int, state: np.uint64
) -> int:
    """A neighbour drawn by the weights of the edges."""
    begin = start[current]
    place = uniform(state) * (start[current + 1] - begin)
    at = int(place)
    # What is left of the place behind the point is as good as a second random number.
    if len(keep) and place - at >= keep[begin + at]:
        at = other[begin + at]
    return int(neighbour[begin + at])


@compiled
def _second_order_step(
    start: IntArray,
    neighbour: Int32Array,
    share: Float32Array,
    keep: Float32Array,
    other: Int32Array,
    back: float,
    away: float,
    previous: int,
    current: int,
    state: np.uint64,
) -> tuple[int, np.uint64]:
    """A neighbour drawn by the weights of the edges times ``back``, 1 or ``away``; and the next state."""
    begin, end = start[current], start[current + 1]
    if end - begin == 1:
        return previous, state
    most, least = max(1.0, away), min(1.0, away)
    back_share = share[_position(start, neighbour, current, previous)] if len(share) else 1 / (end - begin)
    excess = max(0.0, back - most) * back_share
    for _ in range(TRIES):
        if excess > 0:
            state += GOLDEN
            if uniform(state) * (most + excess) < excess:
                return previous, state + GOLDEN
        state += GOLDEN
        drawn = _any_neighbour(start, neighbour, keep, other, current, state)
        state += GOLDEN
        limit = uniform(state) * most
        if drawn == previous:
            kept = limit < back
        else:
            kept = limit < least or limit < _bias(start, neighbour, back, away, previous, drawn)
        if kept:
            return drawn, state + GOLDEN
    state += GOLDEN
    return _weighed_step(start, neighbour, share, back, away, previous, current, state), state + GOLDEN


@compiled
def _weighed_step(
    start: IntArray,
    neighbour: Int32Array,
    share: Float32Array,
    back: float,
    away: float,
    previous: int,
    current: int,
    state: np.uint64,
) -> int:
    """The same draw, made by weighing every neighbour."""
    begin, end = start[current], start[current + 1]
    weight = np.empty(end - begin, np.float64)
    for at in range(begin, end):
        first_order = share[at] if len(share) else 1 / (end - begin)
        weight[at - begin] = first_order * _bias(start, neighbour, back, away, previous, neighbour[at])
    sums = np.cumsum(weight)
    at = np.searchsorted(sums, uniform(state) * sums[-1], side="right")
    return int(neighbour[begin + min(at, len(sums) - 1)])


@compiled
def _bias(start: IntArray, neighbour: Int32Array, back: float, away: float, previous: int, node: int) -> float:
    if node == previous:
        return back
    return 1.0 if are_joined(start, neighbour, previous, node) else away


@compiled
def are_joined(start: IntArray, neighbour: Int32Array, one: int, other: int) -> bool:
    """Whether an edge joins two nodes."""
    if start[one + 1] - start[one] > start[other + 1] - start[other]:
        one, other = other, one  # the shorter row is the faster one to search
    at = _position(start, neighbour, one, other)
    return bool(at < start[one + 1] and neighbour[at] == other)


@compiled
def _position(start: IntArray, neighbour: Int32Array, node: int, wanted: int) -> int:
    """Where in the node's row the wanted neighbour stands, or would stand."""
    low, high = start[node], start[node + 1]
    while low < high:
        middle = (low + high) // 2
        if neighbour[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return int(low)
