"""Validation of embeddings, labels and splits, shared by all evaluation tasks."""

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

from graphprox._utils.arrays import IntArray, to_array
from graphprox.embedding import check_finite, check_vectors
from graphprox.errors import GraphError, ParameterError
from graphprox.graph.graph import UNKNOWN_LABEL, Graph
from graphprox.graph.splits import NodeSplit

Floats = NDArray[np.float64]
Rows: TypeAlias = Floats | sp.csr_array
RowsLike: TypeAlias = ArrayLike | sp.csr_array

_MIN_NORM, _MAX_NORM = 1e-140, 1e140  # beyond these, the squares of a row underflow or overflow float64
_PART_NAMES = {"train": "training", "val": "validation", "test": "test"}


# -- vectors --------------------------------------------------------------------------------------------------------


def check_rows(embedding: RowsLike) -> Rows:
    """Return the vectors of an embedding in double precision.

    Parameters
    ----------
    embedding : array-like or sparse matrix of shape (num_nodes, n_components)

    Returns
    -------
    ndarray or csr_array of shape (num_nodes, n_components)

    Raises
    ------
    ParameterError
        If it is empty, not a matrix of numbers, or not finite.
    """
    if sp.issparse(embedding):
        return _check_sparse(embedding)
    vectors = check_vectors(embedding)
    check_finite(vectors, np.arange(len(vectors)))
    rows: Floats = vectors.astype(np.float64, copy=False)
    return rows


def _check_sparse(embedding: Any) -> sp.csr_array:
    rows = sp.csr_array(embedding, dtype=np.float64)
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    if 0 in rows.shape:
        raise ParameterError(f"an embedding must be a matrix of numbers, a row per node; got shape {rows.shape}")
    at = np.flatnonzero(~np.isfinite(rows.data))
    if len(at):
        node = np.searchsorted(rows.indptr, at[0], side="right") - 1
        raise ParameterError(f"vectors must be finite; node {node} has {rows.data[at[0]]}")
    return rows


def normalize_rows(embedding: RowsLike) -> Rows:
    """Scale the vectors of an embedding to unit length, in double precision; zero rows stay zero.

    Parameters
    ----------
    embedding : array-like or sparse matrix of shape (num_nodes, n_components)

    Returns
    -------
    ndarray or csr_array of shape (num_nodes, n_components)

    Examples
    --------
    >>> normalize_rows([[3, 4], [0, 0]])
    array([[0.6, 0.8],
           [0. , 0. ]])
    """
    rows = check_rows(embedding)
    norms = _norms(rows)
    if not ((norms > _MIN_NORM) & (norms < _MAX_NORM)).all():
        # Divided by its largest entry first, a row has a norm near 1, whose square float64 can hold.
        rows = _divide(rows, _max_abs(rows))
        norms = _norms(rows)
    return _divide(rows, norms)


def _norms(rows: Rows) -> Floats:
    with np.errstate(over="ignore"):
        norms: Floats = row_norms(rows)
    return norms


def _max_abs(rows: Rows) -> Floats:
    """Return the largest absolute value of each row."""
    highest, lowest = (to_dense(extreme(axis=1)).ravel() for extreme in (rows.max, rows.min))
    return np.maximum(highest, -lowest)


def _divide(rows: Rows, by: Floats) -> Rows:
    """Divide each row by a number, unless that is 0."""
    by = np.where(by == 0, 1, by)
    if isinstance(rows, np.ndarray):
        return rows / by[:, None]
    values = rows.data / np.repeat(by, np.diff(rows.indptr))
    return sp.csr_array((values, rows.indices, rows.indptr), shape=rows.shape)


def to_dense(matrix: Any) -> Floats:
    """Return a matrix that may be sparse as an array."""
    array: Floats = matrix if isinstance(matrix, np.ndarray) else matrix.toarray()
    return array


# -- labels and splits ----------------------------------------------------------------------------------------------


def get_labels(graph: Graph) -> IntArray:
    """Return the labels of a graph.

    Parameters
    ----------
    graph : Graph

    Returns
    -------
    ndarray of shape (num_nodes,)

    Raises
    ------
    GraphError
        If the graph has no labels.
    """
    if graph.y is None:
        raise GraphError("a graph must have labels to evaluate against; got one without: give y")
    return graph.y


def check_row_labels(y: ArrayLike, *, n_rows: int) -> IntArray:
    """Return labels as int64, -1 where unknown; raise unless there is an integer per row."""
    labels = to_array(y, "labels")
    if labels.shape != (n_rows,):
        raise ParameterError(f"labels must have one entry per row; got shape {labels.shape} for {n_rows} rows")
    if labels.dtype.kind not in "iu":
        raise ParameterError(f"labels must be integers, one number per class; got {labels.dtype}")
    return labels.astype(np.int64, copy=False)


def labeled_nodes(labels: IntArray, *, task: str) -> IntArray:
    """Return the nodes with a known label; raise if there are fewer than two classes."""
    nodes = np.flatnonzero(labels != UNKNOWN_LABEL)
    n_classes = len(np.unique(labels[nodes]))
    if n_classes < 2:
        raise GraphError(f"{task} needs nodes of at least two classes; got {n_classes} among the known labels")
    return nodes


def check_split(labels: IntArray, split: NodeSplit, *, parts: tuple[str, ...]) -> None:
    """Raise unless the named parts of a split have nodes, all with a known label, and at least two training classes."""
    for name in parts:
        nodes: IntArray = getattr(split, name)
        if len(nodes) and nodes[-1] >= len(labels):
            raise ParameterError(
                f"a split must name rows 0..{len(labels) - 1} of the embedding; got node {nodes[-1]}: "
                "was it made for another graph?"
            )
        if len(nodes) == 0 or (labels[nodes] == UNKNOWN_LABEL).any():
            raise GraphError(
                f"a probe needs {_PART_NAMES[name]} nodes, all with a known class; got some without, or none"
            )
    if "train" in parts and len(np.unique(labels[split.train])) < 2:
        raise GraphError("a probe needs training nodes of at least two classes; got one class")


# -- threads --------------------------------------------------------------------------------------------------------


@contextmanager
def limit_to_one_thread() -> Iterator[None]:
    """Limit BLAS to one thread: the products of a probe are too small to gain from more."""
    with _threadpools().limit(limits=1, user_api="blas"):
        yield


@cache
def _threadpools() -> ThreadpoolController:
    return ThreadpoolController()  # inspects all loaded libraries, which takes as long as a small probe
