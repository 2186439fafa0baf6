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
from graphprox.views.search.unit_rows import SparseRows, UnitRows, iterate_blocks, make_unit_rows


@dataclass(frozen=True)
class Directions:
    """The distinct directions of the rows of a matrix, and the nodes that have each.

    Parameters
    ----------
    rows : DenseRows or SparseRows
        A row of length 1 for each direction.
    members : ndarray of shape (n_members,)
        Nodes ordered by direction; those of direction i are ``members[start[i]:start[i + 1]]``. Nodes whose row is
        zero have no direction and are left out.
    start : ndarray of shape (n_directions + 1,)
        Where the members of each direction start.
    num_nodes : int
        Number of rows of the matrix.
    """

    rows: UnitRows
    members: NDArray[np.int32]
    start: IntArray
    num_nodes: int

    def __len__(self) -> int:
        return self.rows.shape[0]

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
    >>> directions.rows.unit.round(2).tolist()
    [[1.0, 0.0], [0.7099999785423279, 0.7099999785423279]]
    >>> directions.of_node.tolist()
    [0, -1, 0, 1]
    """
    given = check_matrix(matrix)
    norms = _row_norms(given)
    nodes = np.flatnonzero(norms)
    rows = make_unit_rows(given, nodes, norms)
    order, begins = _sort_equal_rows(rows)
    leaders = order[begins]  # the first of each group of equal rows, as the sort is stable
    number = np.empty(len(leaders), np.int64)
    number[np.argsort(leaders)] = np.arange(len(leaders))
    direction = np.empty(len(nodes), np.int64)
    direction[order] = number[np.cumsum(begins) - 1]
    if len(leaders) < len(nodes):
        rows = rows.choose(np.sort(leaders))
    members = nodes[np.argsort(direction, kind="stable")].astype(np.int32)
    start = np.concatenate([[0], np.cumsum(np.bincount(direction, minlength=len(leaders)))])
    return Directions(rows, members, start, num_nodes=given.shape[0])


def check_matrix(matrix: MatrixLike) -> Features | NDArray[Any]:
    """Return a matrix of numbers, dense of any numeric type or as canonical CSR."""
    rows: Features | NDArray[Any]
    with np.errstate(over="ignore"):  # values too large for float32 become infinite and are rejected later
        try:
            if sp.issparse(matrix):
                rows = freeze_csr(matrix)
            elif isinstance(matrix, np.ndarray) and matrix.dtype.kind in "biuf":
                rows = matrix.view(np.ndarray)  # converted in blocks: it may be a large memory map
            else:
                rows = np.ascontiguousarray(matrix, dtype=np.float32)
        except (TypeError, ValueError) as error:
            raise ParameterError(f"a matrix to rank must contain numbers; got {error}") from None
    if np.ndim(matrix) != 2 or rows.shape[1] == 0:
        raise ParameterError(
            f"a matrix to rank must have a row per node and at least one column; got shape {np.shape(matrix)}"
        )
    return rows


def _row_norms(rows: Features | NDArray[Any]) -> NDArray[np.float64]:
    """Return the length of each row, in float64, where no square overflows or underflows."""
    if isinstance(rows, sp.csr_array):
        _check_finite(rows.data, rows.indptr.astype(np.int64), 0)
        squares = sp.csr_array((rows.data.astype(np.float64) ** 2, rows.indices, rows.indptr), shape=rows.shape)
        total = np.asarray(squares.sum(axis=1), dtype=np.float64)
    else:
        total = np.empty(len(rows))
        for chosen in iterate_blocks(len(rows)):
            first = int(chosen[0])
            with np.errstate(over="ignore"):
                block = np.ascontiguousarray(rows[first : first + len(chosen)], dtype=np.float32)
            _check_finite(block.ravel(), np.arange(len(block) + 1) * rows.shape[1], first)
            total[chosen] = np.square(block, dtype=np.float64).sum(axis=1)
    norms: NDArray[np.float64] = np.sqrt(total)
    return norms


def _check_finite(values: NDArray[np.float32], start: IntArray, first_row: int) -> None:
    """Check values of consecutive rows; those of row ``first_row + i`` begin at ``start[i]``."""
    # The minimum and the maximum show NaN and infinity without an array of booleans.
    if values.size and not (np.isfinite(values.min()) and np.isfinite(values.max())):
        at = int(np.flatnonzero(~np.isfinite(values))[0])
        raise ParameterError(
            f"a matrix to rank must contain finite float32 numbers; got {values[at]} in row "
            f"{first_row + np.searchsorted(start, at, side='right') - 1}: correct or remove the row"
        )


def _sort_equal_rows(rows: UnitRows) -> tuple[IntArray, NDArray[np.bool_]]:
    """Return an order of the rows in which equal ones are consecutive, and where each group of equal rows begins."""
    hashes = _hash_rows(rows)
    order = np.argsort(hashes, kind="stable")
    begins = np.ones(len(order), bool)
    begins[1:] = hashes[order[1:]] != hashes[order[:-1]]
    after = np.flatnonzero(~begins)
    # Rows of equal hash are compared, so that a collision does not merge different rows.
    for block in iterate_blocks(len(after)):
        places = after[block]
        begins[places] = ~_are_rows_equal(rows, order[places], order[places - 1])
    return order, begins


def _hash_rows(rows: UnitRows) -> NDArray[np.uint64]:
    from graphprox._utils.numba_helpers import run_in_parallel
    from graphprox.views.search import kernels

    hashes = np.empty(rows.shape[0], np.uint64)
    if isinstance(rows, SparseRows):
        unit = rows.unit
        parts = unit.data.view(np.uint32), unit.indices.astype(np.int32, copy=False), unit.indptr.astype(np.int64)
        run_in_parallel(partial(kernels.hash_sparse_rows, *parts, hashes), len(hashes))
    else:
        for block in iterate_blocks(len(hashes)):
            bits, found = rows.read(block).view(np.uint32), hashes[block[0] : block[-1] + 1]
            run_in_parallel(partial(kernels.hash_dense_rows, bits, found), len(block))
    return hashes


def _are_rows_equal(rows: UnitRows, these: IntArray, those: IntArray) -> NDArray[np.bool_]:
    if isinstance(rows, SparseRows):
        same = np.asarray(abs(rows.unit[these] - rows.unit[those]).sum(axis=1)) == 0
    else:
        same = (rows.read(these) == rows.read(those)).all(axis=1)
    return np.asarray(same, dtype=np.bool_)
