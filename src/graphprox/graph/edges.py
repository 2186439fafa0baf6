"""The canonical form of a graph's edges.

Entries are sorted by (source, target) without duplicates. Entries listed more than once in the same direction are
merged, and their weights are added. An undirected graph stores both directions of every edge; if both directions are
listed with different weights, the larger one is used. Self-loops are kept and stored once.

Entries are sorted by the key ``source * num_nodes + target``. Keys are sorted in place because the edges of a large
graph dominate the peak memory of reading it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphprox._utils.arrays import FloatArray, IntArray
from graphprox.errors import GraphError


@dataclass(frozen=True)
class CanonicalEdges:
    """Edges in canonical form.

    Attributes
    ----------
    index : ndarray of shape (2, num_entries)
        Sorted entries without duplicates.
    weight : ndarray of shape (num_entries,) or None
        Weight of each entry, float32.
    duplicates : int
        Number of listed entries that were merged into another one.
    """

    index: IntArray
    weight: FloatArray | None
    duplicates: int


def canonicalize_edges(
    index: NDArray[Any], weight: NDArray[Any] | None, *, num_nodes: int, directed: bool
) -> CanonicalEdges:
    """Sort and merge edges, and add the reverse of each edge of an undirected graph.

    Parameters
    ----------
    index : ndarray of shape (2, num_listed_edges)
        Node numbers between 0 and ``num_nodes - 1``.
    weight : ndarray of shape (num_listed_edges,) or None
        Weight of each listed edge.
    num_nodes : int
        Number of nodes.
    directed : bool
        Whether edges have a direction.

    Returns
    -------
    CanonicalEdges
    """
    keys = np.multiply(index[0], num_nodes, dtype=np.int64)
    keys += index[1]
    keys, weight = sort_and_merge(keys, None if weight is None else weight.astype(np.float32, copy=False), np.add)
    weight = None if weight is None else check_sums(weight)
    duplicates = index.shape[1] - len(keys)
    if not directed:
        both_weights = None if weight is None else np.concatenate([weight, weight])
        keys, weight = sort_and_merge(_append_reversed(keys, num_nodes), both_weights, np.maximum)
    entries = np.empty((2, len(keys)), np.int64)
    np.divmod(keys, num_nodes, out=(entries[0], entries[1]))
    return CanonicalEdges(entries, weight, duplicates)


def is_symmetric(index: NDArray[Any], weight: NDArray[Any] | None, *, num_nodes: int) -> bool:
    """Check whether every edge is listed in both directions with the same weight.

    Parameters
    ----------
    index : ndarray of shape (2, num_listed_edges)
        Node numbers between 0 and ``num_nodes - 1``.
    weight : ndarray of shape (num_listed_edges,) or None
        Weight of each listed edge.
    num_nodes : int
        Number of nodes.

    Returns
    -------
    bool
    """
    forward = canonicalize_edges(index, weight, num_nodes=num_nodes, directed=True)
    backward = canonicalize_edges(index[::-1], weight, num_nodes=num_nodes, directed=True)
    return np.array_equal(forward.index, backward.index) and (
        forward.weight is None or backward.weight is None or np.array_equal(forward.weight, backward.weight)
    )


def _append_reversed(keys: IntArray, num_nodes: int) -> IntArray:
    """Append the keys of the reversed entries."""
    both = np.concatenate([keys, keys])
    backward = both[len(keys) :]
    backward %= num_nodes
    backward *= num_nodes
    backward += keys // num_nodes
    return both


def sort_and_merge(
    keys: IntArray, weight: NDArray[Any] | None, combine: np.ufunc
) -> tuple[IntArray, NDArray[Any] | None]:
    """Sort keys, and combine the weights of equal ones.

    Parameters
    ----------
    keys : ndarray of shape (num_listed,)
        They may be sorted in place.
    weight : ndarray of shape (num_listed,) or None
    combine : ufunc
        ``np.add`` or ``np.maximum``.

    Returns
    -------
    keys : ndarray of shape (num_keys,)
        Each key once, in increasing order.
    weight : ndarray of shape (num_keys,) or None
        Sums are float64 where weights were added, and maxima have the type of the weights.
    """
    if len(keys) == 0:
        return keys, weight
    if weight is None:
        if _is_strictly_increasing(keys):
            return keys, None
        keys.sort()
        first = _mark_first(keys)
        return (keys if first.all() else keys[first]), None
    order = np.argsort(keys)
    keys = keys[order]
    weight = weight[order]
    del order
    first = _mark_first(keys)
    if first.all():
        return keys, weight
    # A float32 sum of many small weights would lose digits; the maximum would not.
    exact = np.float64 if combine is np.add else weight.dtype
    return keys[first], combine.reduceat(weight, np.flatnonzero(first), dtype=exact)


def check_sums(weight: NDArray[Any]) -> FloatArray:
    """Return sums of weights as float32; raise a `GraphError` if one is too large.

    Parameters
    ----------
    weight : ndarray of shape (num_entries,)

    Returns
    -------
    ndarray of shape (num_entries,)
    """
    if len(weight) and weight.max() > np.finfo(np.float32).max:
        raise GraphError(
            "the weights of an edge that is listed repeatedly must add up to a float32 number; "
            f"got {weight.max():.2g}: divide all weights by a constant"
        )
    return weight.astype(np.float32, copy=False)


def _is_strictly_increasing(keys: IntArray) -> bool:
    return bool((keys[1:] > keys[:-1]).all())


def _mark_first(keys: IntArray) -> NDArray[np.bool_]:
    """Mark the first of each run of equal keys."""
    first = np.ones(len(keys), bool)
    np.not_equal(keys[1:], keys[:-1], out=first[1:])
    return first
