"""Statistics of the graph that a ranking defines."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graphprox._utils.arrays import IntArray
from graphprox.errors import GraphError
from graphprox.graph.graph import UNKNOWN_LABEL, Graph
from graphprox.views.ranking import Ranking


@dataclass(frozen=True)
class ViewStatistics:
    """Statistics of the graph of each node's first k neighbors.

    Parameters
    ----------
    k : int
        Number of neighbors per node.
    num_edges : int
        Number of directed edges.
    reciprocity : float
        Share of edges whose reverse is an edge too.
    max_in_degree : int
        Largest number of nodes that have the same neighbor.
    zero_in_degree : float
        Share of nodes that are not a neighbor of any node.
    overlap : float
        Share of edges that are also in the original graph, in either direction.
    homophily : float or None
        Share of edges within a class, as in `homophily_at`; None without labels.
    """

    k: int
    num_edges: int
    reciprocity: float
    max_in_degree: int
    zero_in_degree: float
    overlap: float
    homophily: float | None


def view_statistics(ranking: Ranking, graph: Graph, *, k: int | None = None) -> ViewStatistics:
    """Compute statistics of the graph of each node's first k neighbors.

    Parameters
    ----------
    ranking : Ranking
    graph : Graph
        The graph that was ranked.
    k : int, optional
        Number of neighbors per node; by default ``ranking.k_max``.

    Returns
    -------
    ViewStatistics
        Shares of an empty set are 0.

    Examples
    --------
    >>> ranking = Ranking(neighbors=[[1], [0], [0]], similarities=[[1], [1], [1]])
    >>> graph = Graph(x=[[1]] * 3, edge_index=[[1], [2]], y=[0, 0, 1])
    >>> view_statistics(ranking, graph).reciprocity
    0.6666666666666666
    """
    _check_nodes(ranking, graph)
    k = ranking.k_max if k is None else k
    edges = ranking.edge_index(k)
    in_degree = np.bincount(edges[1], minlength=graph.num_nodes)
    return ViewStatistics(
        k=k,
        num_edges=edges.shape[1],
        reciprocity=_contained_share(edges, edges[::-1], graph.num_nodes),
        max_in_degree=int(in_degree.max()),
        zero_in_degree=float((in_degree == 0).mean()),
        overlap=_contained_share(edges, graph.to_undirected().edge_index, graph.num_nodes),
        homophily=homophily_at(ranking, graph, k=k),
    )


def homophily_at(ranking: Ranking, graph: Graph, *, k: int) -> float | None:
    """Compute the share of edges to the first k neighbors that are within a class.

    Parameters
    ----------
    ranking : Ranking
    graph : Graph
        The graph that was ranked.
    k : int
        Number of neighbors per node.

    Returns
    -------
    float or None
        Nodes of unknown class are ignored; None if no edge remains.

    Examples
    --------
    >>> ranking = Ranking(neighbors=[[1], [0], [0]], similarities=[[1], [1], [1]])
    >>> homophily_at(ranking, Graph(x=[[1]] * 3, edge_index=[[1], [2]], y=[0, 0, 1]), k=1)
    0.6666666666666666
    """
    _check_nodes(ranking, graph)
    if graph.y is None:
        return None
    source, target = graph.y[ranking.edge_index(k)]
    known = (source != UNKNOWN_LABEL) & (target != UNKNOWN_LABEL)
    return float((source == target)[known].mean()) if known.any() else None


def _check_nodes(ranking: Ranking, graph: Graph) -> None:
    if ranking.num_nodes != graph.num_nodes:
        raise GraphError(
            f"a ranking must have a row for each node of the graph; got {ranking.num_nodes} rows for "
            f"{graph.num_nodes} nodes"
        )


def _contained_share(edges: IntArray, others: IntArray, num_nodes: int) -> float:
    """Return the share of edges that are among others."""
    if not edges.shape[1]:
        return 0.0
    keys, other_keys = (source * num_nodes + target for source, target in (edges, others))
    return float(np.isin(keys, other_keys).mean())
