"""The subgraph of a node: whom its random walks visit, or who is within some hops of it; and the edges among them.

Subgraphs are made one after another and thrown away again, so memory does not grow with the number of nodes. Members
are known by local numbers, in the order in which they were found; the node itself is number 0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from graphprox.arrays import IntArray
from graphprox.graph import Graph
from graphprox.proximity.compiled import Int32Array, compiled
from graphprox.proximity.options import check_bias, check_one_of, check_whole, draw_seed
from graphprox.proximity.structure import Structure, structure_of
from graphprox.proximity.walks import advance, begin_walks

KINDS = ("walks", "egonet")
OUTSIDE = -1  # the local number of a node that is no member


class Sampler(NamedTuple):
    """How the subgraph of a node is drawn; ``hops`` is 0 where it is drawn by walks."""

    hops: int
    walks: int
    length: int
    p: float
    q: float
    seed: np.uint64


class Subgraph(NamedTuple):
    """The members of a subgraph, (members,), the node itself first, and its edges, (2, edges), each once."""

    nodes: IntArray
    edges: IntArray  # positions in ``nodes``


def checked_sampler(
    rng: Generator, *, subgraphs: str, walks: int, length: int, p: float, q: float, hops: int
) -> Sampler:
    """A sampler with these options, and with a seed that is drawn from the rng."""
    check_one_of(KINDS, subgraphs=subgraphs)
    check_whole(walks=walks, length=length, hops=hops)
    check_bias(p=p, q=q)
    by_hops = int(hops) if subgraphs == "egonet" else 0
    return Sampler(by_hops, int(walks), int(length), float(p), float(q), draw_seed(rng))


def sampled_subgraph(
    graph: Graph,
    node: int,
    rng: Generator,
    *,
    subgraphs: str = "walks",
    walks: int = 30,
    length: int = 10,
    p: float = 1.0,
    q: float = 1.0,
    hops: int = 2,
) -> Subgraph:
    """The subgraph of a node that :func:`graphprox.proximity.topology.topology` sees with an equally seeded rng.

    >>> star = Graph(x=[[1]] * 4, edge_index=[[0, 0, 0], [1, 2, 3]])
    >>> nodes, edges = sampled_subgraph(star, 2, np.random.default_rng(0), subgraphs="egonet", hops=1)
    >>> nodes.tolist(), nodes[edges].tolist()
    ([2, 0], [[2], [0]])
    """
    check_whole(least=0, most=graph.num_nodes - 1, node=node)
    sampler = checked_sampler(rng, subgraphs=subgraphs, walks=walks, length=length, p=p, q=q, hops=hops)
    local, members = empty_map(graph.num_nodes)
    size, first, second = draw_subgraph(structure_of(graph), sampler, int(node), local, members)
    return Subgraph(members[:size].astype(np.int64), np.stack([first, second]).astype(np.int64))


@compiled
def empty_map(num_nodes: int) -> tuple[Int32Array, Int32Array]:
    """Local numbers, (nodes,), and members, (nodes + 1,), of a subgraph that has no member yet."""
    return np.full(num_nodes, OUTSIDE, np.int32), np.empty(num_nodes + 1, np.int32)


@compiled
def draw_subgraph(
    structure: Structure, sampler: Sampler, node: int, local: Int32Array, members: Int32Array
) -> tuple[int, Int32Array, Int32Array]:
    """The number of members, and the local numbers of the lower and the upper end of each edge, (edges,).

    The members are left in ``members``; the map of local numbers is given back empty.
    """
    if sampler.hops > 0:
        size = _visit_near(structure.start, structure.neighbour, sampler.hops, node, local, members)
    else:
        size = _visit_by_walks(structure, sampler, node, local, members)
    first, second = _edges_among(structure.above_start, structure.above, members[:size], local)
    for member in members[:size]:
        local[member] = OUTSIDE
    return size, first, second


@compiled
def _visit_by_walks(structure: Structure, sampler: Sampler, node: int, local: Int32Array, members: Int32Array) -> int:
    previous, current, state = begin_walks(sampler.seed, node, sampler.walks)
    size = _visit(node, 0, local, members)
    for _ in range(sampler.length):
        advance(structure, sampler.p, sampler.q, previous, current, state)
        for member in current:
            size = _visit(member, size, local, members)
    return size


@compiled
def _visit_near(
    start: IntArray, neighbour: Int32Array, hops: int, node: int, local: Int32Array, members: Int32Array
) -> int:
    size = _visit(node, 0, local, members)
    reached = 0
    for _ in range(hops):
        ring = members[reached:size]
        reached = size
        for member in ring:
            for at in range(start[member], start[member + 1]):
                size = _visit(neighbour[at], size, local, members)
    return size


@compiled
def _visit(node: int, size: int, local: Int32Array, members: Int32Array) -> int:
    """The number of members once the node is one of them."""
    # Without a branch, which a processor would guess wrong every other time.
    known = local[node]
    is_new = known == OUTSIDE
    local[node] = size if is_new else known
    members[size] = node
    return size + int(is_new)


@compiled
def _edges_among(
    start: IntArray, above: Int32Array, members: Int32Array, local: Int32Array
) -> tuple[Int32Array, Int32Array]:
    """The local numbers of the lower and the upper end of each edge among the members, (edges,) each."""
    most = 0
    for member in members:
        most += start[member + 1] - start[member]
    first, second = np.empty(most, np.int32), np.empty(most, np.int32)
    found = 0
    for number in range(len(members)):
        member = members[number]
        for at in range(start[member], start[member + 1]):
            there = local[above[at]]
            if there != OUTSIDE:
                first[found] = number
                second[found] = there
                found += 1
    return first[:found], second[:found]
