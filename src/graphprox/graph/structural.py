"""Features for a graph that has none, computed from its edges."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from graphprox._utils.allocation import check_memory
from graphprox._utils.arrays import Features, IntArray, freeze_csr
from graphprox._utils.stacklevel import warn
from graphprox.errors import GraphError, StructuralFeaturesWarning

if TYPE_CHECKING:
    from graphprox.graph.graph import Graph

# Larger graphs get degree buckets: an identity matrix would have as many columns as the graph has nodes.
IDENTITY_LIMIT = 1000
_BLOCK_ROWS = 1 << 14
_BYTES_PER_NODE = 64  # of counting and sorting degrees


def structural_features(edge_index: IntArray, *, num_nodes: int, directed: bool) -> sp.csr_array:
    """Compute features from the edges alone, with a `StructuralFeaturesWarning`.

    Parameters
    ----------
    edge_index : ndarray of shape (2, num_entries)
        Edges in canonical form.
    num_nodes : int
        Number of nodes.
    directed : bool
        Whether edges have a direction.

    Returns
    -------
    csr_array of shape (num_nodes, num_features)
        An identity matrix for up to ``IDENTITY_LIMIT`` nodes, otherwise the one-hot encoded bucket of each degree.
    """
    check_memory(_BYTES_PER_NODE * num_nodes, f"a graph of {num_nodes:,} nodes", error=GraphError)
    if num_nodes <= IDENTITY_LIMIT:
        kind, columns = "one-hot vectors of the nodes (an identity matrix)", np.arange(num_nodes)
    else:
        kind = "one-hot degree buckets of the nodes"
        columns = np.unique(_degree_buckets(edge_index, num_nodes, directed), return_inverse=True)[1]
    warn(
        f"the graph has no features; {kind} are used instead, which contain nothing beyond the edges: add features if "
        "there are some",
        StructuralFeaturesWarning,
    )
    return _one_hot(columns, int(columns.max()) + 1)


def find_degree_buckets(graph: Graph) -> list[int] | None:
    """Return the buckets of the degree that are the features of a graph.

    Parameters
    ----------
    graph : Graph

    Returns
    -------
    list of int or None
        The bucket of each column; None if the features are others.
    """
    if graph.num_nodes <= IDENTITY_LIMIT or not has_structural_features(graph):
        return None
    buckets: list[int] = np.unique(_degree_buckets(graph.edge_index, graph.num_nodes, graph.directed)).tolist()
    return buckets


def use_degree_buckets(graph: Graph, buckets: Sequence[int]) -> Graph:
    """Return a graph without features with the degree buckets of another one, such as an earlier version of it.

    Parameters
    ----------
    graph : Graph
        It is returned as it is if it has features.
    buckets : sequence of int
        As `find_degree_buckets` returns them, in increasing order.

    Returns
    -------
    Graph
        A degree that is in none of the buckets is counted in the nearest one.
    """
    if not has_structural_features(graph):
        return graph
    known = np.asarray(buckets)
    own = _degree_buckets(graph.edge_index, graph.num_nodes, graph.directed)
    columns = np.searchsorted((known[1:] + known[:-1]) / 2, own)
    return graph.with_features(_one_hot(columns, len(known)))


def _one_hot(columns: IntArray, num_columns: int) -> sp.csr_array:
    rows = len(columns)
    ones = np.ones(rows, np.float32)
    return freeze_csr(sp.csr_array((ones, columns, np.arange(rows + 1)), shape=(rows, num_columns)))


def has_structural_features(graph: Graph) -> bool:
    """Return whether the features of a graph are those that :func:`structural_features` computes from its edges.

    They are recognized by their values, sparse or dense, so that a graph that was saved and read again, or passed
    through PyG, is not mistaken for one with features of its own.

    Parameters
    ----------
    graph : Graph

    Returns
    -------
    bool
    """
    x = graph.x
    if np.count_nonzero(x if isinstance(x, np.ndarray) else x.data) != graph.num_nodes:
        return False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StructuralFeaturesWarning)
        structural = structural_features(graph.edge_index, num_nodes=graph.num_nodes, directed=graph.directed)
    if x.shape != structural.shape:
        return False
    if isinstance(x, np.ndarray):  # on the way through PyG or a file
        # There is one nonzero per node in all: it is enough to look at the column where each node must have its own.
        return bool((x[np.arange(graph.num_nodes), structural.indices] == 1).all())
    return bool(abs(x - structural).nnz == 0)


def has_informative_features(graph: Graph) -> bool:
    """Return whether features say anything about nodes that their edges do not.

    They do not if they were computed from the edges, if all nodes have the same ones, or if no two nodes share one, as
    in an identity matrix.

    Parameters
    ----------
    graph : Graph

    Returns
    -------
    bool

    Examples
    --------
    >>> from graphprox import Graph, synthetic
    >>> has_informative_features(synthetic()), has_informative_features(Graph(np.eye(3), [[0, 1], [1, 2]]))
    (True, False)
    """
    x = graph.x
    if count_nonzero_rows(x).max(initial=0) <= 1:
        return False
    return not _has_equal_rows(x) and not has_structural_features(graph)


def _has_equal_rows(x: Features) -> bool:
    if not isinstance(x, np.ndarray):
        return bool(abs(x.max(axis=0) - x.min(axis=0)).nnz == 0)
    # Most differ in the first rows: there is no need to look at all of them, nor for a copy.
    blocks = (x[start : start + _BLOCK_ROWS] for start in range(0, len(x), _BLOCK_ROWS))
    return all((each == x[0]).all() for each in blocks)


def count_nonzero_rows(x: Features) -> IntArray:
    """Return for each column the number of rows in which it is not zero.

    Parameters
    ----------
    x : ndarray or csr_array of shape (num_nodes, num_features)

    Returns
    -------
    ndarray of shape (num_features,)
    """
    if not isinstance(x, np.ndarray):
        return np.bincount(x.indices[x.data != 0], minlength=x.shape[1])
    counts = np.zeros(x.shape[1], np.int64)
    for start in range(0, len(x), _BLOCK_ROWS):  # numpy makes booleans of all that it counts at a time
        counts += np.count_nonzero(x[start : start + _BLOCK_ROWS], axis=0)
    return counts


def _degree_buckets(edge_index: IntArray, num_nodes: int, directed: bool) -> IntArray:
    """Return the bucket of each node's degree, two per octave."""
    source, target = edge_index
    degree = np.bincount(source, minlength=num_nodes)
    if directed:
        degree += np.bincount(target, minlength=num_nodes)
    loops = np.bincount(source[source == target], minlength=num_nodes)
    degree -= loops * (2 if directed else 1)
    return np.asarray(np.floor(2 * np.log2(degree + 1)), np.int64)
