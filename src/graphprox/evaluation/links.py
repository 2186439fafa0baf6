"""Link prediction: whether held-out edges rank above pairs of nodes without an edge."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import average_precision_score, roc_auc_score

from graphprox._utils.arrays import IntArray, to_array
from graphprox._utils.random import RandomState, make_generator
from graphprox.datasets.dataset import Dataset
from graphprox.errors import ParameterError
from graphprox.evaluation.alignment import EmbeddingLike, align_to_graph
from graphprox.evaluation.inputs import Floats, Rows, RowsLike, check_rows, normalize_rows
from graphprox.evaluation.scores import LinkScores
from graphprox.graph.graph import Graph
from graphprox.graph.splits import TEST_EDGES, VAL_EDGES, EdgeSplit, edge_split

_BLOCK_SIZE = 1 << 22  # numbers that are multiplied at once


def link_prediction(
    graph: Graph | Dataset | EdgeSplit,
    embedding: EmbeddingLike,
    *,
    random_state: RandomState = 0,
    val: float = VAL_EDGES,
    test: float = TEST_EDGES,
) -> LinkScores:
    """Measure how well an embedding ranks held-out edges above pairs of nodes without an edge.

    The embedding must be that of the graph *without* the held-out edges, ``edge_split(graph, ...).graph``: one that
    was trained on the held-out edges gives meaningless scores.

    Parameters
    ----------
    graph : Graph, Dataset or EdgeSplit
        The whole graph, or the split itself.
    embedding : Embedding, array-like or sparse matrix of shape (num_nodes, n_components)
        An `Embedding` is aligned to the nodes by their ids; a matrix has one row per node, in the order of the nodes.
    random_state : int, RandomState, Generator or None, default=0
        Random seed of :func:`graphprox.edge_split`; ignored if a split is given. The embedding must be that of the
        same split, so that anything but an integer requires the split itself.
    val, test : float, default=0.05 and 0.1
        Shares of the edges that are held out; ignored if a split is given.

    Returns
    -------
    LinkScores
        AUC and average precision by inner product and by cosine, which differ much where the lengths of vectors
        vary or all of them share a direction.

    Examples
    --------
    >>> from graphprox import edge_split, evaluation, synthetic
    >>> split = edge_split(synthetic(), random_state=0)
    >>> evaluation.link_prediction(split, split.graph.x)
    AUC 56.27 %, AP 56.63 %, AUC by cosine 58.58 %, AP by cosine 58.60 %
    """
    split = graph if isinstance(graph, EdgeSplit) else edge_split(graph, random_state=random_state, val=val, test=test)
    vectors = align_to_graph(split.graph, embedding)
    rows, unit_rows = check_rows(vectors), normalize_rows(vectors)
    parts = ((split.test_edges, split.test_non_edges), (split.val_edges, split.val_non_edges))
    return LinkScores(*(value for pairs in parts for each in (rows, unit_rows) for value in score_pairs(each, *pairs)))


class RankingScore(NamedTuple):
    """Area under the ROC curve, and average precision."""

    auc: float
    ap: float


def score_pairs(embedding: RowsLike, edges: ArrayLike, non_edges: ArrayLike) -> RankingScore:
    """Score the ranking of pairs of nodes by the inner product of their vectors.

    Parameters
    ----------
    embedding : array-like or sparse matrix of shape (num_nodes, n_components)
        Used as it is, not normalized.
    edges : array-like of shape (2, num_edges)
        Pairs of nodes that are joined.
    non_edges : array-like of shape (2, n_non_edges)
        Pairs of nodes that are not.

    Returns
    -------
    RankingScore

    Examples
    --------
    >>> score_pairs([[1, 0], [1, 0], [0, 1]], edges=[[0], [1]], non_edges=[[0, 1], [2, 2]])
    RankingScore(auc=1.0, ap=1.0)
    """
    rows = check_rows(embedding)
    positive = _inner_products(rows, _check_pairs("edges", edges, rows.shape[0]))
    negative = _inner_products(rows, _check_pairs("non_edges", non_edges, rows.shape[0]))
    is_edge = np.repeat([1, 0], [len(positive), len(negative)])
    # The sigmoid is monotonic, and rounds to 1 from 37 on, where it would create ties: it is left out.
    scores = np.concatenate([positive, negative])
    return RankingScore(
        auc=float(roc_auc_score(is_edge, scores)),
        ap=float(average_precision_score(is_edge, scores)),
    )


def auc_samples(embedding: RowsLike, edges: ArrayLike, non_edges: ArrayLike) -> Floats:
    """Return what each of the edges contributes to the AUC, so that two embeddings can be compared by a paired test.

    The mean is the AUC, and the variance that of DeLong's test: the share of non-edges below an edge, and the share of
    edges above a non-edge, are added for pairs of an edge and a non-edge that were matched at random.

    Parameters
    ----------
    embedding : array-like or sparse matrix of shape (num_nodes, n_components)
        Used as it is, not normalized.
    edges, non_edges : array-like of shape (2, num_pairs)
        As many of the one as of the other.

    Returns
    -------
    ndarray of shape (num_pairs,)

    Examples
    --------
    >>> auc_samples([[1, 0], [1, 0], [0, 1]], edges=[[0, 0], [1, 2]], non_edges=[[1, 1], [2, 2]]).mean()
    np.float64(0.75)
    """
    rows = check_rows(embedding)
    positive = _inner_products(rows, _check_pairs("edges", edges, rows.shape[0]))
    negative = _inner_products(rows, _check_pairs("non_edges", non_edges, rows.shape[0]))
    below, above = _share_below(positive, negative), 1 - _share_below(negative, positive)
    matched = make_generator(0, "auc_samples").permutation(len(above))
    samples: Floats = below + above[matched] - below.mean()
    return samples


def _share_below(values: Floats, others: Floats) -> Floats:
    """Return the share of the others that are less than each value; those that are equal count one half."""
    ranked = np.sort(others)
    low, high = (np.searchsorted(ranked, values, side=side) for side in ("left", "right"))
    share: Floats = (low + high) / (2 * len(others))
    return share


def _check_pairs(name: str, given: ArrayLike, num_nodes: int) -> IntArray:
    pairs = to_array(given, name)
    if pairs.ndim != 2 or pairs.shape[0] != 2 or pairs.shape[1] == 0 or pairs.dtype.kind not in "iu":
        raise ParameterError(
            f"{name} must be pairs of node numbers, of shape (2, num_pairs); got {pairs.dtype} of shape {pairs.shape}"
        )
    if pairs.min() < 0 or pairs.max() >= num_nodes:
        outside = pairs[(pairs < 0) | (pairs >= num_nodes)][0]
        raise ParameterError(f"{name} must name rows 0..{num_nodes - 1} of the embedding; got node {outside}")
    return pairs.astype(np.int64, copy=False)


def _inner_products(rows: Rows, pairs: IntArray) -> Floats:
    """Return the inner product of each pair of rows, computed in blocks."""
    products = np.empty(pairs.shape[1])
    size = max(1, _BLOCK_SIZE // rows.shape[1])
    with np.errstate(over="ignore", invalid="ignore"):  # reported below
        for start in range(0, len(products), size):
            source, target = pairs[:, start : start + size]
            products[start : start + size] = np.asarray((rows[source] * rows[target]).sum(axis=1)).ravel()
    if not np.isfinite(products).all():
        raise ParameterError("inner products of vectors must fit into float64; some overflow: scale the vectors down")
    return products
