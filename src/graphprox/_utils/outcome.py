"""Checks of a trained embedding: it must be finite, and should not have collapsed."""

from __future__ import annotations

import warnings

import numpy as np

from graphprox._utils.arrays import FloatArray
from graphprox._utils.stacklevel import find_stacklevel
from graphprox.errors import CollapsedEmbeddingWarning, TrainingError

TOLERANCE = 1e-6  # columns that differ by less than this share of the largest value are constant


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
    if len(vectors) > 1 and np.ptp(vectors, axis=0).max() <= TOLERANCE * np.abs(vectors).max():
        warnings.warn(
            f"the embedding collapsed: all {len(vectors):,} nodes have the same vector; unless all nodes of the graph "
            "are equivalent, lower the learning rate or change the random seed",
            CollapsedEmbeddingWarning,
            stacklevel=find_stacklevel(),
        )
    return vectors
