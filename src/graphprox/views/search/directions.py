"""Directions: the distinct unit vectors among the rows of a matrix, which is all that cosine similarity depends on.

Many nodes share a topology vector, and some have the same words. Each direction is searched once, and the result
holds for all nodes that have it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphprox._utils.arrays import Features, IntArray, MatrixLike, freeze_csr
from graphprox.errors import ParameterError

BLOCK_ROWS = 65_536  # converted to float64 at a time


@dataclass(frozen=True)
class Directions:
    """The distinct directions of the rows of a matrix, and the nodes that have each.

    Parameters
    ----------
    unit : ndarray or csr_array of shape (n_directions, num_columns)
        Rows of length 1, dense or sparse as the matrix was.
    members : ndarray of shape (n_members,)
        Nodes ordered by direction; those of direction i are ``members[start[i]:start[i + 1]]``. Nodes whose row is
        zero have no direction and are left out.
    start : ndarray of shape (n_directions + 1,)
        Where the members of each direction start.
    num_nodes : int
        Number of rows of the matrix.
    """

    unit: Features
    members: NDArray[np.int32]
    start: IntArray
    num_nodes: int

    def __len__(self) -> int:
        return int(self.unit.shape[0])

    @property
    def of_node(self) -> IntArray:
        """The direction of each node, of shape (num_nodes,); -1 for a row of zeros."""
        direction = np.full(self.num_nodes, -1, np.int64)
        direction[self.members] = np.repeat(np.arange(len(self)), np.diff(self.start))
        return direction


def find_directions(matrix: MatrixLike) -> Directions:
    """Normalize the rows of a matrix and group equal ones.

    Parameters
    ----------
    matrix : array-like or sparse matrix of shape (num_nodes, num_columns)

    Returns
    -------
    Directions

    Examples
    --------
    >>> directions = find_directions([[1, 0], [0, 0], [2, 0], [3, 3]])
    >>> directions.unit.round(2).tolist()
    [[1.0, 0.0], [0.7099999785423279, 0.7099999785423279]]
    >>> directions.of_node.tolist()
    [0, -1, 0, 1]
    """
    rows = check_matrix(matrix)
    norms = _row_norms(rows)
    nodes = np.flatnonzero(norms)
    unit = _normalize_rows(rows, nodes, norms)
    order, begins = _sort_equal_rows(unit)
    leaders = order[begins]  # the first of each group of equal rows, as the sort is stable
    number = np.empty(len(leaders), np.int64)
    number[np.argsort(leaders)] = np.arange(len(leaders))
    direction = np.empty(len(nodes), np.int64)
    direction[order] = number[np.cumsum(begins) - 1]
    if len(leaders) < len(nodes):
        unit = unit[np.sort(leaders)]
    members = nodes[np.argsort(direction, kind="stable")].astype(np.int32)
    start = np.concatenate([[0], np.cumsum(np.bincount(direction, minlength=len(leaders)))])
    return Directions(unit, members, start, num_nodes=rows.shape[0])


def check_matrix(matrix: MatrixLike) -> Features:
    """Return a matrix of finite numbers as float32, dense or as canonical CSR."""
    values: NDArray[Any]
    rows: Features
    with np.errstate(over="ignore"):  # values too large for float32 become infinite and are rejected below
        try:
            if sp.issparse(matrix):
                rows = freeze_csr(matrix)
                values = rows.data
            else:
                rows = values = np.ascontiguousarray(matrix, dtype=np.float32)
        except (TypeError, ValueError) as error:
            raise ParameterError(f"a matrix to rank must contain numbers; got {error}") from None
    if np.ndim(matrix) != 2 or rows.shape[1] == 0:
        raise ParameterError(
            f"a matrix to rank must have a row per node and at least one column; got shape {np.shape(matrix)}"
        )
    # The minimum and the maximum show NaN and infinity without a matrix of booleans.
    if values.size and not (np.isfinite(values.min()) and np.isfinite(values.max())):
        raise ParameterError(
            f"a matrix to rank must contain finite float32 numbers; got {_describe_first_invalid(rows)}: "
            "correct or remove the row"
        )
    return rows


def _describe_first_invalid(rows: Features) -> str:
    values = rows.data if isinstance(rows, sp.csr_array) else rows.ravel()
    at = int(np.flatnonzero(~np.isfinite(values))[0])
    row = np.searchsorted(rows.indptr, at, side="right") - 1 if isinstance(rows, sp.csr_array) else at // rows.shape[1]
    return f"{values[at]} in row {row}"


def _row_norms(rows: Features) -> NDArray[np.float64]:
    """Return the length of each row, in float64, where no square overflows or underflows."""
    if isinstance(rows, sp.csr_array):
        squares = sp.csr_array((rows.data.astype(np.float64) ** 2, rows.indices, rows.indptr), shape=rows.shape)
        total = np.asarray(squares.sum(axis=1), dtype=np.float64)
    else:
        total = np.concatenate([np.square(block, dtype=np.float64).sum(axis=1) for block in _split_blocks(rows)])
    norms: NDArray[np.float64] = np.sqrt(total)
    return norms


def _normalize_rows(rows: Features, nodes: IntArray, norms: NDArray[np.float64]) -> Features:
    """Return the nonzero rows, of length 1; the division in float64 makes multiples of one row equal."""
    if isinstance(rows, sp.csr_array):
        nonzero = rows if len(nodes) == rows.shape[0] else rows[nodes]
        data = nonzero.data / np.repeat(norms[nodes], np.diff(nonzero.indptr))
        return sp.csr_array((data.astype(np.float32), nonzero.indices, nonzero.indptr), shape=nonzero.shape)
    unit = np.empty((len(nodes), rows.shape[1]), np.float32)
    for chosen, block in zip(_split_blocks(nodes), _split_blocks(unit), strict=True):
        np.divide(rows[chosen], norms[chosen, None], out=block, casting="same_kind")
        block += np.float32(0)  # -0 becomes 0: equal rows must have equal bits
    return unit


def _split_blocks(array: NDArray[Any]) -> list[NDArray[Any]]:
    return [array[first : first + BLOCK_ROWS] for first in range(0, len(array), BLOCK_ROWS)] or [array]


def _sort_equal_rows(unit: Features) -> tuple[IntArray, NDArray[np.bool_]]:
    """Return an order of the rows in which equal ones are consecutive, and where each group of equal rows begins."""
    hashes = _hash_rows(unit)
    order = np.argsort(hashes, kind="stable")
    begins = np.ones(len(order), bool)
    begins[1:] = hashes[order[1:]] != hashes[order[:-1]]
    after = np.flatnonzero(~begins)
    # Rows of equal hash are compared, so that a collision does not merge different rows.
    for block in _split_blocks(after):
        begins[block] = ~_are_rows_equal(unit, order[block], order[block - 1])
    return order, begins


def _hash_rows(unit: Features) -> NDArray[np.uint64]:
    from graphprox._utils.numba_helpers import run_in_parallel
    from graphprox.views.search import kernels

    hashes = np.empty(unit.shape[0], np.uint64)
    if isinstance(unit, sp.csr_array):
        parts = unit.data.view(np.uint32), unit.indices.astype(np.int32, copy=False), unit.indptr.astype(np.int64)
        run_in_parallel(partial(kernels.hash_sparse_rows, *parts, hashes), len(hashes))
    else:
        run_in_parallel(partial(kernels.hash_dense_rows, unit.view(np.uint32), hashes), len(hashes))
    return hashes


def _are_rows_equal(unit: Features, these: IntArray, those: IntArray) -> NDArray[np.bool_]:
    if isinstance(unit, sp.csr_array):
        same = np.asarray(abs(unit[these] - unit[those]).sum(axis=1)) == 0
    else:
        same = (unit[these] == unit[those]).all(axis=1)
    return np.asarray(same, dtype=np.bool_)
