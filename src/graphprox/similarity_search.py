"""Exact search for the nearest nodes of an embedding.

A matrix product estimates the similarities of a block of nodes at a time. The few candidates are then compared pair by
pair, so that equal vectors have equal scores, independent of their position and of the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphprox._utils.arrays import IntArray, NodeIds, to_array
from graphprox._utils.checks import is_integer
from graphprox.embedding import Embedding, check_finite, check_vectors
from graphprox.errors import ParameterError

_BLOCK_BYTES = 1 << 22  # of float64 vectors per block
_MIN_BLOCK_ROWS = 256
_QUERIES_PER_BLOCK = 256
_DECIMALS = 12  # of a cosine: parallel vectors must be equally near
_LOWEST = np.finfo(np.float64).min
_MAX_REPR_ROWS = 20

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Neighbors:
    """The nearest nodes of one or several query nodes, nearest first.

    The result for a single query is iterable over pairs (id, score). The result for several queries is a sequence of
    such results: ``neighbors[0]`` are the neighbors of the first query.

    Attributes
    ----------
    query : ndarray of shape (n_queries,) or ()
        Ids of the queries.
    ids : ndarray of shape (n_queries, k) or (k,)
        Ids of the neighbors.
    scores : ndarray of shape (n_queries, k) or (k,)
        Similarities in descending order, or distances in ascending order.
    nodes : ndarray of shape (n_queries, k) or (k,)
        Row numbers of the neighbors.
    metric : str
        Name of the metric.

    Examples
    --------
    >>> neighbors = nearest([[1, 0], [3, 4], [2, 0]], nodes=[0, 1], k=2)
    >>> neighbors
    Neighbors(2 queries, k=2, metric='cosine')
    >>> list(neighbors[0])
    [(2, 1.0), (1, 0.6)]
    """

    query: NodeIds
    ids: NodeIds
    scores: Floats
    nodes: IntArray
    metric: str

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, i: int) -> Any:
        """Return the neighbors of the i-th query; for a single query, the i-th pair (id, score)."""
        if self.ids.ndim == 1:
            return self.ids.tolist()[i], float(self.scores[i])
        query = np.asarray(self.query[i], dtype=self.query.dtype)
        return Neighbors(query, self.ids[i], self.scores[i], self.nodes[i], self.metric)

    def __iter__(self) -> Iterator[Any]:
        """Iterate over queries; for a single query, over pairs (id, score)."""
        if self.ids.ndim == 1:
            return zip(self.ids.tolist(), self.scores.tolist(), strict=True)
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        if self.ids.ndim == 2:
            return f"Neighbors({len(self.query)} queries, k={self.ids.shape[1]}, metric={self.metric!r})"
        names = [str(node) for node in self.ids[:_MAX_REPR_ROWS].tolist()]
        width = max(map(len, names))
        rows = [f"  {name:<{width}}  {score:.4f}" for name, score in zip(names, self.scores.tolist(), strict=False)]
        rest = ["  …"] * (len(self) > len(names))
        return "\n".join([f"Neighbors of {self.query.tolist()!r} by {self.metric}:", *rows, *rest])


def nearest(embedding: Embedding | ArrayLike, nodes: ArrayLike, *, k: int = 10, metric: str = "cosine") -> Neighbors:
    """Find the nearest nodes of nodes given by their row numbers; `Embedding.nearest` takes ids.

    The search is exact and needs little memory. A node is not its own neighbor; of nodes that are equally near, the
    one with the lower row number comes first. The cosine similarity with a zero vector is 0.

    Parameters
    ----------
    embedding : Embedding or array-like of shape (num_nodes, n_components)
        The vectors.
    nodes : array-like of shape (n_queries,)
        Row numbers of the queries.
    k : int, default=10
        Number of neighbors, less than the number of nodes.
    metric : {"cosine", "dot", "euclidean"}, default="cosine"
        Cosine similarity, inner product or Euclidean distance.

    Returns
    -------
    Neighbors
        Ids, row numbers and scores of shape (n_queries, k), nearest first. The ids of an array are its row numbers.

    Raises
    ------
    ParameterError
        If a parameter is invalid.

    Examples
    --------
    >>> neighbors = nearest([[1, 0], [3, 4], [2, 0], [0, 0]], nodes=[0], k=2)
    >>> neighbors.ids.tolist(), neighbors.scores.tolist()
    ([[2, 1]], [[1.0, 0.6]])
    """
    vectors = _get_vectors(embedding)
    if metric not in METRICS:
        raise ParameterError(f"metric must be one of {', '.join(METRICS)}; got {metric!r}")
    queries = _check_nodes(nodes, len(vectors))
    _check_k(k, len(vectors) - 1)
    found = [_search(vectors, block, int(k), METRICS[metric]) for block in _split(queries, _QUERIES_PER_BLOCK)]
    neighbors = np.concatenate([best.nodes for best in found])
    scores = METRICS[metric].to_score(np.concatenate([best.scores for best in found]))
    if isinstance(embedding, Embedding):
        return Neighbors(embedding.ids[queries], embedding.ids[neighbors], scores, neighbors, metric)
    return Neighbors(queries, neighbors, scores, neighbors, metric)


def _get_vectors(embedding: Embedding | ArrayLike) -> NDArray[Any]:
    if isinstance(embedding, Embedding):
        return embedding.vectors  # validated when it was created
    vectors = check_vectors(embedding)
    check_finite(vectors, np.arange(len(vectors)))
    return vectors


def _check_nodes(nodes: ArrayLike, num_nodes: int) -> IntArray:
    array = to_array(nodes, "nodes")
    if array.ndim != 1 or array.size == 0 or array.dtype.kind not in "iu":
        raise ParameterError(f"nodes must be a list of row numbers; got {array.dtype} of shape {array.shape}")
    outside = array[(array < 0) | (array >= num_nodes)]
    if len(outside):
        raise ParameterError(f"nodes must be between 0 and {num_nodes - 1}; got {outside[0]}")
    return array.astype(np.int64, copy=False)


def _check_k(k: int, others: int) -> None:
    if others == 0:
        raise ParameterError("an embedding must have at least two nodes for a search; got 1")
    if not is_integer(k) or not 1 <= k <= others:
        raise ParameterError(f"k must be between 1 and {others}, the number of other nodes; got {k!r}")


# -- metrics, as similarities to maximize ---------------------------------------------------------------------------


@dataclass(frozen=True)
class _Metric:
    """A similarity, exact for pairs of rows, and estimated by a matrix product for many."""

    transform: Callable[[Floats], Floats]  # applied to all rows first
    similarity: Callable[[Floats, Floats], Floats]  # (num_pairs, n_components) twice -> (num_pairs,)
    estimate: Callable[[Floats, Floats], tuple[Floats, Floats]]  # similarities and a bound of their error
    to_score: Callable[[Floats], Floats]  # from similarity to reported score


def _identity(values: Floats) -> Floats:
    return values


def _normalize(rows: Floats) -> Floats:
    length = _length(rows)
    if not ((length > 1e-140) & (length < 1e140)).all():
        # Their squares would under- or overflow. Scaling by a power of two is exact.
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


def _relative_error(rows: Floats) -> float:
    """Return the relative error bound of a sum over the components."""
    return float((2 * rows.shape[1] + 32) * np.finfo(np.float64).eps)


def _cosine(a: Floats, b: Floats) -> Floats:
    return np.clip(_product(a, b), -1, 1).round(_DECIMALS) + 0.0  # no -0.0


def _estimate_cosine(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    return a @ b.T, np.full((1, 1), _relative_error(a) + 10.0**-_DECIMALS)


def _estimate_product(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    return a @ b.T, _relative_error(a) * _length(a)[:, None] * _length(b)


def _negative_squared_distance(a: Floats, b: Floats) -> Floats:
    difference = a - b
    return -_product(difference, difference)


def _estimate_negative_distance(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    length_a, length_b = _length(a)[:, None], _length(b)
    return 2 * (a @ b.T) - length_a**2 - length_b**2, _relative_error(a) * (length_a + length_b) ** 2


def _to_distance(similarity: Floats) -> Floats:
    return np.sqrt(-similarity)


METRICS = {
    "cosine": _Metric(_normalize, _cosine, _estimate_cosine, _identity),
    "dot": _Metric(_identity, _product, _estimate_product, _identity),
    "euclidean": _Metric(_identity, _negative_squared_distance, _estimate_negative_distance, _to_distance),
}


# -- search ---------------------------------------------------------------------------------------------------------


class _Best:
    """The k best nodes found so far for each query."""

    def __init__(self, queries: int, k: int) -> None:
        self.nodes = np.full((queries, k), np.iinfo(np.int64).max)
        self.scores = np.full((queries, k), _LOWEST)

    def add(self, query: IntArray, node: IntArray, score: Floats) -> None:
        """Add scored pairs of queries and nodes, and keep the k best."""
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
    with np.errstate(over="ignore", invalid="ignore"):  # overflow is reported by _find_candidates
        queries = metric.transform(_as_float64(vectors[nodes]))
        size = max(_MIN_BLOCK_ROWS, _BLOCK_BYTES // (8 * vectors.shape[1]))
        for start in range(0, len(vectors), size):
            rows = metric.transform(_as_float64(vectors[start : start + size]))
            query, row = _find_candidates(metric.estimate(queries, rows), nodes - start, best.scores[:, -1], k)
            for pairs in _split(np.arange(len(query)), size):
                score = metric.similarity(queries[query[pairs]], rows[row[pairs]])
                best.add(query[pairs], start + row[pairs], score)
    return best


def _as_float64(vectors: NDArray[Any]) -> Floats:
    return np.ascontiguousarray(vectors, dtype=np.float64)


def _find_candidates(
    estimate: tuple[Floats, Floats], own_row: IntArray, threshold: Floats, k: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the pairs of query and row that may be among the k best.

    ``own_row`` is the row of each query itself, possibly outside of the block; ``threshold`` is its k-th best score.
    """
    similarity, error = estimate
    if not (is_finite := np.isfinite(similarity)).all():
        raise ParameterError(
            f"the inner products of vectors must not overflow float64; got {similarity[~is_finite][0]}: "
            "scale the vectors down"
        )
    inside = np.flatnonzero((own_row >= 0) & (own_row < similarity.shape[1]))
    similarity[inside, own_row[inside]] = -np.inf
    if similarity.shape[1] > k:
        threshold = np.maximum(threshold, np.partition(similarity - error, -k, axis=1)[:, -k])
    query, row = np.nonzero(similarity + error >= threshold[:, None])
    return query, row


def _split(array: NDArray[Any], size: int) -> Iterator[NDArray[Any]]:
    for start in range(0, len(array), size):
        yield array[start : start + size]
