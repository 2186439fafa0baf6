"""Similarity search: whether the nearest nodes are of the same class, or neighbors in the graph."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from graphprox._utils.arrays import IntArray
from graphprox._utils.checks import is_integer
from graphprox._utils.random import make_generator
from graphprox.datasets.dataset import Dataset
from graphprox.errors import ParameterError
from graphprox.evaluation.alignment import EmbeddingLike, align_to_graph
from graphprox.evaluation.inputs import (
    Floats,
    Rows,
    RowsLike,
    check_row_labels,
    get_labels,
    labeled_nodes,
    normalize_rows,
    to_dense,
)
from graphprox.evaluation.scores import SimilarityScores
from graphprox.graph.graph import Graph
from graphprox.graph.validation import check_graph

_BLOCK_SIZE = 1 << 22  # cosines that are held at once
_MAX_QUERIES = 1000  # nodes whose neighborhoods are compared
_DECIMALS = 12  # to which cosines are rounded, so that parallel vectors are tied


def similarity(graph: Graph | Dataset, embedding: EmbeddingLike, *, ks: Sequence[int] = (5, 10)) -> SimilarityScores:
    """Measure how many of a node's nearest neighbors by cosine are of its class: Sim@k.

    Parameters
    ----------
    graph : Graph or Dataset
        A graph with labels. Nodes without one are ignored, also as neighbors.
    embedding : Embedding, array-like or sparse matrix of shape (num_nodes, n_components)
        An `Embedding` is aligned to the nodes by their ids; a matrix has one row per node, in the order of the nodes.
    ks : sequence of int, default=(5, 10)
        Numbers of neighbors.

    Returns
    -------
    SimilarityScores

    Examples
    --------
    >>> from graphprox import evaluation, synthetic
    >>> graph = synthetic()
    >>> evaluation.similarity(graph, graph.x)
    Sim@5 56.93 %, Sim@10 56.35 %
    """
    checked = check_graph(graph)
    return score_neighbors(align_to_graph(checked, embedding), get_labels(checked), ks=ks)


def score_neighbors(embedding: RowsLike, y: ArrayLike, *, ks: Sequence[int] = (5, 10)) -> SimilarityScores:
    """Compute Sim@k of vectors and labels, as :func:`similarity`.

    The search is exact. Neighbors that are tied at the k-th place are weighted equally, so that the result does not
    depend on the order of the rows. Memory grows linearly with the number of nodes.

    Parameters
    ----------
    embedding : array-like or sparse matrix of shape (num_nodes, n_components)
    y : array-like of shape (num_nodes,)
        Labels, -1 where unknown.
    ks : sequence of int, default=(5, 10)
        Numbers of neighbors.

    Returns
    -------
    SimilarityScores

    Examples
    --------
    >>> score_neighbors([[1, 0], [1, 0.1], [0, 1], [0.1, 1]], [0, 0, 1, 1], ks=[1, 2])
    Sim@1 100.00 %, Sim@2 50.00 %
    """
    rows = normalize_rows(embedding)
    labels = check_row_labels(y, n_rows=rows.shape[0])
    known = labeled_nodes(labels, task="similarity search")
    rows, labels = rows[known], labels[known]
    if is_integer(ks) or not len(ks):
        raise ParameterError(f"ks must be a list of one or more numbers of neighbors, such as [5, 10]; got {ks!r}")
    totals = {_check_k(k, len(labels) - 1): 0.0 for k in ks}
    k_max = max(totals)
    size = max(1, _BLOCK_SIZE // len(labels))
    for start in range(0, len(labels), size):
        nodes = np.arange(start, min(start + size, len(labels)))
        cosines = _cosines(rows, nodes)
        same_class = labels[nodes][:, None] == labels
        top = np.sort(np.partition(cosines, -k_max, axis=1)[:, -k_max:], axis=1)
        for k in totals:
            totals[k] += float(_precision_at_k(cosines, same_class, k, kth=top[:, [-k]]).sum())
    return SimilarityScores(tuple(totals), tuple(total / len(labels) for total in totals.values()))


def _check_k(k: int, k_max: int) -> int:
    if not is_integer(k) or not 1 <= k <= k_max:
        raise ParameterError(f"k must be between 1 and {k_max}, the number of other labeled nodes; got {k!r}")
    return int(k)


def _cosines(rows: Rows, nodes: IntArray) -> Floats:
    """Return the cosines of ``nodes`` with all nodes, (n_queries, num_nodes); -inf for a node with itself."""
    cosines = to_dense(rows[nodes] @ rows.T).round(_DECIMALS)
    cosines[np.arange(len(nodes)), nodes] = -np.inf
    return cosines


def _precision_at_k(cosines: Floats, same_class: NDArray[np.bool_], k: int, *, kth: Floats) -> Floats:
    """Return the share of each row's k nearest that are of the same class, given the k-th largest cosine."""
    nearer, tied = cosines > kth, cosines == kth
    n_places = k - nearer.sum(axis=1)
    share_of_tied = (tied & same_class).sum(axis=1) / tied.sum(axis=1)
    precision: Floats = ((nearer & same_class).sum(axis=1) + n_places * share_of_tied) / k
    return precision


