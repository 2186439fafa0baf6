"""What a ranking looks like as a graph, in numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graphprox.arrays import IntArray
from graphprox.errors import GraphError
from graphprox.graph import UNKNOWN_LABEL, Graph
from graphprox.proximity.ranking import Ranking


@dataclass(frozen=True)
class Quality:
    """Figures of the graph of each node's first k neighbours; ``homophily`` is None where there are no labels."""

    k: int
    edges: int
    reciprocity: float  # share of edges whose other direction is there too
    largest_in_degree: int  # the largest number of nodes that list the same one
    unlisted: float  # share of nodes that nobody lists
    overlap: float  # share of edges that the graph has too, in either direction
    homophily: float | None  # share of edges that join nodes of the same class, those of unknown class left out


def quality(ranking: Ranking, graph: Graph, *, k: int | None = None) -> Quality:
    """Measure the graph of each node's first k neighbours, of all that are ranked unless told; a share of nothing is 0.

    >>> ranking = Ranking(neighbors=[[1], [0], [0]], similarities=[[1], [1], [1]])
    >>> graph = Graph(x=[[1]] * 3, edge_index=[[1], [2]], y=[0, 0, 1])
    >>> quality(ranking, graph)  # doctest: +NORMALIZE_WHITESPACE
    Quality(k=1, edges=3, reciprocity=0.6666666666666666, largest_in_degree=2, unlisted=0.3333333333333333, overlap=0.0,
            homophily=0.6666666666666666)
    """
    _check(ranking, graph)
    k = ranking.k_max if k is None else k
    edges = ranking.graph(k)
    listed = np.bincount(edges[1], minlength=graph.num_nodes)
    return Quality(
        k=k,
        edges=edges.shape[1],
        reciprocity=_share_within(edges, edges[::-1], graph.num_nodes),
        largest_in_degree=int(listed.max()),
        unlisted=float((listed == 0).mean()),
        overlap=_share_within(edges, graph.to_undirected().edge_index, graph.num_nodes),
        homophily=homophily_at(ranking, graph, k=k),
    )


def homophily_at(ranking: Ranking, graph: Graph, *, k: int) -> float | None:
    """The share of edges to the first k neighbours that join nodes of the same class; None where none is known.

    >>> ranking = Ranking(neighbors=[[1], [0], [0]], similarities=[[1], [1], [1]])
    >>> homophily_at(ranking, Graph(x=[[1]] * 3, edge_index=[[1], [2]], y=[0, 0, 1]), k=1)
    0.6666666666666666
    """
    _check(ranking, graph)
    if graph.y is None:
        return None
    source, target = graph.y[ranking.graph(k)]
    known = (source != UNKNOWN_LABEL) & (target != UNKNOWN_LABEL)
    return float((source == target)[known].mean()) if known.any() else None


def _check(ranking: Ranking, graph: Graph) -> None:
    if ranking.num_nodes != graph.num_nodes:
        raise GraphError(
            f"a ranking must be of the graph's nodes; got {ranking.num_nodes} ranked for {graph.num_nodes} nodes"
        )


def _share_within(edges: IntArray, others: IntArray, num_nodes: int) -> float:
    """The share of edges that are among others."""
    if not edges.shape[1]:
        return 0.0
    keys, other_keys = (source * num_nodes + target for source, target in (edges, others))
    return float(np.isin(keys, other_keys).mean())
