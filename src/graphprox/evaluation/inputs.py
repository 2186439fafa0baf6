"""What every task asks of an embedding and of labels, checked in one place."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.extmath import row_norms
from threadpoolctl import ThreadpoolController

from graphprox.arrays import IntArray
from graphprox.embedding import as_vectors, refuse_not_finite
from graphprox.errors import GraphError, ParameterError
from graphprox.graph import UNKNOWN_LABEL, Graph
from graphprox.splits import NodeSplit

Floats = NDArray[np.float64]
Rows: TypeAlias = Floats | sp.csr_array
RowsLike: TypeAlias = ArrayLike | sp.csr_array

_SHORT, _LONG = 1e-140, 1e140  # lengths within which squares stay whole


def unit_rows(embedding: RowsLike) -> Rows:
    """The rows of an embedding, dense or sparse, each of length 1, in double precision; a row of zeros stays.

    >>> unit_rows([[3, 4], [0, 0]])
    array([[0.6, 0.8],
           [0. , 0. ]])
    """
    rows = checked_rows(embedding)
    length = _lengths(rows)
    if not ((length > _SHORT) & (length < _LONG)).all():
        # Squares of such numbers are lost beyond float64. Divided by its largest, a row has a length near 1.
        rows = _divided(rows, _largest(rows))
        length = _lengths(rows)
    return _divided(rows, length)


def _lengths(rows: Rows) -> Floats:
    with np.errstate(over="ignore"):
        length: Floats = row_norms(rows)
    return length


def _largest(rows: Rows) -> Floats:
    """How large the largest number of each row is, whatever its sign."""
    highest, lowest = (dense(extreme(axis=1)).ravel() for extreme in (rows.max, rows.min))
    return np.maximum(highest, -lowest)


def _divided(rows: Rows, by: Floats) -> Rows:
    """Each row divided by a number, unless that is 0."""
    by = np.where(by == 0, 1, by)
    if isinstance(rows, np.ndarray):
        return rows / by[:, None]
    values = rows.data / np.repeat(by, np.diff(rows.indptr))
    return sp.csr_array((values, rows.indices, rows.indptr), shape=rows.shape)


def checked_rows(embedding: RowsLike) -> Rows:
    """The rows of an embedding, dense or sparse, in double precision; none, NaN and infinity are refused."""
    if sp.issparse(embedding):
        return _checked_sparse(embedding)
    vectors = as_vectors(embedding)
    refuse_not_finite(vectors, np.arange(len(vectors)))
    rows: Floats = vectors.astype(np.float64, copy=False)
    return rows


def _checked_sparse(embedding: Any) -> sp.csr_array:
    rows = sp.csr_array(embedding, dtype=np.float64)
    if not rows.has_canonical_format:  # a number may be given in parts, which add up
        rows = rows.copy()
        rows.sum_duplicates()
    if 0 in rows.shape:
        raise ParameterError(f"an embedding must be a matrix of numbers, a row per node; got shape {rows.shape}")
    at = np.flatnonzero(~np.isfinite(rows.data))
    if len(at):
        node = np.searchsorted(rows.indptr, at[0], side="right") - 1
        raise ParameterError(f"vectors must be finite; node {node} has {rows.data[at[0]]}")
    return rows


def dense(matrix: Any) -> Floats:
    """A matrix, or a product of two, that may be sparse, as an array."""
    array: Floats = matrix if isinstance(matrix, np.ndarray) else matrix.toarray()
    return array


def labels_of(graph: Graph) -> IntArray:
    """The class of each node; a graph without any is refused."""
    if graph.y is None:
        raise GraphError("a graph must have labels to measure by them; got one without")
    return graph.y


def checked_labels(y: ArrayLike, *, rows: int) -> IntArray:
    """The class of each row, a number, -1 where it is not known; refused if they do not go with the rows."""
    labels = np.asarray(y)
    if labels.shape != (rows,):
        raise ParameterError(f"labels must name a class per row; got shape {labels.shape} for {rows} rows")
    if labels.dtype.kind not in "iu":
        raise ParameterError(f"labels must be class numbers, which are integers; got {labels.dtype}")
    return labels.astype(np.int64, copy=False)


def nodes_with_class(labels: IntArray, *, task: str) -> IntArray:
    """The nodes whose class is known; fewer than two classes among them are refused."""
    nodes = np.flatnonzero(labels != UNKNOWN_LABEL)
    classes = len(np.unique(labels[nodes]))
    if classes < 2:
        raise GraphError(f"{task} needs nodes of two classes or more; got {classes} among the known labels")
    return nodes


def check_split(labels: IntArray, split: NodeSplit, *, parts: tuple[str, ...]) -> None:
    """Refuse a split from which nothing can be learned, or on which nothing can be counted."""
    for name in parts:
        nodes: IntArray = getattr(split, name)
        if len(nodes) and nodes[-1] >= len(labels):
            raise ParameterError(
                f"a split must name rows 0..{len(labels) - 1} of the embedding; got node {nodes[-1]}: "
                "was it made for another graph?"
            )
        if len(nodes) == 0 or (labels[nodes] == UNKNOWN_LABEL).any():
            raise GraphError(f"a probe needs {name} nodes, all with a known class; got some without, or none")
    if "train" in parts and len(np.unique(labels[split.train])) < 2:
        raise GraphError("a probe must learn from two classes or more; got one among the training nodes")


@contextmanager
def one_thread() -> Iterator[None]:
    """Matrix products on one thread: a probe's are small, and where another program has a core, threads wait for it."""
    with _libraries().limit(limits=1, user_api="blas"):
        yield


@cache
def _libraries() -> ThreadpoolController:
    return ThreadpoolController()  # looks through all that is loaded, which takes as long as a small probe
