"""Who is a neighbor of whom, in either direction, and how much."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from graphprox._utils.mapped import release_pages
from graphprox.errors import GraphError
from graphprox.graph.graph import Graph
from graphprox.nn.convolution import in_neighbor_matrix

MAX_ENTRIES = np.iinfo(np.int32).max


def neighbor_matrix(graph: Graph) -> sp.csr_array:
    """Return the weights of edges in both directions, the larger one where they differ; without self-loops.

    Parameters
    ----------
    graph : Graph

    Returns
    -------
    csr_array of shape (num_nodes, num_nodes)
        Without entries of weight zero; indices are sorted.

    Examples
    --------
    >>> neighbor_matrix(Graph(np.eye(3), [[0, 1], [1, 1]], directed=True)).toarray().tolist()
    [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    """
    if graph.num_entries > MAX_ENTRIES // (1 + graph.directed):
        raise GraphError(
            f"a graph to embed by auto must have at most {MAX_ENTRIES // 2:,} edges; got {graph.num_edges:,}: leave "
            "out the lightest of them"
        )
    if not graph.directed:
        return _from_sorted_entries(graph)
    matrix = in_neighbor_matrix(graph.edge_index, graph.edge_weight, graph.num_nodes)
    matrix = matrix.maximum(matrix.T)
    matrix = sp.csr_array(matrix - sp.diags_array(matrix.diagonal()))
    matrix.eliminate_zeros()
    matrix.sort_indices()
    return matrix


def _from_sorted_entries(graph: Graph) -> sp.csr_array:
    """Return the matrix of an undirected graph, whose entries are sorted and listed in both directions."""
    source, target = graph.edge_index
    weight = graph.edge_weight
    kept = source != target
    if weight is not None:
        kept &= weight != 0
    if kept.all():  # as most graphs: nothing is copied but the columns
        columns, degree = target.astype(np.int32), np.bincount(source, minlength=graph.num_nodes)
    else:
        columns, degree = target[kept].astype(np.int32), np.bincount(source[kept], minlength=graph.num_nodes)
    starts = np.concatenate([[0], np.cumsum(degree)]).astype(np.int32)
    values = np.ones(len(columns), np.float32) if weight is None else weight[kept]
    release_pages(graph.edge_index, weight)
    return sp.csr_array((values, columns, starts), shape=(graph.num_nodes, graph.num_nodes))
