"""The exact search: every row against every other, in blocks of bounded memory.

A column with few nonzero entries is cheapest as an inverted list, one with many as part of a matrix product. The
columns are divided accordingly: bags of words are nearly all lists, topology vectors are all product.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphprox._utils.arrays import FloatArray, IntArray
from graphprox.views.search.directions import Directions
from graphprox.views.search.unit_rows import SparseRows, UnitRows

TIE_TOLERANCE = 1e-6  # similarities that differ by at most this are equal
ROUNDING_ERROR = 2e-6  # of a float32 inner product, at most
BLOCK_BYTES = 2**27  # of scores in memory at a time: rows of a block × all rows × 4
MIN_BLOCK_ROWS = 64  # however many rows there are: smaller matrix products are bound by memory
DENSE_COLUMN = 0.15  # share of nonzero entries from which on a matrix product is faster than an inverted list
LIST_COST = DENSE_COLUMN**-2  # of a multiplication by lists, in multiplications of a matrix product
SCORE_COST = 20  # of reading a score, in the same unit


@dataclass(frozen=True)
class Candidates:
    """Candidate neighbors of some directions: a superset of their nearest ones and of all that tie with the last.

    Parameters
    ----------
    rows : ndarray of shape (n_rows,)
        Directions that are searched for.
    start : ndarray of shape (n_rows + 1,)
        The candidates of ``rows[i]`` are ``columns[start[i]:start[i + 1]]``, ascending and without ``rows[i]``.
    columns : ndarray of shape (n_candidates,)
        Candidate directions.
    similarity : ndarray of shape (n_candidates,)
        Their cosines, in float64.
    """

    rows: IntArray
    start: IntArray
    columns: NDArray[np.int32]
    similarity: NDArray[np.float64]


def find_exact_candidates(directions: Directions, rows: IntArray, k: int) -> Iterator[Candidates]:
    """Yield the k nearest directions of some, and all that tie with the k-th, a block of rows at a time."""
    from graphprox._utils.numba_helpers import run_in_parallel
    from graphprox.views.search import kernels

    compute_scores = _BlockScores(directions.rows)
    size = max(MIN_BLOCK_ROWS, BLOCK_BYTES // (4 * max(1, len(directions))))
    margin = TIE_TOLERANCE + 2 * ROUNDING_ERROR
    for first in range(0, len(rows), size):
        block = rows[first : first + size]
        scores = compute_scores(block)
        threshold, counts = np.empty(len(block), np.float32), np.empty(len(block), np.int64)
        find = partial(kernels.find_thresholds, scores, block, min(k, len(directions)), margin, threshold, counts)
        run_in_parallel(find, len(block))
        start = cumulate_counts(counts)
        columns = np.empty(start[-1], np.int32)
        run_in_parallel(partial(kernels.write_candidates, scores, block, threshold, start, columns), len(block))
        yield Candidates(block, start, columns, compute_similarities(directions, block, start, columns))


def compute_similarities(
    directions: Directions, rows: IntArray, start: IntArray, columns: NDArray[np.int32]
) -> NDArray[np.float64]:
    """Return the cosines of candidates, arranged as in `Candidates`.

    Each is computed by itself and in float64: the last digits of a matrix product depend on the number of threads.
    """
    from graphprox._utils.numba_helpers import run_in_parallel
    from graphprox.views.search import kernels

    similarity = np.empty(len(columns), np.float64)
    unit_rows = directions.rows
    if isinstance(unit_rows, SparseRows):
        values: tuple[Any, ...] = (*_csr_arrays(unit_rows.unit), rows, start, columns, similarity)
        run_in_parallel(partial(kernels.compare_sparse, *values), len(rows))
        return similarity
    if unit_rows.is_stored:
        unit = unit_rows.unit
    else:
        needed, places = np.unique(np.concatenate([rows, columns]), return_inverse=True)
        unit, rows, columns = unit_rows.read(needed), places[: len(rows)], places[len(rows) :].astype(np.int32)
    run_in_parallel(partial(kernels.compare_dense, unit, rows, start, columns, similarity), len(rows))
    return similarity


def cumulate_counts(counts: IntArray) -> IntArray:
    """Return where each of consecutive runs of these lengths starts, and where the last one ends."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])


def estimate_exact_cost(rows: UnitRows) -> float:
    """Return the cost of the exact search, in multiplications of a matrix product."""
    nonzero, is_dense = _classify_columns(rows)
    by_product = float(rows.shape[0]) ** 2 * (SCORE_COST + is_dense.sum())
    return float(by_product + LIST_COST * (nonzero[~is_dense] ** 2).sum())


def _csr_arrays(matrix: Any) -> tuple[Any, ...]:
    """Return the arrays of a CSR (or CSC) matrix for compiled loops: indptr, indices, data."""
    return matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32, copy=False), matrix.data


def _classify_columns(rows: UnitRows) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the number of nonzero entries of each column, and whether a matrix product is faster for it."""
    nonzero = rows.count_nonzero().astype(np.float64)
    return nonzero, nonzero >= DENSE_COLUMN * rows.shape[0]


class _BlockScores:
    """Inner products of a block of rows with all rows, (block, all) float32, in memory that is reused."""

    def __init__(self, rows: UnitRows) -> None:
        _, is_dense = _classify_columns(rows)
        unit = rows.unit
        columns = unit if is_dense.all() else unit[:, is_dense]
        self.dense: FloatArray = columns.toarray() if isinstance(columns, sp.csr_array) else columns
        self.lists: tuple[Any, ...] = ()
        if not is_dense.all():
            sparse = sp.csr_array(unit[:, ~is_dense])
            self.lists = (*_csr_arrays(sparse), *_csr_arrays(sparse.tocsc()))
        self.memory = np.empty((0, unit.shape[0]), np.float32)

    def __call__(self, rows: IntArray) -> FloatArray:
        from graphprox._utils.numba_helpers import run_in_parallel
        from graphprox.views.search import kernels

        if len(self.memory) < len(rows):
            self.memory = np.empty((len(rows), self.memory.shape[1]), np.float32)
        scores = self.memory[: len(rows)]
        np.matmul(self.dense[rows], self.dense.T, out=scores)
        if self.lists:
            run_in_parallel(partial(kernels.add_list_scores, scores, rows, *self.lists), len(rows))
        return scores
