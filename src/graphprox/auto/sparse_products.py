"""Products with the sparse matrices of a graph, on all threads and for some columns at a time.

scipy multiplies on one thread, and copies what has another precision than the result.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphprox._utils.arrays import FloatArray
from graphprox._utils.numba_helpers import get_num_threads, njit, njit_fast, run_in_parallel

Scale = NDArray[Any]


def sum_over_neighbors(neighbors: sp.csr_array, scale: FloatArray, rows: NDArray[Any]) -> NDArray[Any]:
    """Return the sum of the rows of the neighbors of each node, whatever the weights, times a factor of the node.

    Parameters
    ----------
    neighbors : csr_array of shape (num_nodes, num_nodes)
    scale : ndarray of shape (num_nodes,)
    rows : ndarray of shape (num_nodes, channels)

    Returns
    -------
    ndarray of shape (num_nodes, channels)

    Examples
    --------
    >>> path = sp.csr_array(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]], np.float32))
    >>> sum_over_neighbors(path, np.ones(3, np.float32), np.eye(3, dtype=np.float32))[1].tolist()
    [1.0, 0.0, 1.0]
    """
    out = np.empty_like(rows)
    run_in_parallel(partial(_sum_rows, neighbors.indptr, neighbors.indices, scale, rows, out), len(rows))
    return out


def average_rows(neighbors: sp.csr_array, scale: Scale, rows: FloatArray) -> FloatArray:
    """Return the weighted sum over the neighbors of each node, computed in double precision.

    Parameters
    ----------
    neighbors : csr_array of shape (num_nodes, num_nodes)
        Edge weights.
    scale : ndarray of shape (num_nodes,), float64
        Factor of each row: one divided by the sum of its weights for a mean.
    rows : ndarray of shape (num_nodes, channels)

    Returns
    -------
    ndarray of shape (num_nodes, channels)
    """
    out = np.empty(rows.shape, np.float32)
    parts = neighbors.indptr, neighbors.indices, neighbors.data
    run_in_parallel(partial(_average_rows, *parts, scale, rows, out), len(out))
    return out


def multiply_sparse(matrix: sp.csr_array, dense: NDArray[Any]) -> NDArray[Any]:
    """Return the product of a sparse and a dense matrix.

    Parameters
    ----------
    matrix : csr_array of shape (num_rows, num_columns)
    dense : ndarray of shape (num_columns, channels)

    Returns
    -------
    ndarray of shape (num_rows, channels)
    """
    out = np.zeros((matrix.shape[0], dense.shape[1]), dense.dtype)
    run_in_parallel(partial(_multiply, matrix.indptr, matrix.indices, matrix.data, dense, out), len(out))
    return out


def add_transposed_product(matrix: sp.csr_array, dense: NDArray[Any], out: NDArray[np.float64]) -> None:
    """Add the product of the transpose of a sparse matrix and a dense one.

    Parameters
    ----------
    matrix : csr_array of shape (num_rows, num_columns)
    dense : ndarray of shape (num_rows, channels)
    out : ndarray of shape (num_columns, channels)
        Changed in place.
    """
    # Threads share the channels: no two of them add to the same number.
    width = max(-(-dense.shape[1] // (2 * get_num_threads())), 16)
    add = partial(_add_transposed, matrix.indptr, matrix.indices, matrix.data, dense, out, width)
    run_in_parallel(add, -(-dense.shape[1] // width))


@njit_fast
def _sum_rows(starts: Any, columns: Any, scale: Any, rows: Any, out: Any, begin: int, end: int) -> None:
    for row in range(begin, end):
        for channel in range(rows.shape[1]):
            out[row, channel] = 0
        for entry in range(starts[row], starts[row + 1]):
            neighbor = columns[entry]
            for channel in range(rows.shape[1]):
                out[row, channel] += rows[neighbor, channel]
        for channel in range(rows.shape[1]):
            out[row, channel] *= scale[row]


# Not njit_fast: fused multiplications would round differently on different processors.
@njit
def _average_rows(
    starts: Any, columns: Any, weights: Any, scale: Any, rows: Any, out: Any, begin: int, end: int
) -> None:
    total = np.empty(rows.shape[1], np.float64)
    for row in range(begin, end):
        total[:] = 0
        for entry in range(starts[row + 1] - 1, starts[row] - 1, -1):  # the order of scipy's product with a diagonal
            weight, neighbor = scale[row] * np.float64(weights[entry]), columns[entry]
            for channel in range(rows.shape[1]):
                total[channel] += weight * np.float64(rows[neighbor, channel])
        for channel in range(rows.shape[1]):
            out[row, channel] = total[channel]


@njit_fast
def _multiply(starts: Any, columns: Any, values: Any, dense: Any, out: Any, begin: int, end: int) -> None:
    for row in range(begin, end):
        for entry in range(starts[row], starts[row + 1]):
            value, column = values[entry], columns[entry]
            for channel in range(dense.shape[1]):
                out[row, channel] += value * dense[column, channel]


@njit_fast
def _add_transposed(
    starts: Any, columns: Any, values: Any, dense: Any, out: Any, width: int, begin: int, end: int
) -> None:
    first, last = begin * width, min(end * width, dense.shape[1])
    for row in range(len(starts) - 1):
        for entry in range(starts[row], starts[row + 1]):
            value, column = values[entry], columns[entry]
            for channel in range(first, last):
                out[column, channel] += value * dense[row, channel]
