"""nearest: the nodes of an embedding that are most like given ones, found exactly.

A matrix product says roughly who may be near, a block of nodes at a time. Those few are then compared pair by pair, so
that equal vectors have equal scores wherever they stand, however many threads the product had.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphprox.arrays import IntArray
from graphprox.embedding import Embedding, as_vectors, refuse_not_finite
from graphprox.errors import ParameterError

_BLOCK_BYTES = 1 << 22  # of vectors, in float64, that are looked at at a time
_LEAST_ROWS = 256  # of a block, however long they are
_QUERIES_AT_ONCE = 256
_DECIMALS = 12  # of a cosine that count: vectors that point the same way are equally near
_LOWEST = np.finfo(np.float64).min

Floats = NDArray[np.float64]


class Neighbours(NamedTuple):
    """The nearest nodes of each of some, nearest first, (queries, k): their numbers, and their scores."""

    nodes: IntArray
    scores: Floats


def nearest(embedding: Embedding | ArrayLike, nodes: ArrayLike, *, k: int = 10, metric: str = "cosine") -> Neighbours:
    """Find the k nearest nodes of each of some nodes, which are given by their numbers; exact, in bounded memory.

    Scores are cosines or inner products (``dot``), which fall along a row, or distances (``euclidean``), which rise.
    A node is not its own neighbour; of nodes that are equally near, the first comes first. The cosine with a vector
    of zeros is 0.

    >>> nodes, scores = nearest([[1, 0], [3, 4], [2, 0], [0, 0]], nodes=[0], k=2)
    >>> nodes.tolist(), scores.tolist()
    ([[2, 1]], [[1.0, 0.6]])
    """
    vectors = _checked_vectors(embedding)
    if metric not in METRICS:
        raise ParameterError(f"metric must be one of {', '.join(METRICS)}; got {metric!r}")
    queries = _checked_nodes(nodes, len(vectors))
    _check_k(k, len(vectors) - 1)
    found = [_search(vectors, some, int(k), METRICS[metric]) for some in _pieces(queries, _QUERIES_AT_ONCE)]
    return Neighbours(
        np.concatenate([best.nodes for best in found]),
        METRICS[metric].shown(np.concatenate([best.scores for best in found])),
    )


def _checked_vectors(embedding: Embedding | ArrayLike) -> NDArray[Any]:
    if isinstance(embedding, Embedding):
        return embedding.vectors
    vectors = as_vectors(embedding)
    refuse_not_finite(vectors, np.arange(len(vectors)))
    return vectors


def _checked_nodes(given: ArrayLike, num_nodes: int) -> IntArray:
    nodes = np.asarray(given)
    if nodes.ndim != 1 or nodes.size == 0 or nodes.dtype.kind not in "iu":
        raise ParameterError(f"nodes must be a list of node numbers; got {nodes.dtype} of shape {nodes.shape}")
    outside = nodes[(nodes < 0) | (nodes >= num_nodes)]
    if len(outside):
        raise ParameterError(f"nodes must lie in 0..{num_nodes - 1}; got {outside[0]}")
    return nodes.astype(np.int64, copy=False)


def _check_k(k: int, others: int) -> None:
    if others == 0:
        raise ParameterError("an embedding must have at least two nodes, or nothing is near anything; got 1")
    if not isinstance(k, int | np.integer) or isinstance(k, bool) or not 1 <= k <= others:
        raise ParameterError(f"k must lie in 1..{others}, the number of other nodes; got {k!r}")


# -- the metrics, as similarities: the larger, the nearer -----------------------------------------------------------


@dataclass(frozen=True)
class _Metric:
    """What nearness is: ``similarity`` of pairs, each by itself, and what a matrix product says of many, roughly."""

    prepared: Callable[[Floats], Floats]  # rows that can be compared
    similarity: Callable[[Floats, Floats], Floats]  # (pairs, dimensions) twice -> (pairs,)
    estimate: Callable[[Floats, Floats], tuple[Floats, Floats]]  # rows of two kinds -> similarities, and how far off
    shown: Callable[[Floats], Floats]  # what a user calls the score


def _same(values: Floats) -> Floats:
    return values


def _unit(rows: Floats) -> Floats:
    length = _length(rows)
    if not ((length > 1e-140) & (length < 1e140)).all():
        # Squares of such numbers are lost beyond float64. A power of two brings them near 1 and changes no digit.
        largest = np.maximum(rows.max(axis=1), -rows.min(axis=1))
        rows = np.ldexp(rows, -np.frexp(largest)[1][:, None])
        length = _length(rows)
    unit: Floats = rows / np.where(length == 0, 1, length)[:, None]
    return unit


def _length(rows: Floats) -> Floats:
    return np.sqrt(_product(rows, rows))


def _product(a: Floats, b: Floats) -> Floats:
    product: Floats = np.einsum("ij,ij->i", a, b)
    return product


def _rounding(rows: Floats) -> float:
    """By how much a sum over the dimensions may be off, as a share."""
    return float((2 * rows.shape[1] + 32) * np.finfo(np.float64).eps)


def _cosine(a: Floats, b: Floats) -> Floats:
    return np.clip(_product(a, b), -1, 1).round(_DECIMALS) + 0.0  # there is no cosine of -0


def _estimated_cosine(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    return a @ b.T, np.full((1, 1), _rounding(a) + 10.0**-_DECIMALS)


def _estimated_product(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    return a @ b.T, _rounding(a) * _length(a)[:, None] * _length(b)


def _closeness(a: Floats, b: Floats) -> Floats:
    apart = a - b
    return -_product(apart, apart)


def _estimated_closeness(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    length_a, length_b = _length(a)[:, None], _length(b)
    return 2 * (a @ b.T) - length_a**2 - length_b**2, _rounding(a) * (length_a + length_b) ** 2


METRICS = {
    "cosine": _Metric(_unit, _cosine, _estimated_cosine, _same),
    "dot": _Metric(_same, _product, _estimated_product, _same),
    "euclidean": _Metric(_same, _closeness, _estimated_closeness, lambda closeness: np.sqrt(-closeness)),
}


# -- the search -----------------------------------------------------------------------------------------------------


class _Best:
    """The best k of the nodes that were seen so far, for each query."""

    def __init__(self, queries: int, k: int) -> None:
        self.nodes = np.full((queries, k), np.iinfo(np.int64).max)
        self.scores = np.full((queries, k), _LOWEST)

    def add(self, query: IntArray, node: IntArray, score: Floats) -> None:
        """Take the pairs of a query and a node that are better than what was there."""
        queries, k = self.nodes.shape
        query = np.concatenate([np.repeat(np.arange(queries), k), query])
        node = np.concatenate([self.nodes.ravel(), node])
        score = np.concatenate([self.scores.ravel(), score])
        order = np.lexsort((node, -score, query))
        starts = np.searchsorted(query[order], np.arange(queries))
        chosen = order[starts[:, None] + np.arange(k)]
        self.nodes, self.scores = node[chosen], score[chosen]


def _search(vectors: NDArray[Any], nodes: IntArray, k: int, metric: _Metric) -> _Best:
    best = _Best(len(nodes), k)
    with np.errstate(over="ignore", invalid="ignore"):  # what is beyond float64 is said in a sentence
        queries = metric.prepared(_as_float64(vectors[nodes]))
        size = max(_LEAST_ROWS, _BLOCK_BYTES // (8 * vectors.shape[1]))
        for start in range(0, len(vectors), size):
            rows = metric.prepared(_as_float64(vectors[start : start + size]))
            query, row = _candidates(metric.estimate(queries, rows), nodes - start, best.scores[:, -1], k)
            for pairs in _pieces(np.arange(len(query)), size):
                score = metric.similarity(queries[query[pairs]], rows[row[pairs]])
                best.add(query[pairs], start + row[pairs], score)
    return best


def _as_float64(vectors: NDArray[Any]) -> Floats:
    return np.ascontiguousarray(vectors, dtype=np.float64)


def _candidates(
    estimate: tuple[Floats, Floats], own: IntArray, least: Floats, k: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Which queries and rows may be among the k most similar, given the least similarity that counts so far.

    ``own`` is the row of each query itself, which may lie outside of the block.
    """
    similarity, off = estimate
    if not np.isfinite(similarity).all():
        raise ParameterError("vectors must not be so long that their products go beyond float64: scale them down")
    inside = np.flatnonzero((own >= 0) & (own < similarity.shape[1]))
    similarity[inside, own[inside]] = -np.inf
    if similarity.shape[1] > k:
        least = np.maximum(least, np.partition(similarity - off, -k, axis=1)[:, -k])
    query, row = np.nonzero(similarity + off >= least[:, None])
    return query, row


def _pieces(array: NDArray[Any], size: int) -> Iterator[NDArray[Any]]:
    for start in range(0, len(array), size):
        yield array[start : start + size]
