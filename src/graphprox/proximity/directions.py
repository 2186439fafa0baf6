"""What cosine sees of a matrix: the directions of its rows, each direction once.

Many nodes share one topology vector, and some share all their words. A direction is searched for once, and the
answer holds for all nodes that have it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphprox.arrays import Features, IntArray, MatrixLike, frozen_csr
from graphprox.errors import ParameterError

ROWS_AT_ONCE = 65_536  # rows that are widened to float64 together


@dataclass(frozen=True)
class Directions:
    """The different directions of a matrix's rows, and who has which; rows of zeros have none.

    ``unit`` (directions, columns) has rows of length 1, dense or CSR as the matrix was. ``members`` lists the nodes
    of direction 0, then of direction 1 and so on; those of direction i are ``members[start[i]:start[i + 1]]``.
    """

    unit: Features
    members: NDArray[np.int32]
    start: IntArray
    num_nodes: int

    def __len__(self) -> int:
        return int(self.unit.shape[0])

    @property
    def of_node(self) -> IntArray:
        """The direction of each node, (nodes,); -1 for a row of zeros."""
        direction = np.full(self.num_nodes, -1, np.int64)
        direction[self.members] = np.repeat(np.arange(len(self)), np.diff(self.start))
        return direction


def directions(matrix: MatrixLike) -> Directions:
    """Scale the rows of a matrix, (nodes, columns), to length 1 and gather those that are equal then.

    >>> found = directions([[1, 0], [0, 0], [2, 0], [3, 3]])
    >>> found.unit.round(2).tolist()
    [[1.0, 0.0], [0.7099999785423279, 0.7099999785423279]]
    >>> found.of_node.tolist()
    [0, -1, 0, 1]
    """
    rows = checked_matrix(matrix)
    length = _lengths(rows)
    nodes = np.flatnonzero(length)
    unit = _scaled(rows, nodes, length)
    order, begins = _equal_together(unit)
    leaders = order[begins]  # of equal rows the first: a stable sort keeps their order
    number = np.empty(len(leaders), np.int64)
    number[np.argsort(leaders)] = np.arange(len(leaders))
    direction = np.empty(len(nodes), np.int64)
    direction[order] = number[np.cumsum(begins) - 1]
    if len(leaders) < len(nodes):
        unit = unit[np.sort(leaders)]
    members = nodes[np.argsort(direction, kind="stable")].astype(np.int32)
    start = np.concatenate([[0], np.cumsum(np.bincount(direction, minlength=len(leaders)))])
    return Directions(unit, members, start, num_nodes=rows.shape[0])


def checked_matrix(given: MatrixLike) -> Features:
    """A matrix of finite numbers as float32, dense or canonical CSR as it was given."""
    values: NDArray[Any]
    rows: Features
    with np.errstate(over="ignore"):  # too large for float32 is infinity, and refused below
        try:
            if sp.issparse(given):
                rows = frozen_csr(given)
                values = rows.data
            else:
                rows = values = np.ascontiguousarray(given, dtype=np.float32)
        except (TypeError, ValueError) as error:
            raise ParameterError(f"a matrix to rank must hold numbers; got {error}") from None
    if np.ndim(given) != 2 or rows.shape[1] == 0:
        raise ParameterError(
            f"a matrix to rank must have a row per node and at least one column; got shape {np.shape(given)}"
        )
    # The least and the largest value tell of NaN and infinity without a matrix of booleans.
    if values.size and not (np.isfinite(values.min()) and np.isfinite(values.max())):
        raise ParameterError(
            f"a matrix to rank must hold finite float32 numbers; got {_first_bad(rows)}: mend the row or leave it out"
        )
    return rows


def _first_bad(rows: Features) -> str:
    values = rows.data if isinstance(rows, sp.csr_array) else rows.ravel()
    at = int(np.flatnonzero(~np.isfinite(values))[0])
    row = np.searchsorted(rows.indptr, at, side="right") - 1 if isinstance(rows, sp.csr_array) else at // rows.shape[1]
    return f"{values[at]} in row {row}"


def _lengths(rows: Features) -> NDArray[np.float64]:
    """The length of each row; in float64, where no square over- or underflows."""
    if isinstance(rows, sp.csr_array):
        squares = sp.csr_array((rows.data.astype(np.float64) ** 2, rows.indices, rows.indptr), shape=rows.shape)
        total = np.asarray(squares.sum(axis=1), dtype=np.float64)
    else:
        total = np.concatenate([np.square(part, dtype=np.float64).sum(axis=1) for part in _parts(rows)])
    length: NDArray[np.float64] = np.sqrt(total)
    return length


def _scaled(rows: Features, nodes: IntArray, length: NDArray[np.float64]) -> Features:
    """The rows that are not zero, of length 1; dividing in float64 makes multiples of one row equal."""
    if isinstance(rows, sp.csr_array):
        chosen_rows = rows if len(nodes) == rows.shape[0] else rows[nodes]
        data = chosen_rows.data / np.repeat(length[nodes], np.diff(chosen_rows.indptr))
        return sp.csr_array((data.astype(np.float32), chosen_rows.indices, chosen_rows.indptr), shape=chosen_rows.shape)
    unit = np.empty((len(nodes), rows.shape[1]), np.float32)
    for chosen, part in zip(_parts(nodes), _parts(unit), strict=True):
        np.divide(rows[chosen], length[chosen, None], out=part, casting="same_kind")
        part += np.float32(0)  # or -0 and 0 would be different bits
    return unit


def _parts(array: NDArray[Any]) -> list[NDArray[Any]]:
    return [array[first : first + ROWS_AT_ONCE] for first in range(0, len(array), ROWS_AT_ONCE)] or [array]


def _equal_together(unit: Features) -> tuple[IntArray, NDArray[np.bool_]]:
    """An order of the rows in which equal ones follow one another, and where each run of equal rows begins."""
    hashes = _hashes(unit)
    order = np.argsort(hashes, kind="stable")
    begins = np.ones(len(order), bool)
    begins[1:] = hashes[order[1:]] != hashes[order[:-1]]
    after = np.flatnonzero(~begins)
    # Rows of one hash are compared, so that a chance meeting of hashes cannot make two rows one.
    for part in _parts(after):
        begins[part] = ~_same_rows(unit, order[part], order[part - 1])
    return order, begins


def _hashes(unit: Features) -> NDArray[np.uint64]:
    from graphprox.proximity import kernels
    from graphprox.proximity.compiled import in_parallel

    hashes = np.empty(unit.shape[0], np.uint64)
    if isinstance(unit, sp.csr_array):
        parts = unit.data.view(np.uint32), unit.indices.astype(np.int32, copy=False), unit.indptr.astype(np.int64)
        in_parallel(partial(kernels.hash_sparse_rows, *parts, hashes), len(hashes))
    else:
        in_parallel(partial(kernels.hash_dense_rows, unit.view(np.uint32), hashes), len(hashes))
    return hashes


def _same_rows(unit: Features, these: IntArray, those: IntArray) -> NDArray[np.bool_]:
    if isinstance(unit, sp.csr_array):
        same = np.asarray(abs(unit[these] - unit[those]).sum(axis=1)) == 0
    else:
        same = (unit[these] == unit[those]).all(axis=1)
    return np.asarray(same, dtype=np.bool_)
