"""What a training may leave behind: finite numbers, and not one vector for all nodes."""

from __future__ import annotations

import warnings

import numpy as np

from graphprox.arrays import FloatArray
from graphprox.errors import SameVectorsWarning, TrainingError

ROUNDING = 1e-6  # columns that differ by less than this share of the largest number are the same


def finite(embedding: FloatArray, remedy: str) -> FloatArray:
    """The embedding, refused unless every number is finite."""
    if not np.isfinite(embedding).all():
        raise TrainingError(f"an embedding must be finite; training made numbers that are not: {remedy}")
    return embedding


def told_apart(embedding: FloatArray) -> FloatArray:
    """The embedding of the graph that was trained on, with a warning where it tells no node from another.

    >>> told_apart(np.eye(2, dtype=np.float32)).shape
    (2, 2)
    """
    if len(embedding) > 1 and np.ptp(embedding, axis=0).max() <= ROUNDING * np.abs(embedding).max():
        warnings.warn(
            f"vectors should tell nodes apart; all {len(embedding):,} nodes have one: unless the graph makes them all "
            "alike, lower the learning rate or change the seed",
            SameVectorsWarning,
            stacklevel=3,
        )
    return embedding
