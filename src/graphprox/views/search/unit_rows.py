"""Rows of length 1: stored if they are small, and otherwise computed from the matrix when they are read.

A matrix of many rows may be a memory map that is larger than the memory, so that only blocks of it are ever converted.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphprox._utils.arrays import Features, FloatArray, IntArray

ReadRows = Callable[[IntArray], FloatArray]  # row numbers -> dense rows of length 1

MAX_STORED_BYTES = 2**28  # of the rows of a dense matrix
BLOCK_ROWS = 16_384  # read and converted at a time


class DenseRows:
    """The rows of length 1 of a dense matrix.

    Parameters
    ----------
    matrix : ndarray of shape (num_nodes, num_columns)
        Of any numeric type; it may be a memory map.
    nodes : ndarray of shape (n_rows,)
        Row of the matrix that each row is taken from.
    norms : ndarray of shape (n_rows,)
        Lengths of these rows.
    """

    def __init__(self, matrix: NDArray[Any], nodes: IntArray, norms: NDArray[np.float64]) -> None:
        self.matrix, self.nodes, self.norms = matrix, nodes, norms
        self.shape = (len(nodes), int(matrix.shape[1]))
        if self._is_small():
            self.unit  # noqa: B018  (computed once, as it is read several times)

    def _is_small(self) -> bool:
        return 4 * self.shape[0] * self.shape[1] <= MAX_STORED_BYTES

    @property
    def is_stored(self) -> bool:
        """Whether all rows are in memory."""
        return "unit" in self.__dict__

    @cached_property
    def unit(self) -> FloatArray:
        """All rows, which are kept in memory from then on."""
        unit = np.empty(self.shape, np.float32)
        for first in range(0, len(unit), BLOCK_ROWS):
            block = slice(first, first + BLOCK_ROWS)
            unit[block] = self._normalize(block)
        return unit

    def read(self, chosen: IntArray) -> FloatArray:
        """Return some rows."""
        return self.unit[chosen] if self.is_stored else self._normalize(chosen)

    def _normalize(self, chosen: IntArray | slice) -> FloatArray:
        """Divide rows by their lengths; the division in float64 makes multiples of one row equal."""
        rows = self.matrix[self.nodes[chosen]].astype(np.float32, copy=False)
        unit = np.empty(rows.shape, np.float32)
        np.divide(rows, self.norms[chosen, None], out=unit, casting="same_kind")
        unit += np.float32(0)  # -0 becomes 0: equal rows must have equal bits
        return unit

    def choose(self, chosen: IntArray) -> DenseRows:
        """Return only some rows."""
        return DenseRows(self.matrix, self.nodes[chosen], self.norms[chosen])

    def count_nonzero(self) -> IntArray:
        """Return the number of nonzero entries of each column."""
        counts = np.zeros(self.shape[1], np.int64)
        for block in iterate_blocks(self.shape[0]):
            counts += np.count_nonzero(self.read(block), axis=0)
        return counts


class SparseRows:
    """The rows of length 1 of a sparse matrix.

    Parameters
    ----------
    unit : csr_array of shape (n_rows, num_columns)
    """

    is_stored = True

    def __init__(self, unit: sp.csr_array) -> None:
        self.unit = unit
        self.shape = (int(unit.shape[0]), int(unit.shape[1]))

    def read(self, chosen: IntArray) -> FloatArray:
        """Return some rows, as a dense matrix."""
        dense: FloatArray = self.unit[chosen].toarray()
        return dense

    def choose(self, chosen: IntArray) -> SparseRows:
        """Return only some rows."""
        return SparseRows(self.unit[chosen])

    def count_nonzero(self) -> IntArray:
        """Return the number of nonzero entries of each column."""
        return np.asarray(self.unit.count_nonzero(axis=0), dtype=np.int64)


UnitRows = DenseRows | SparseRows


def make_unit_rows(matrix: Features | NDArray[Any], nodes: IntArray, norms: NDArray[np.float64]) -> UnitRows:
    """Return some rows of a matrix, which are nonzero, with length 1.

    Parameters
    ----------
    matrix : ndarray or csr_array of shape (num_nodes, num_columns)
    nodes : ndarray of shape (n_rows,)
        Rows of the matrix.
    norms : ndarray of shape (num_nodes,)
        Lengths of all rows.

    Returns
    -------
    DenseRows or SparseRows

    Examples
    --------
    >>> rows = make_unit_rows(np.array([[3, 0], [0, 0], [0, 2]]), np.array([0, 2]), np.array([3.0, 0, 2]))
    >>> rows.read(np.array([1])).tolist()
    [[0.0, 1.0]]
    """
    if not isinstance(matrix, sp.csr_array):
        return DenseRows(matrix, nodes, norms[nodes])
    nonzero = matrix if len(nodes) == matrix.shape[0] else matrix[nodes]
    data = nonzero.data / np.repeat(norms[nodes], np.diff(nonzero.indptr))
    return SparseRows(sp.csr_array((data.astype(np.float32), nonzero.indices, nonzero.indptr), shape=nonzero.shape))


def iterate_blocks(size: int) -> list[IntArray]:
    """Return consecutive blocks of numbers below ``size``."""
    return [np.arange(first, min(first + BLOCK_ROWS, size)) for first in range(0, size, BLOCK_ROWS)]
