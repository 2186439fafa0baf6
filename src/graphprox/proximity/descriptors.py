"""Descriptors: what is compared when two nodes are called near. A new proximity is one such function."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from numpy.random import Generator

from graphprox.arrays import Features
from graphprox.graph import Graph

Matrix = Features
# A row per node; options are given beforehand, by functools.partial.
Descriptor = Callable[[Graph, Generator], Matrix]
Progress = Callable[[str, int, int], None]  # is told the stage of long work, how many nodes are done, and of how many


def features(graph: Graph, _rng: Generator, *, binary: bool = False) -> Matrix:
    """The features of each node, (nodes, features), sparse where they are; ``binary`` asks only which are not zero.

    >>> graph = Graph(x=[[3, 0], [1, 0], [0, 2]], edge_index=[[0], [1]])
    >>> features(graph, np.random.default_rng(0), binary=True).tolist()
    [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]
    """
    x = graph.x
    if not binary:
        return x
    if isinstance(x, sp.csr_array):
        return sp.csr_array((np.ones_like(x.data), x.indices, x.indptr), shape=x.shape)
    ones: Matrix = (x != 0).astype(np.float32)
    return ones


def neighbourhood(graph: Graph, _rng: Generator) -> Matrix:
    """Mean feature of each node's neighbours, (nodes, features), sparse where the features are.

    Edge weights weigh the mean. In a directed graph the neighbours are those that a node points to. A self-loop makes
    nobody its own neighbour.

    >>> graph = Graph(x=[[1, 0], [0, 1], [1, 1], [5, 5]], edge_index=[[0, 0], [1, 2]])
    >>> neighbourhood(graph, np.random.default_rng(0)).tolist()
    [[0.5, 1.0], [1.0, 0.0], [1.0, 0.0], [5.0, 5.0]]
    """
    source, target = graph.edge_index
    weight = np.ones(graph.num_entries) if graph.edge_weight is None else graph.edge_weight.astype(np.float64)
    joins = (source != target) & (weight > 0)
    source, target, weight = source[joins], target[joins], weight[joins]
    total = np.bincount(source, weight, minlength=graph.num_nodes)
    # Isolated nodes keep their own features, or cosine would divide by zero.
    alone = np.flatnonzero(total == 0)
    share = np.concatenate([weight / total[source], np.ones(len(alone))]).astype(np.float32)
    entries = (np.concatenate([source, alone]), np.concatenate([target, alone]))
    mean: Matrix = sp.csr_array((share, entries), shape=(graph.num_nodes, graph.num_nodes)) @ graph.x
    return mean
