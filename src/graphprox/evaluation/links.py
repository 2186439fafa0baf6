"""Link prediction: whether held-out edges score higher than pairs of nodes that no edge joins."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import average_precision_score, roc_auc_score

from graphprox.arrays import IntArray
from graphprox.errors import ParameterError
from graphprox.evaluation.inputs import Floats, Rows, RowsLike, checked_rows, unit_rows
from graphprox.splits import EdgeSplit

_NUMBERS_AT_ONCE = 1 << 22


@dataclass(frozen=True)
class LinkScore:
    """How well edges are ranked above non-edges: area under the ROC curve, and average precision."""

    auc: float
    ap: float


def score_links(embedding: RowsLike, edges: ArrayLike, non_edges: ArrayLike) -> LinkScore:
    """Rank pairs of nodes, (2, pairs), by σ(zᵢ · zⱼ), the inner product of their rows as they are, not scaled.

    The embedding should be of a graph without these edges, such as the ``graph`` of an ``EdgeSplit``, or it is asked
    for what it was told.

    >>> score_links([[1, 0], [1, 0], [0, 1]], edges=[[0], [1]], non_edges=[[0, 1], [2, 2]])
    LinkScore(auc=1.0, ap=1.0)
    """
    rows = checked_rows(embedding)
    joined = _products(rows, _checked_pairs("edges", edges, rows.shape[0]))
    unjoined = _products(rows, _checked_pairs("non_edges", non_edges, rows.shape[0]))
    is_edge = np.repeat([1, 0], [len(joined), len(unjoined)])
    # σ changes no order. But from 37 on it is 1.0 to a computer, and pairs that differ would be tied.
    scores = np.concatenate([joined, unjoined])
    return LinkScore(
        auc=float(roc_auc_score(is_edge, scores)),
        ap=float(average_precision_score(is_edge, scores)),
    )


def link_scores(embedding: RowsLike, split: EdgeSplit) -> dict[str, float]:
    """All there is to say of an embedding of what a split has left of a graph, by name.

    Beside inner products pairs are ranked by cosines, which are the products of rows scaled to length 1. Where all
    rows share a direction, or long ones are near nobody, the two differ by far.

    >>> from graphprox import edge_split, synthetic
    >>> split = edge_split(synthetic(), seed=0)
    >>> list(link_scores(split.graph.x, split))  # doctest: +NORMALIZE_WHITESPACE
    ['auc', 'ap', 'cosine_auc', 'cosine_ap',
     'validation_auc', 'validation_ap', 'validation_cosine_auc', 'validation_cosine_ap']
    """
    ways = {"": checked_rows(embedding), "cosine_": unit_rows(embedding)}
    parts = {
        "": (split.test_edges, split.test_non_edges),
        "validation_": (split.validation_edges, split.validation_non_edges),
    }
    return {
        f"{part}{way}{name}": value
        for part, pairs in parts.items()
        for way, rows in ways.items()
        for name, value in asdict(score_links(rows, *pairs)).items()
    }


def _checked_pairs(name: str, given: ArrayLike, num_nodes: int) -> IntArray:
    pairs = np.asarray(given)
    if pairs.ndim != 2 or pairs.shape[0] != 2 or pairs.shape[1] == 0 or pairs.dtype.kind not in "iu":
        raise ParameterError(f"{name} must be pairs of node numbers, (2, pairs); got {pairs.dtype} of {pairs.shape}")
    if pairs.min() < 0 or pairs.max() >= num_nodes:
        outside = pairs[(pairs < 0) | (pairs >= num_nodes)][0]
        raise ParameterError(f"{name} must name rows 0..{num_nodes - 1} of the embedding; got node {outside}")
    return pairs.astype(np.int64, copy=False)


def _products(rows: Rows, pairs: IntArray) -> Floats:
    """The inner product of each pair of rows, some pairs at a time."""
    found = np.empty(pairs.shape[1])
    size = max(1, _NUMBERS_AT_ONCE // rows.shape[1])
    with np.errstate(over="ignore", invalid="ignore"):  # what is beyond float64 is said in a sentence
        for start in range(0, len(found), size):
            source, target = pairs[:, start : start + size]
            found[start : start + size] = np.asarray((rows[source] * rows[target]).sum(axis=1)).ravel()
    if not np.isfinite(found).all():
        raise ParameterError("vectors must not be so long that their products go beyond float64: scale them down")
    return found
