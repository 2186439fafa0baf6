"""The one form in which a graph keeps its edges.

Entries are sorted by (source, target), each once. An entry that is listed again in the same direction is merged,
its weights added up. An undirected graph holds both directions of an edge; where only one was listed it serves
both, where both were listed with different weights the larger counts. Self-loops are kept, once.

An entry is sorted as one number, its key: source * nodes + target. Keys are sorted and turned in place, as the edges
of a large graph are the most that stands in memory when it is read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphprox.arrays import FloatArray, IntArray


@dataclass(frozen=True)
class CanonicalEdges:
    """Sorted, merged entries, (2, entries), and how many listed entries were merged away."""

    index: IntArray
    weight: FloatArray | None
    duplicates: int


def canonical_edges(
    index: NDArray[Any], weight: NDArray[Any] | None, *, num_nodes: int, directed: bool
) -> CanonicalEdges:
    """Bring listed edges, (2, listed), into the one form; every end must lie in ``0..num_nodes - 1``."""
    keys = np.multiply(index[0], num_nodes, dtype=np.int64)
    keys += index[1]
    keys, weight = _merged(keys, None if weight is None else weight.astype(np.float32, copy=False), np.add)
    duplicates = index.shape[1] - len(keys)
    if not directed:
        twice = None if weight is None else np.concatenate([weight, weight])
        keys, weight = _merged(_both_ways(keys, num_nodes), twice, np.maximum)
    entries = np.empty((2, len(keys)), np.int64)
    np.divmod(keys, num_nodes, out=(entries[0], entries[1]))
    return CanonicalEdges(entries, weight, duplicates)


def _both_ways(keys: IntArray, num_nodes: int) -> IntArray:
    """The keys, and behind them the keys of the same entries turned round."""
    both = np.concatenate([keys, keys])
    turned = both[len(keys) :]
    turned %= num_nodes
    turned *= num_nodes
    turned += keys // num_nodes
    return both


def _merged(keys: IntArray, weight: NDArray[Any] | None, combine: np.ufunc) -> tuple[IntArray, NDArray[Any] | None]:
    """The keys sorted, each once; weights of equal keys are combined. The array of keys is used up."""
    if len(keys) == 0:
        return keys, weight
    if weight is None:
        if _rising(keys):
            return keys, None
        keys.sort()
        first = _first_of_each(keys)
        return (keys if first.all() else keys[first]), None
    order = np.argsort(keys)
    keys = keys[order]
    weight = weight[order]
    del order
    first = _first_of_each(keys)
    if first.all():
        return keys, weight
    # A sum of many small weights would lose its last digits in float32; the larger of two does not.
    exact = np.float64 if combine is np.add else np.float32
    weight = combine.reduceat(weight, np.flatnonzero(first), dtype=exact).astype(np.float32, copy=False)
    return keys[first], weight


def _rising(keys: IntArray) -> bool:
    return bool((keys[1:] > keys[:-1]).all())


def _first_of_each(keys: IntArray) -> NDArray[np.bool_]:
    first = np.ones(len(keys), bool)
    np.not_equal(keys[1:], keys[:-1], out=first[1:])
    return first


def is_symmetric(index: NDArray[Any], weight: NDArray[Any] | None, *, num_nodes: int) -> bool:
    """Whether every listed edge is listed the other way round too, with the same weight."""
    listed = canonical_edges(index, weight, num_nodes=num_nodes, directed=True)
    turned = canonical_edges(index[::-1], weight, num_nodes=num_nodes, directed=True)
    return np.array_equal(listed.index, turned.index) and (
        listed.weight is None or turned.weight is None or np.array_equal(listed.weight, turned.weight)
    )
