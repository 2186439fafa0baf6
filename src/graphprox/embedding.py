"""Embedding: a vector for every node, and the nodes' ids."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphprox.arrays import NodeIds, frozen
from graphprox.errors import ParameterError

_NUMBERS_AT_ONCE = 1 << 19  # a block that stays in the processor's cache while it is looked at


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Embedding:
    """A vector for every node: immutable, and checked once, when it is made.

    ``vectors`` (nodes, dimensions) are float64 where they are given so, and float32 else; ``ids`` (nodes,) are int64
    or strings, all different, and the nodes' numbers where they are left out. Both are read-only. Vectors that are
    mapped from a file to be read stay in the file.

    >>> embedding = Embedding([[1, 0], [0, 1], [1, 1]], ids=["ann", "bob", "cy"])
    >>> embedding
    Embedding(3 nodes, 2 dimensions)
    >>> embedding.vectors[embedding.ids == "cy"]
    array([[1., 1.]], dtype=float32)
    """

    vectors: NDArray[Any]
    ids: NodeIds

    def __init__(self, vectors: ArrayLike, ids: ArrayLike | None = None) -> None:
        checked = as_vectors(vectors)
        names = np.arange(len(checked)) if ids is None else _checked_ids(ids, len(checked))
        refuse_not_finite(checked, names)
        object.__setattr__(self, "vectors", _frozen_vectors(checked, given=vectors))
        object.__setattr__(self, "ids", frozen(names, given=ids))

    @property
    def num_nodes(self) -> int:
        """The number of nodes."""
        return int(self.vectors.shape[0])

    @property
    def dimensions(self) -> int:
        """How many numbers a vector has."""
        return int(self.vectors.shape[1])

    def __repr__(self) -> str:
        return f"Embedding({self.num_nodes} nodes, {self.dimensions} dimensions)"


def as_vectors(embedding: ArrayLike) -> NDArray[Any]:
    """A matrix of numbers, a row per node, as it is where it is float32 or float64; other floats and integers fit in.

    >>> as_vectors([[1, 2], [3, 4]])
    array([[1., 2.],
           [3., 4.]], dtype=float32)
    """
    try:
        vectors = np.asarray(embedding)
    except (TypeError, ValueError, RuntimeError) as error:  # rows of different lengths; a tensor that wants a gradient
        said = " ".join(str(error).split()).partition(". ")[0]
        raise ParameterError(f"an embedding must be a matrix of numbers, a row per node; {said}") from None
    if vectors.ndim != 2 or 0 in vectors.shape or vectors.dtype.kind not in "iuf":
        raise ParameterError(
            f"an embedding must be a matrix of numbers, a row per node; got {vectors.dtype} of shape {vectors.shape}"
        )
    is_double = vectors.dtype.kind == "f" and vectors.dtype.itemsize >= 8
    with np.errstate(over="ignore"):  # a long double may be too large: it becomes infinity, and that is refused
        return vectors.astype(np.float64 if is_double else np.float32, copy=False)


def refuse_not_finite(vectors: NDArray[Any], ids: NodeIds) -> None:
    """Say which node has NaN or infinity in its vector, if one has."""
    size = max(1, _NUMBERS_AT_ONCE // vectors.shape[1])
    for start in range(0, len(vectors), size):
        block = vectors[start : start + size]
        # The least and the largest value tell of NaN and infinity without a matrix of booleans.
        if not (np.isfinite(block.min()) and np.isfinite(block.max())):
            row, column = np.argwhere(~np.isfinite(block))[0].tolist()
            node = ids[start + row : start + row + 1].tolist()[0]
            raise ParameterError(
                f"vectors must be finite; node {node!r} has {block[row, column]} in dimension {column}"
            )


def _checked_ids(given: ArrayLike, num_nodes: int) -> NodeIds:
    ids = np.asarray(given)
    if ids.shape != (num_nodes,):
        raise ParameterError(f"ids must name every row once; got shape {ids.shape} for {num_nodes} rows")
    if ids.dtype.kind in "iu":
        if ids.max() > np.iinfo(np.int64).max:
            raise ParameterError(f"ids that are whole numbers must lie below 2^63; got {ids.max()}: use strings")
        ids = ids.astype(np.int64, copy=False)
    else:
        ids = ids.astype(object)
        odd = [each for each in ids.tolist() if not isinstance(each, str)]
        if odd:
            raise ParameterError(f"ids must be all whole numbers below 2^63 or all strings; got {odd[0]!r}")
    repeated = _first_repeated(ids)
    if repeated is not None:
        raise ParameterError(f"ids must differ; got {repeated!r} more than once")
    return ids


def _first_repeated(ids: NodeIds) -> int | str | None:
    if ids.dtype != object and (np.diff(ids) == 1).all():  # counted, as most are: no need to sort
        return None
    value, count = Counter(ids.tolist()).most_common(1)[0]
    return value if count > 1 else None


def _frozen_vectors(vectors: NDArray[Any], *, given: object) -> NDArray[Any]:
    # A file that is mapped to be read cannot be written to as it is; a copy would fill the memory that mapping saves.
    if isinstance(given, np.memmap) and given.mode == "r":
        return vectors
    return frozen(vectors, given=given)
