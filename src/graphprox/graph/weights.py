"""Scale of edge weights."""

from __future__ import annotations

import numpy as np

from graphprox._utils.arrays import freeze
from graphprox.graph.graph import Graph


def scale_weights(graph: Graph) -> Graph:
    """Divide the edge weights of a graph by the mean of those above zero, so that their unit does not matter.

    A convolution adds self-loops of weight 1, and sums weights in float32, which those near its limit overflow. An edge
    of weight zero is none, and does not count for the mean either.

    Parameters
    ----------
    graph : Graph

    Returns
    -------
    Graph
        The same graph if it has no weights, or only zeros.

    Examples
    --------
    >>> graph = Graph([[1], [2], [3]], [[0, 1], [1, 2]], edge_weight=[1e30, 3e30])
    >>> scale_weights(graph).edge_weight.tolist()
    [0.5, 0.5, 1.5, 1.5]
    """
    if graph.edge_weight is None:
        return graph
    weight = graph.edge_weight.astype(np.float64)
    mean = weight[weight > 0].mean() if weight.any() else 0.0
    if mean in (0.0, 1.0):
        return graph
    return graph._replace(edge_weight=freeze((weight / mean).astype(np.float32)))
