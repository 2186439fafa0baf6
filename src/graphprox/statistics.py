"""What a graph looks like, in numbers."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from graphprox.arrays import IntArray
from graphprox.errors import IgnoredInputWarning
from graphprox.graph import UNKNOWN_LABEL, Graph
from graphprox.interop import to_scipy


@dataclass(frozen=True)
class Statistics:
    """The figures that `graphprox info` prints; those that need labels are None where there are none."""

    nodes: int
    edges: int  # an undirected edge counts once
    entries: int  # columns of edge_index, what PyG calls num_edges
    pairs: int  # distinct unordered pairs, self-loops among them
    directed: bool
    weighted: bool
    features: int
    feature_density: float
    sparse_features: bool
    classes: int
    class_sizes: dict[str, int] | None
    unlabelled: int | None
    isolated: int  # nodes with no edge to another node
    components: int  # weakly connected
    largest_component: int
    self_loops: int
    duplicates: int  # entries that the source listed again, merged when it was read
    degree: dict[str, float]
    degree_histogram: list[int]  # nodes of degree 0, 1, 2-3, 4-7, ...
    homophily: float | None


def statistics(graph: Graph) -> Statistics:
    """Count what there is to count in a graph.

    >>> triangle = Graph(x=[[1], [1], [1]], edge_index=[[0, 1, 2], [1, 2, 0]], y=[0, 0, 1])
    >>> statistics(triangle).homophily
    0.3333333333333333
    """
    if graph.edge_weight is not None:
        warnings.warn(
            "statistics count edges: the edge weights are carried, but not used here",
            IgnoredInputWarning,
            stacklevel=2,
        )
    degrees = degree_of(graph)
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
        unlabelled=None if graph.y is None else int((graph.y == UNKNOWN_LABEL).sum()),
        isolated=int((degrees == 0).sum()),
        components=int(parts[0]),
        largest_component=int(np.bincount(parts[1]).max()),
        self_loops=graph.num_self_loops,
        duplicates=graph.duplicates,
        degree=_quantiles(degrees),
        degree_histogram=_histogram(degrees),
        homophily=edge_homophily(graph),
    )


def degree_of(graph: Graph) -> IntArray:
    """The number of other nodes that each node is joined with, in whichever direction, (nodes,)."""
    both_ways = (graph.to_undirected() if graph.directed else graph).edge_index
    others = both_ways[0][both_ways[0] != both_ways[1]]
    return np.bincount(others, minlength=graph.num_nodes).astype(np.int64)


def edge_homophily(graph: Graph) -> float | None:
    """The share of edges that join nodes of the same class, an undirected edge counted once; self-loops count.

    Edges to nodes of unknown class are left out. None where no edge has two known ends.
    """
    if graph.y is None:
        return None
    source, target = graph.y[graph.edges_once()]
    known = (source != UNKNOWN_LABEL) & (target != UNKNOWN_LABEL)
    return float((source == target)[known].mean()) if known.any() else None


def _density(graph: Graph) -> float:
    filled = graph.x.nnz if isinstance(graph.x, sp.csr_array) else int(np.count_nonzero(graph.x))
    return filled / (graph.num_nodes * graph.num_features)


def _class_sizes(graph: Graph, y: IntArray) -> dict[str, int]:
    numbers, counts = np.unique(y[y != UNKNOWN_LABEL], return_counts=True)
    names = [str(number) if graph.class_names is None else graph.class_names[number] for number in numbers]
    return dict(zip(names, counts.tolist(), strict=True))


def _quantiles(degrees: IntArray) -> dict[str, float]:
    names = ("min", "q25", "median", "q75", "max")
    values = dict(zip(names, np.quantile(degrees, [0, 0.25, 0.5, 0.75, 1]).tolist(), strict=True))
    return {**values, "mean": float(degrees.mean())}


def _histogram(degrees: IntArray) -> list[int]:
    """Nodes of degree 0, 1, 2-3, 4-7, ...: each bin twice as wide as the one before."""
    bins = np.where(degrees == 0, 0, np.floor(np.log2(np.maximum(degrees, 1))).astype(np.int64) + 1)
    return [int(count) for count in np.bincount(bins)]
