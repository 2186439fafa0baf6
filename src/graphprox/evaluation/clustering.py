"""Clustering: how far the groups that k-means finds in an embedding are the classes."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from graphprox.arrays import IntArray
from graphprox.errors import ParameterError
from graphprox.evaluation.inputs import Rows, RowsLike, checked_labels, nodes_with_class, unit_rows

_SEEDS = 2**32  # as many as scikit-learn takes
STARTS = 10  # of k-means: the tightest of so many counts


@dataclass(frozen=True)
class ClusterScore:
    """How clusters agree with classes: mutual information, Rand index, and accuracy under the best matching."""

    nmi: float
    ari: float
    accuracy: float


def cluster(embedding: RowsLike, y: ArrayLike, seed: int = 0) -> ClusterScore:
    """Group the rows, scaled to length 1, into as many clusters as there are classes, and hold them against these.

    Nodes whose class is not known, -1, are clustered with the others and then left out of the scores.

    >>> cluster([[1, 0], [2, 0], [0, 1], [0, 3]], [1, 1, 0, 0])
    ClusterScore(nmi=1.0, ari=1.0, accuracy=1.0)
    """
    rows = unit_rows(embedding)
    labels = checked_labels(y, rows=rows.shape[0])
    known = nodes_with_class(labels, task="clustering")
    classes = np.unique(labels[known], return_inverse=True)[1]
    clusters = _clusters(rows, count=int(classes.max()) + 1, seed=seed)[known]
    return ClusterScore(
        nmi=float(normalized_mutual_info_score(classes, clusters)),
        ari=float(adjusted_rand_score(classes, clusters)),
        accuracy=matched_accuracy(classes, clusters),
    )


def _clusters(rows: Rows, *, count: int, seed: int) -> IntArray:
    if not isinstance(seed, int | np.integer) or isinstance(seed, bool) or not 0 <= seed < _SEEDS:
        raise ParameterError(f"seed must be a whole number in 0..{_SEEDS - 1}; got {seed!r}")
    with warnings.catch_warnings():
        # Fewer different rows than clusters leave some empty: so the embedding is, and the score says so.
        warnings.simplefilter("ignore", ConvergenceWarning)
        found: IntArray = KMeans(count, n_init=STARTS, random_state=int(seed)).fit_predict(rows).astype(np.int64)
    return found


def matched_accuracy(classes: IntArray, clusters: IntArray) -> float:
    """The share of nodes that are right when each cluster is given a class of its own, as well as can be.

    >>> matched_accuracy(np.array([0, 0, 1, 1]), np.array([1, 1, 1, 0]))
    0.75
    """
    table = np.zeros((classes.max() + 1, clusters.max() + 1), np.int64)
    np.add.at(table, (classes, clusters), 1)
    return float(table[linear_sum_assignment(table, maximize=True)].sum() / len(classes))
