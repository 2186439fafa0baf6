"""Graphs that every method and every view must accept."""

from __future__ import annotations

import warnings

import numpy as np
import scipy.sparse as sp

from graphprox import Graph, StructuralFeaturesWarning, synthetic


def with_isolated_nodes() -> Graph:
    graph = synthetic(nodes=140)
    kept = (graph.edge_index >= 10).all(axis=0)
    return Graph(graph.x, graph.edge_index[:, kept], y=graph.y, directed=None)


def without_features() -> Graph:
    graph = synthetic(nodes=140)
    adjacency = sp.csr_array((np.ones(graph.num_entries), graph.edge_index), shape=(140, 140))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StructuralFeaturesWarning)
        bare = Graph.from_scipy(adjacency)
    return Graph(bare.x, bare.edge_index, y=graph.y, directed=None)


def directed_graph() -> Graph:
    graph = synthetic(nodes=140)
    kept = graph.edge_index[0] < graph.edge_index[1]
    return Graph(graph.x, graph.edge_index[:, kept], y=graph.y, directed=True)


def ring(nodes: int = 80) -> np.ndarray:
    return np.stack([np.arange(nodes), (np.arange(nodes) + 1) % nodes])


LABELED_GRAPHS = {"isolated nodes": with_isolated_nodes, "no features": without_features, "directed": directed_graph}
ODD_GRAPHS = {
    **LABELED_GRAPHS,
    "no edges": lambda: Graph(np.eye(6), np.empty((2, 0), np.int64)),
    "three nodes": lambda: Graph(np.eye(3), [[0, 1], [1, 2]]),
    "sparse features": lambda: Graph(sp.random_array((80, 200), density=0.02, rng=0).tocsr(), ring()),
    "weighted edges": lambda: Graph(np.eye(4), [[0, 1, 2], [1, 2, 3]], edge_weight=[0.5, 2.0, 0.0]),
}

# For views alone: training on these may collapse.
DEGENERATE_GRAPHS = {
    "two nodes": lambda: Graph(np.eye(2), [[0], [1]]),
    "star with constant features": lambda: Graph(np.ones((30, 2)), [np.zeros(29, int), np.arange(1, 30)]),
    "directed with zero features": lambda: Graph(np.zeros((5, 3)), [[0, 1], [1, 2]], directed=True),
}


def permute(graph: Graph, order: np.ndarray) -> Graph:
    """Return the graph whose node i is node ``order[i]`` of the given one."""
    place = np.argsort(order)
    labels = None if graph.y is None else graph.y[order]
    return Graph(
        graph.x[order],
        place[graph.edge_index],
        edge_weight=graph.edge_weight,
        y=labels,
        directed=graph.directed,
    )
