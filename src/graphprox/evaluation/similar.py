"""Similarity search: whether the nodes nearest to a node are of its class."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphprox.arrays import IntArray
from graphprox.errors import ParameterError
from graphprox.evaluation.inputs import Floats, Rows, RowsLike, checked_labels, dense, nodes_with_class, unit_rows

_COSINES_AT_ONCE = 1 << 22
_DECIMALS = 12  # of a cosine that count: vectors that point the same way are equally near


def similarity_scores(embedding: RowsLike, y: ArrayLike, ks: Sequence[int] = (5, 10)) -> dict[int, float]:
    """The mean share of a node's k nearest by cosine that are of its class, for each k: Sim@k.

    Only nodes whose class is known take part. Where some stand equally near at the k-th place, they share it: each
    counts as often as it would if chance decided, so that the order of the rows plays no part. The search is exact,
    some nodes at a time, and its memory grows with the number of nodes, not with its square.

    >>> similarity_scores([[1, 0], [1, 0.1], [0, 1], [0.1, 1]], [0, 0, 1, 1], ks=[1, 2])
    {1: 1.0, 2: 0.5}
    """
    rows = unit_rows(embedding)
    labels = checked_labels(y, rows=rows.shape[0])
    known = nodes_with_class(labels, task="similarity search")
    rows, labels = rows[known], labels[known]
    found = {_checked_k(k, len(labels) - 1): 0.0 for k in ks}
    size = max(1, _COSINES_AT_ONCE // len(labels))
    for start in range(0, len(labels), size):
        nodes = np.arange(start, min(start + size, len(labels)))
        cosines = _cosines(rows, nodes)
        alike = labels[nodes][:, None] == labels
        nearest = np.sort(np.partition(cosines, -max(found), axis=1)[:, -max(found) :], axis=1)
        for k in found:
            found[k] += float(_shares(cosines, alike, k, least=nearest[:, [-k]]).sum())
    return {k: total / len(labels) for k, total in found.items()}


def _checked_k(k: int, others: int) -> int:
    if not isinstance(k, int | np.integer) or isinstance(k, bool) or not 1 <= k <= others:
        raise ParameterError(f"k must lie in 1..{others}, the number of other nodes with a class; got {k!r}")
    return int(k)


def _cosines(rows: Rows, nodes: IntArray) -> Floats:
    """The cosines of some nodes with all, (nodes, all); with itself a node's is below every other."""
    cosines = dense(rows[nodes] @ rows.T).round(_DECIMALS)
    cosines[np.arange(len(nodes)), nodes] = -np.inf
    return cosines


def _shares(cosines: Floats, alike: NDArray[np.bool_], k: int, *, least: Floats) -> Floats:
    """The share of each row's k largest cosines, the k-th of which is given, that go with a node of the same class."""
    nearer, tied = cosines > least, cosines == least
    places = k - nearer.sum(axis=1)
    of_tied = (tied & alike).sum(axis=1) / tied.sum(axis=1)
    shares: Floats = ((nearer & alike).sum(axis=1) + places * of_tied) / k
    return shares
