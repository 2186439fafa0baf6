"""The neighborhood view: nodes whose neighbors have similar features."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.random import Generator

from graphprox.graph.graph import Graph
from graphprox.views.base import Matrix, register_view


@register_view("neighborhood")
def neighborhood_descriptor(graph: Graph, _rng: Generator) -> Matrix:
    """Compare nodes by the mean features of their neighbors.

    The mean is weighted by edge weights. In a directed graph, the neighbors of a node are those that it points to.
    Self-loops are ignored.

    Parameters
    ----------
    graph : Graph
    _rng : Generator
        Not used: the descriptor is deterministic.

    Returns
    -------
    ndarray or csr_array of shape (num_nodes, num_features)
        Sparse if the features are.

    Examples
    --------
    >>> import numpy as np
    >>> from graphprox import Graph
    >>> graph = Graph(x=[[1, 0], [0, 1], [1, 1], [5, 5]], edge_index=[[0, 0], [1, 2]])
    >>> neighborhood_descriptor(graph, np.random.default_rng(0)).tolist()
    [[0.5, 1.0], [1.0, 0.0], [1.0, 0.0], [5.0, 5.0]]
    """
    source, target = graph.edge_index
    weight = np.ones(graph.num_entries) if graph.edge_weight is None else graph.edge_weight.astype(np.float64)
    joins = (source != target) & (weight > 0)
    source, target, weight = source[joins], target[joins], weight[joins]
    total = np.bincount(source, weight, minlength=graph.num_nodes)
    # Isolated nodes keep their own features: cosine is undefined for a zero row.
    isolated = np.flatnonzero(total == 0)
    share = np.concatenate([weight / total[source], np.ones(len(isolated))]).astype(np.float32)
    entries = (np.concatenate([source, isolated]), np.concatenate([target, isolated]))
    mean: Matrix = sp.csr_array((share, entries), shape=(graph.num_nodes, graph.num_nodes)) @ graph.x
    return mean
