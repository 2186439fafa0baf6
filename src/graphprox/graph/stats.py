"""Statistics of a graph."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from graphprox._utils.arrays import IntArray
from graphprox._utils.stacklevel import warn
from graphprox.errors import IgnoredInputWarning
from graphprox.graph.conversion import to_scipy
from graphprox.graph.graph import UNKNOWN_LABEL, Graph
from graphprox.graph.validation import GraphLike, check_graph


@dataclass(frozen=True)
class Statistics:
    """Statistics of a graph, as printed by ``graphprox info``.

    Attributes
    ----------
    nodes : int
        Number of nodes.
    edges : int
        Number of edges; an undirected edge is counted once.
    entries : int
        Number of columns of ``edge_index``, which PyG calls ``num_edges``.
    pairs : int
        Number of distinct unordered pairs of adjacent nodes, including self-loops.
    directed : bool
        Whether edges have a direction.
    weighted : bool
        Whether edges have weights.
    features : int
        Number of features.
    feature_density : float
        Share of the feature matrix that is nonzero.
    sparse_features : bool
        Whether the feature matrix is sparse.
    classes : int
        Number of classes.
    class_sizes : dict of str to int, or None
        Number of nodes of each class; None if the graph has no labels.
    unlabeled : int or None
        Number of nodes of unknown class; None if the graph has no labels.
    isolated : int
        Number of nodes without an edge to another node.
    components : int
        Number of weakly connected components.
    largest_component : int
        Number of nodes of the largest component.
    self_loops : int
        Number of self-loops.
    duplicates : int
        Number of listed edges that were merged into another one.
    degree : dict of str to float
        Minimum, quartiles, maximum and mean of the degrees.
    degree_histogram : list of int
        Number of nodes of degree 0, 1, 2-3, 4-7, and so on.
    homophily : float or None
        Edge homophily; None if no edge has two labeled ends.
    """

    nodes: int
    edges: int
    entries: int
    pairs: int
    directed: bool
    weighted: bool
    features: int
    feature_density: float
    sparse_features: bool
    classes: int
    class_sizes: dict[str, int] | None
    unlabeled: int | None
    isolated: int
    components: int
    largest_component: int
    self_loops: int
    duplicates: int
    degree: dict[str, float]
    degree_histogram: list[int]
    homophily: float | None


def statistics(graph: GraphLike) -> Statistics:
    """Compute statistics of a graph.

    Parameters
    ----------
    graph : Graph or Dataset
        The graph, or whatever else :func:`graphprox.check_graph` accepts. Edge weights are ignored, with an
        `IgnoredInputWarning`.

    Returns
    -------
    Statistics

    Examples
    --------
    >>> triangle = Graph(x=[[1], [1], [1]], edge_index=[[0, 1, 2], [1, 2, 0]], y=[0, 0, 1])
    >>> statistics(triangle).homophily
    0.3333333333333333
    """
    graph = check_graph(graph)
    if graph.edge_weight is not None:
        warn("edge weights are ignored by statistics, which count edges", IgnoredInputWarning)
    degrees = _degrees(graph)
    parts = sp.csgraph.connected_components(to_scipy(graph), directed=graph.directed, connection="weak")
    return Statistics(
        nodes=graph.num_nodes,
        edges=graph.num_edges,
        entries=graph.num_entries,
        pairs=graph.to_undirected().num_edges if graph.directed else graph.num_edges,
        directed=graph.directed,
        weighted=graph.edge_weight is not None,
        features=graph.num_features,
        feature_density=_density(graph),
        sparse_features=graph.has_sparse_features,
        classes=graph.num_classes,
        class_sizes=None if graph.y is None else _class_sizes(graph, graph.y),
        unlabeled=None if graph.y is None else int((graph.y == UNKNOWN_LABEL).sum()),
        isolated=int((degrees == 0).sum()),
        components=int(parts[0]),
        largest_component=int(np.bincount(parts[1]).max()),
        self_loops=graph.num_self_loops,
        duplicates=graph.duplicates,
        degree=_quantiles(degrees),
        degree_histogram=_histogram(degrees),
        homophily=edge_homophily(graph),
    )


def _degrees(graph: Graph) -> IntArray:
    """Return the number of neighbors of each node, in either direction, without self-loops."""
    source, target = (graph.to_undirected() if graph.directed else graph).edge_index
    return np.bincount(source[source != target], minlength=graph.num_nodes).astype(np.int64)


def edge_homophily(graph: GraphLike) -> float | None:
    """Compute the share of edges that connect nodes of the same class.

    Undirected edges are counted once, self-loops are included, and edges to nodes of unknown class are ignored.

    Parameters
    ----------
    graph : Graph or Dataset
        The graph, or whatever else :func:`graphprox.check_graph` accepts.

    Returns
    -------
    float or None
        The homophily, between 0 and 1; None if no edge has two labeled ends.

    Examples
    --------
    >>> edge_homophily(Graph(x=[[1], [1], [1]], edge_index=[[0, 1], [1, 2]], y=[0, 0, 1]))
    0.5
    """
    graph = check_graph(graph)
    if graph.y is None:
        return None
    source, target = graph.y[graph.edges_once()]
    known = (source != UNKNOWN_LABEL) & (target != UNKNOWN_LABEL)
    return float((source == target)[known].mean()) if known.any() else None


def _density(graph: Graph) -> float:
    nonzero = graph.x.nnz if isinstance(graph.x, sp.csr_array) else int(np.count_nonzero(graph.x))
    return nonzero / (graph.num_nodes * graph.num_features)


def _class_sizes(graph: Graph, y: IntArray) -> dict[str, int]:
    numbers, counts = np.unique(y[y != UNKNOWN_LABEL], return_counts=True)
    names = [str(number) if graph.class_names is None else graph.class_names[number] for number in numbers]
    return dict(zip(names, counts.tolist(), strict=True))


def _quantiles(degrees: IntArray) -> dict[str, float]:
    names = ("min", "q25", "median", "q75", "max")
    values = dict(zip(names, np.quantile(degrees, [0, 0.25, 0.5, 0.75, 1]).tolist(), strict=True))
    return {**values, "mean": float(degrees.mean())}


def _histogram(degrees: IntArray) -> list[int]:
    """Count nodes of degree 0, 1, 2-3, 4-7, and so on."""
    bins = np.where(degrees == 0, 0, np.floor(np.log2(np.maximum(degrees, 1))).astype(np.int64) + 1)
    return [int(count) for count in np.bincount(bins)]