# -- neighborhoods of the graph -------------------------------------------------------------------------------------


def neighborhood_agreement(graph: Graph | Dataset, embedding: EmbeddingLike, *, k: int = 10) -> float:
    """Measure how many of the nodes that are nearest in an embedding are neighbors in the graph.

    For a node of degree d, it is the share of its min(k, d) possible hits among its k nearest nodes by cosine: 1 if all
    of them, or all of its neighbors, are among the nearest. The result is the mean over nodes that have neighbors,
    or over a random sample of 1,000 of them. Nodes that are tied at the k-th place are weighted equally.

    Parameters
    ----------
    graph : Graph or Dataset
        Labels are ignored. Directions of edges are ignored, and so are self-loops.
    embedding : Embedding, array-like or sparse matrix of shape (num_nodes, n_components)
        An `Embedding` is aligned to the nodes by their ids; a matrix has one row per node, in the order of the nodes.
    k : int, default=10
        Number of nearest nodes, at most as many as there are others.

    Returns
    -------
    float

    Examples
    --------
    >>> pair = Graph(x=[[1]] * 4, edge_index=[[0, 2], [1, 3]])
    >>> neighborhood_agreement(pair, [[1, 0], [1, 0.1], [0, 1], [0.1, 1]], k=1)
    1.0
    """
    checked = check_graph(graph)
    rows = normalize_rows(align_to_graph(checked, embedding))
    k = min(k, checked.num_nodes - 1)
    source, target = checked.edge_index[:, checked.edge_index[0] != checked.edge_index[1]]
    ones = np.ones(2 * len(source), bool)
    ends = np.concatenate([source, target]), np.concatenate([target, source])
    neighbors = sp.csr_array((ones, ends), shape=(checked.num_nodes, checked.num_nodes))
    degrees = np.diff(neighbors.indptr)
    nodes = np.flatnonzero(degrees)
    if k < 1 or not len(nodes):
        raise ParameterError("the agreement of neighborhoods needs a graph with edges between nodes; got one without")
    if len(nodes) > _MAX_QUERIES:
        nodes = np.sort(make_generator(0, "neighborhood_agreement").choice(nodes, _MAX_QUERIES, replace=False))
    size, total = max(1, _BLOCK_SIZE // checked.num_nodes), 0.0
    for start in range(0, len(nodes), size):
        queries = nodes[start : start + size]
        cosines = _cosines(rows, queries)
        kth = np.partition(cosines, -k, axis=1)[:, [-k]]
        precision = _precision_at_k(cosines, to_dense(neighbors[queries]) > 0, k, kth=kth)
        total += float((precision * k / np.minimum(k, degrees[queries])).sum())
    return total / len(nodes)
