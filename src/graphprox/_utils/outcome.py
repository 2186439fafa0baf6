"""Checks of a trained embedding: it must be finite, and should not have collapsed."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphprox._utils.arrays import FloatArray
from graphprox._utils.stacklevel import warn
from graphprox._utils.team import row_keepers, select_rows
from graphprox.errors import CollapsedEmbeddingWarning, IgnoredInputWarning, TrainingError

TOLERANCE = 1e-6  # columns that differ by less than this share of the largest value are constant
ALIKE, MIN_SHARE = 0.99, 0.99  # cosine above which vectors are alike, and share of pairs that are so
NUM_PAIRS, MIN_NODES = 1000, 20  # pairs that are compared, and nodes of which this says something
BLOCK_NUMBERS = 2**20  # of vectors that are compared at the same time


def raise_if_diverged(vectors: FloatArray, remedy: str) -> FloatArray:
    """Return the vectors; raise an error if a value is not finite.

    Parameters
    ----------
    vectors : ndarray of shape (num_nodes, n_components)
    remedy : str
        What to do about it, at the end of the message.

    Returns
    -------
    ndarray of shape (num_nodes, n_components)

    Raises
    ------
    TrainingError
        If a value is NaN or infinite.

    Examples
    --------
    >>> raise_if_diverged(np.array([[np.nan]]), "train less")
    Traceback (most recent call last):
    graphprox.errors.TrainingError: training diverged: an embedding must be finite; got NaN or infinity: train less
    """
    if not np.isfinite(vectors).all():
        raise TrainingError(f"training diverged: an embedding must be finite; got NaN or infinity: {remedy}")
    return vectors


def is_collapsed(vectors: FloatArray) -> bool:
    """Return whether all of several vectors are the same.

    Parameters
    ----------
    vectors : ndarray of shape (num_nodes, n_components)

    Returns
    -------
    bool

    Examples
    --------
    >>> is_collapsed(np.ones((2, 3))), is_collapsed(np.eye(2))
    (True, False)
    """
    keepers = row_keepers()
    bounds = np.zeros((keepers.size, 3, vectors.shape[1]))  # of each process: whether it has rows, lowest, highest
    if len(vectors):
        bounds[keepers.rank] = np.ones(vectors.shape[1]), vectors.min(axis=0), vectors.max(axis=0)
    keepers.add_up(bounds)
    bounds = bounds[bounds[:, 0].any(axis=1)]
    if count_rows(vectors) < 2 or not bounds.size:
        return False
    low, high = bounds[:, 1].min(axis=0), bounds[:, 2].max(axis=0)
    return bool((high - low).max() <= TOLERANCE * max(high.max(), -low.min()))


def count_rows(vectors: Any) -> int:
    """Return the number of vectors of all processes, each of which may keep its own.

    Parameters
    ----------
    vectors : ndarray or csr_array of shape (num_nodes, n_components)

    Returns
    -------
    int
    """
    row_keepers().add_up(total := np.array([vectors.shape[0]]))
    return int(total[0])


def warn_if_collapsed(vectors: FloatArray) -> FloatArray:
    """Return the vectors; warn if all of them are the same.

    Parameters
    ----------
    vectors : ndarray of shape (num_nodes, n_components)

    Returns
    -------
    ndarray of shape (num_nodes, n_components)

    Warns
    -----
    CollapsedEmbeddingWarning

    Examples
    --------
    >>> warn_if_collapsed(np.eye(2, dtype=np.float32)).shape
    (2, 2)
    """
    num_nodes = count_rows(vectors)
    if is_collapsed(vectors):
        warn(
            f"the embedding collapsed: all {num_nodes:,} nodes have the same vector; unless all nodes of the graph "
            "are equivalent, lower the learning rate or change the random seed",
            CollapsedEmbeddingWarning,
        )
    return vectors


def warn_if_alike(vectors: Any) -> Any:
    """Return the vectors; warn if nearly all of them point in the same direction, though they are not the same.

    Parameters
    ----------
    vectors : ndarray or csr_array of shape (num_nodes, n_components)

    Returns
    -------
    ndarray or csr_array of shape (num_nodes, n_components)

    Warns
    -----
    CollapsedEmbeddingWarning

    Examples
    --------
    >>> warn_if_alike(np.eye(30, dtype=np.float32)).shape
    (30, 30)
    """
    num_nodes = count_rows(vectors)
    if num_nodes < MIN_NODES:
        return vectors
    rng = np.random.default_rng(0)
    source = rng.integers(num_nodes, size=NUM_PAIRS)
    target = (source + rng.integers(1, num_nodes, size=NUM_PAIRS)) % num_nodes
    cosines, first, differ = np.zeros(NUM_PAIRS), _rows(vectors, source[:1], num_nodes), False
    size = max(BLOCK_NUMBERS // vectors.shape[1], 1)
    for pairs in (slice(start, start + size) for start in range(0, NUM_PAIRS, size)):
        one, other = (_rows(vectors, each[pairs], num_nodes) for each in (source, target))
        lengths = np.linalg.norm(one, axis=1) * np.linalg.norm(other, axis=1)
        np.divide((one * other).sum(axis=1), lengths, where=lengths > 0, out=cosines[pairs])
        differ = differ or bool(np.any(one != first))
    if not differ:  # all are the same, which trained methods warn of themselves
        return vectors
    share = float(np.mean(cosines > ALIKE))
    if share >= MIN_SHARE:
        warn(
            f"the embedding hardly differs between nodes: {share:.0%} of the pairs have a cosine above {ALIKE}, so "
            'similarities say little; standardize the features by scale="standard" (--scale standard), or change '
            "epochs, learning rate or random seed",
            CollapsedEmbeddingWarning,
        )
    return vectors


def warn_if_unused(num_used: int, n_components: int, default: object, what: str) -> None:
    """Warn if a size was chosen that is more than a graph can give; the default is not warned about.

    Parameters
    ----------
    num_used : int
        Number of components that say something about the nodes; none do if there is nothing to know about them.
    n_components : int
        The size that was given.
    default : object
        The size if none is given.
    what : str
        What is true of these alone, and what to do.

    Warns
    -----
    IgnoredInputWarning

    Examples
    --------
    >>> warn_if_unused(100, 256, 256, "are not zero: choose fewer")
    """
    if 0 < num_used < n_components != default:
        warn(
            f"n_components must not exceed what this graph can give; got {n_components:,}, of which only {num_used:,} "
            f"{what}",
            IgnoredInputWarning,
        )


def _rows(vectors: Any, nodes: NDArray[np.int64], num_nodes: int) -> NDArray[np.float64]:
    rows = select_rows(row_keepers(), vectors, nodes, num_nodes)
    return np.asarray(rows.toarray() if isinstance(rows, sp.csr_array) else rows, dtype=np.float64)
