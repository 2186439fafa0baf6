"""Random walks of first order, or of second order as in node2vec.

A second-order walk that came from ``previous`` multiplies the weight of an edge by 1/p if it leads back there, by 1 if
it leads to a neighbor of ``previous``, and by 1/q otherwise. Steps are made by rejection sampling, so nothing is
precomputed per edge: a neighbor is sampled as in a first-order walk and accepted with a probability proportional to its
bias. The edge back, whose bias may be large, is handled separately, as with p = 0.01 a step would take a hundred tries
(KnightKing, SOSP 2019).
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.random import Generator

from graphprox._utils.arrays import IntArray
from graphprox._utils.checks import check_bias, check_integer, sample_seed
from graphprox._utils.hashing import GOLDEN, stream, uniform
from graphprox._utils.numba_helpers import Float32Array, Int32Array, UInt64Array, njit, run_in_parallel
from graphprox.graph.graph import Graph
from graphprox.views.local_structure.adjacency import Adjacency, to_adjacency

NO_NODE = -1  # the previous node of a walk that has just started
MAX_TRIES = 32  # rejections after which all neighbors are enumerated: slow at a hub, but it terminates


def random_walks(
    graph: Graph, rng: Generator, *, num_walks: int = 10, walk_length: int = 80, p: float = 1.0, q: float = 1.0
) -> Int32Array:
    """Sample random walks from every node.

    An edge is taken with a probability proportional to its weight, in either direction; self-loops are ignored. A walk
    from an isolated node stays there.

    Parameters
    ----------
    graph : Graph
    rng : Generator
        Source of randomness. The result depends on its state, but not on the number of threads.
    num_walks : int, default=10
        Number of walks per node.
    walk_length : int, default=80
        Number of steps of a walk.
    p : float, default=1.0
        Return parameter of node2vec: small values lead back often.
    q : float, default=1.0
        In-out parameter of node2vec: large values keep a walk close to its start. If p and q are both 1, the walk is
        of first order.

    Returns
    -------
    ndarray of shape (num_nodes, num_walks, walk_length + 1)
        Nodes visited by each walk, the start first.

    Examples
    --------
    >>> import numpy as np
    >>> from graphprox import Graph
    >>> ring = Graph(x=[[1]] * 4, edge_index=[[0, 1, 2, 3], [1, 2, 3, 0]])
    >>> walks = random_walks(ring, np.random.default_rng(0), num_walks=2, walk_length=5)
    >>> walks.shape, walks[:, :, 0].tolist()
    ((4, 2, 6), [[0, 0], [1, 1], [2, 2], [3, 3]])
    """
    check_integer(num_walks=num_walks, walk_length=walk_length)
    check_bias(p=p, q=q)
    walks = np.empty((graph.num_nodes, num_walks, walk_length + 1), np.int32)
    fill = partial(_fill_walks, to_adjacency(graph), float(p), float(q), sample_seed(rng), walks)
    run_in_parallel(fill, graph.num_nodes)
    return walks


@njit
def _fill_walks(
    adjacency: Adjacency, p: float, q: float, seed: np.uint64, walks: Int32Array, begin: int, end: int
) -> None:
    for node in range(begin, end):
        previous, current, state = start_walks(seed, node, walks.shape[1])
        walks[node, :, 0] = node
        for at in range(1, walks.shape[2]):
            advance_walks(adjacency, p, q, previous, current, state)
            walks[node, :, at] = current


# All walks of a node advance together, so that the processor waits for the memory of many steps at once. Within a step
# arrays are passed one by one, as numba counts references to all arrays of a tuple whenever it is passed on.


@njit
def start_walks(seed: np.uint64, node: int, num_walks: int) -> tuple[Int32Array, Int32Array, UInt64Array]:
    """Return the previous node, the current node and the random state of each walk of a node, (num_walks,) each."""
    state = np.empty(num_walks, np.uint64)
    for number in range(num_walks):
        state[number] = stream(seed, node, number)
    return np.full(num_walks, NO_NODE, np.int32), np.full(num_walks, node, np.int32), state


@njit
def advance_walks(
    adjacency: Adjacency, p: float, q: float, previous: Int32Array, current: Int32Array, state: UInt64Array
) -> None:
    """Move each walk of a node by one step, in place."""
    start, neighbor, share = adjacency.start, adjacency.neighbor, adjacency.share
    keep, other = adjacency.keep, adjacency.other
    first_order = p == 1.0 and q == 1.0
    for number in range(len(current)):
        here, before, random = current[number], previous[number], state[number]
        if start[here] == start[here + 1]:
            continue
        if first_order or before == NO_NODE:
            there = sample_neighbor(start, neighbor, keep, other, here, random)
            random += GOLDEN
        else:
            there, random = _sample_second_order(
                start, neighbor, share, keep, other, 1 / p, 1 / q, before, here, random
            )
        previous[number], current[number], state[number] = here, there, random


@njit
def sample_neighbor(
    start: IntArray, neighbor: Int32Array, keep: Float32Array, other: Int32Array, current: int, state: np.uint64
) -> int:
    """Return a neighbor of the current node, sampled by the weights of the edges."""
    begin = start[current]
    place = uniform(state) * (start[current + 1] - begin)
    at = int(place)
    # The fractional part serves as a second random number.
    if len(keep) and place - at >= keep[begin + at]:
        at = other[begin + at]
    return int(neighbor[begin + at])


@njit
def _sample_second_order(
    start: IntArray,
    neighbor: Int32Array,
    share: Float32Array,
    keep: Float32Array,
    other: Int32Array,
    back: float,
    away: float,
    previous: int,
    current: int,
    state: np.uint64,
) -> tuple[int, np.uint64]:
    """Return a neighbor sampled by the weights of the edges times ``back``, 1 or ``away``, and the next state."""
    begin, end = start[current], start[current + 1]
    if end - begin == 1:
        return previous, state
    highest, lowest = max(1.0, away), min(1.0, away)
    back_share = share[_position(start, neighbor, current, previous)] if len(share) else 1 / (end - begin)
    excess = max(0.0, back - highest) * back_share
    for _ in range(MAX_TRIES):
        if excess > 0:
            state += GOLDEN
            if uniform(state) * (highest + excess) < excess:
                return previous, state + GOLDEN
        state += GOLDEN
        there = sample_neighbor(start, neighbor, keep, other, current, state)
        state += GOLDEN
        limit = uniform(state) * highest
        if there == previous:
            accepted = limit < back
        else:
            accepted = limit < lowest or limit < _bias(start, neighbor, back, away, previous, there)
        if accepted:
            return there, state + GOLDEN
    state += GOLDEN
    return _sample_by_enumeration(start, neighbor, share, back, away, previous, current, state), state + GOLDEN


@njit
def _sample_by_enumeration(
    start: IntArray,
    neighbor: Int32Array,
    share: Float32Array,
    back: float,
    away: float,
    previous: int,
    current: int,
    state: np.uint64,
) -> int:
    """Return a neighbor from the same distribution, by computing the weight of each."""
    begin, end = start[current], start[current + 1]
    weight = np.empty(end - begin, np.float64)
    for at in range(begin, end):
        first_order = share[at] if len(share) else 1 / (end - begin)
        weight[at - begin] = first_order * _bias(start, neighbor, back, away, previous, neighbor[at])
    sums = np.cumsum(weight)
    at = np.searchsorted(sums, uniform(state) * sums[-1], side="right")
    return int(neighbor[begin + min(at, len(sums) - 1)])


@njit
def _bias(start: IntArray, neighbor: Int32Array, back: float, away: float, previous: int, node: int) -> float:
    """Return the factor by which the weight of the edge to a node is multiplied."""
    if node == previous:
        return back
    return 1.0 if are_joined(start, neighbor, previous, node) else away


@njit
def are_joined(start: IntArray, neighbor: Int32Array, one: int, other: int) -> bool:
    """Return whether an edge joins two nodes."""
    if start[one + 1] - start[one] > start[other + 1] - start[other]:
        one, other = other, one  # the shorter row is faster to search
    at = _position(start, neighbor, one, other)
    return bool(at < start[one + 1] and neighbor[at] == other)


@njit
def _position(start: IntArray, neighbor: Int32Array, node: int, wanted: int) -> int:
    """Return the position of a neighbor in the row of a node, or where it would be inserted."""
    low, high = start[node], start[node + 1]
    while low < high:
        middle = (low + high) // 2
        if neighbor[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return int(low)
