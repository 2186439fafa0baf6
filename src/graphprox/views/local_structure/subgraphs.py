"""The subgraph around a node: the nodes that random walks visit, or those within some hops, and the edges among them.

Subgraphs are built one at a time and discarded, so memory does not grow with the number of nodes. Members have local
numbers in the order in which they are found; the node itself is number 0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from graphprox._utils.arrays import IntArray
from graphprox._utils.checks import check_bias, check_choice, check_integer, random_seed_from
from graphprox._utils.numba_helpers import Int32Array, njit
from graphprox.graph.graph import Graph
from graphprox.views.local_structure.adjacency import Adjacency, to_adjacency
from graphprox.views.local_structure.walks import advance_walks, start_walks

KINDS = ("walks", "egonet")
NOT_A_MEMBER = -1  # local number


class Sampler(NamedTuple):
    """How subgraphs are sampled; ``hops`` is 0 if they are sampled by walks."""

    hops: int
    num_walks: int
    walk_length: int
    p: float
    q: float
    seed: np.uint64


class Subgraph(NamedTuple):
    """A subgraph around a node.

    Parameters
    ----------
    nodes : ndarray of shape (n_members,)
        Members, the node itself first.
    edges : ndarray of shape (2, n_edges)
        Positions in ``nodes`` of both ends of each edge, each edge once.
    """

    nodes: IntArray
    edges: IntArray


def make_sampler(
    rng: Generator, *, subgraphs: str, num_walks: int, walk_length: int, p: float, q: float, hops: int
) -> Sampler:
    """Return a sampler with these options, after checking them, and a seed drawn from ``rng``."""
    check_choice(KINDS, subgraphs=subgraphs)
    check_integer(num_walks=num_walks, walk_length=walk_length, hops=hops)
    check_bias(p=p, q=q)
    radius = int(hops) if subgraphs == "egonet" else 0
    return Sampler(radius, int(num_walks), int(walk_length), float(p), float(q), random_seed_from(rng))


def sample_subgraph(
    graph: Graph,
    node: int,
    rng: Generator,
    *,
    subgraphs: str = "walks",
    num_walks: int = 30,
    walk_length: int = 10,
    p: float = 1.0,
    q: float = 1.0,
    hops: int = 2,
) -> Subgraph:
    """Sample the subgraph around a node that `topology_descriptor` compares.

    Parameters
    ----------
    graph : Graph
    node : int
    rng : Generator
        An equally seeded generator gives `topology_descriptor` the same subgraph.
    subgraphs : {"walks", "egonet"}, default="walks"
        Nodes visited by random walks, or all nodes within ``hops``.
    num_walks, walk_length, p, q : int, int, float, float
        Random walks, as in `random_walks`.
    hops : int, default=2
        Radius of the egonet.

    Returns
    -------
    Subgraph

    Examples
    --------
    >>> import numpy as np
    >>> from graphprox import Graph
    >>> star = Graph(x=[[1]] * 4, edge_index=[[0, 0, 0], [1, 2, 3]])
    >>> nodes, edges = sample_subgraph(star, 2, np.random.default_rng(0), subgraphs="egonet", hops=1)
    >>> nodes.tolist(), nodes[edges].tolist()
    ([2, 0], [[2], [0]])
    """
    check_integer(min=0, max=graph.num_nodes - 1, node=node)
    sampler = make_sampler(rng, subgraphs=subgraphs, num_walks=num_walks, walk_length=walk_length, p=p, q=q, hops=hops)
    local, members = allocate_members(graph.num_nodes)
    size, first, second = build_subgraph(to_adjacency(graph), sampler, int(node), local, members)
    return Subgraph(members[:size].astype(np.int64), np.stack([first, second]).astype(np.int64))


@njit
def allocate_members(num_nodes: int) -> tuple[Int32Array, Int32Array]:
    """Return the local numbers, (num_nodes,), and members, (num_nodes + 1,), of an empty subgraph."""
    return np.full(num_nodes, NOT_A_MEMBER, np.int32), np.empty(num_nodes + 1, np.int32)


@njit
def build_subgraph(
    adjacency: Adjacency, sampler: Sampler, node: int, local: Int32Array, members: Int32Array
) -> tuple[int, Int32Array, Int32Array]:
    """Return the number of members, and the local numbers of both ends of each edge, (n_edges,) each.

    The members are written to ``members``; ``local`` is cleared again.
    """
    if sampler.hops > 0:
        size = _visit_hops(adjacency.start, adjacency.neighbor, sampler.hops, node, local, members)
    else:
        size = _visit_walks(adjacency, sampler, node, local, members)
    first, second = _find_edges(adjacency.above_start, adjacency.above, members[:size], local)
    for member in members[:size]:
        local[member] = NOT_A_MEMBER
    return size, first, second


@njit
def _visit_walks(adjacency: Adjacency, sampler: Sampler, node: int, local: Int32Array, members: Int32Array) -> int:
    previous, current, state = start_walks(sampler.seed, node, sampler.num_walks)
    size = _visit(node, 0, local, members)
    for _ in range(sampler.walk_length):
        advance_walks(adjacency, sampler.p, sampler.q, previous, current, state)
        for member in current:
            size = _visit(member, size, local, members)
    return size


@njit
def _visit_hops(
    start: IntArray, neighbor: Int32Array, hops: int, node: int, local: Int32Array, members: Int32Array
) -> int:
    size = _visit(node, 0, local, members)
    reached = 0
    for _ in range(hops):
        ring = members[reached:size]
        reached = size
        for member in ring:
            for at in range(start[member], start[member + 1]):
                size = _visit(neighbor[at], size, local, members)
    return size


@njit
def _visit(node: int, size: int, local: Int32Array, members: Int32Array) -> int:
    """Make a node a member, and return the number of members."""
    # Without a branch, which would be mispredicted half of the time.
    known = local[node]
    is_new = known == NOT_A_MEMBER
    local[node] = size if is_new else known
    members[size] = node
    return size + int(is_new)


@njit
def _find_edges(
    start: IntArray, above: Int32Array, members: Int32Array, local: Int32Array
) -> tuple[Int32Array, Int32Array]:
    """Return the local numbers of both ends of each edge among the members, (n_edges,) each."""
    capacity = 0
    for member in members:
        capacity += start[member + 1] - start[member]
    first, second = np.empty(capacity, np.int32), np.empty(capacity, np.int32)
    found = 0
    for number in range(len(members)):
        member = members[number]
        for at in range(start[member], start[member + 1]):
            there = local[above[at]]
            if there != NOT_A_MEMBER:
                first[found] = number
                second[found] = there
                found += 1
    return first[:found], second[:found]
