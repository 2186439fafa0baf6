"""The exact search: every row against every other, in blocks, so that memory stays bounded.

A column that few rows fill costs least by its list of rows, one that many fill by a matrix product. So a matrix is
divided by columns: bags of words are nearly all lists, topology vectors are all product, PubMed's are some of both.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphprox.arrays import Features, FloatArray, IntArray
from graphprox.proximity.directions import Directions

TIE = 1e-6  # similarities that differ by no more are equal
NOISE = 2e-6  # by which a float32 inner product may be off
BLOCK_BYTES = 2**27  # scores that stand in memory at a time: rows of a block × all rows × 4
LEAST_ROWS = 64  # of a block, however many rows there are: a matrix product of fewer waits for memory
FULL_COLUMN = 0.15  # the share of rows that fill a column from which on a matrix product is quicker
LISTED_COST = FULL_COLUMN**-2  # of a multiplication by lists, in multiplications of a matrix product
SCORE_COST = 20  # of looking at a score, likewise


@dataclass(frozen=True)
class Candidates:
    """Who may be near some directions: a superset of their nearest, with all that tie with the last of these.

    The candidates of direction ``rows[i]`` are ``columns[start[i]:start[i + 1]]``, rising, itself not among them;
    ``similarity`` are their cosines in float64.
    """

    rows: IntArray
    start: IntArray
    columns: NDArray[np.int32]
    similarity: NDArray[np.float64]


def exact_candidates(found: Directions, rows: IntArray, k: int) -> Iterator[Candidates]:
    """The k nearest directions of some, and all that tie with the k-th, a block of rows at a time."""
    from graphprox.proximity import kernels
    from graphprox.proximity.compiled import in_parallel

    scores_of = _Scores(found.unit)
    size = max(LEAST_ROWS, BLOCK_BYTES // (4 * max(1, len(found))))
    for first in range(0, len(rows), size):
        block = rows[first : first + size]
        scores = scores_of(block)
        least, counts = np.empty(len(block), np.float32), np.empty(len(block), np.int64)
        find = partial(kernels.find_thresholds, scores, block, min(k, len(found)), TIE + 2 * NOISE, least, counts)
        in_parallel(find, len(block))
        start = starts(counts)
        columns = np.empty(start[-1], np.int32)
        in_parallel(partial(kernels.write_reaching, scores, block, least, start, columns), len(block))
        yield Candidates(block, start, columns, similarities(found, block, start, columns))


def similarities(found: Directions, rows: IntArray, start: IntArray, columns: NDArray[np.int32]) -> NDArray[np.float64]:
    """The cosines of candidates, as `Candidates` lists them.

    Each is computed by itself and in float64: a matrix product's last digits depend on the number of threads.
    """
    from graphprox.proximity import kernels
    from graphprox.proximity.compiled import in_parallel

    similarity = np.empty(len(columns), np.float64)
    pairs = (rows, start, columns, similarity)
    if isinstance(found.unit, sp.csr_array):
        values: tuple[Any, ...] = (*csr_parts(found.unit), *pairs)
        in_parallel(partial(kernels.compare_sparse, *values), len(rows))
    else:
        in_parallel(partial(kernels.compare_dense, found.unit, *pairs), len(rows))
    return similarity


def starts(counts: IntArray) -> IntArray:
    """Where each of some runs of these lengths starts, and where the last one ends."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])


def csr_parts(matrix: Any) -> tuple[Any, ...]:
    """What compiled loops take of a CSR (or CSC) array: where rows start, the columns, the values."""
    return matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32, copy=False), matrix.data


def exact_work(unit: Features) -> float:
    """What the exact search costs, in multiplications of a matrix product."""
    filled, full = _filled(unit)
    by_product = float(unit.shape[0]) ** 2 * (SCORE_COST + full.sum())
    return float(by_product + LISTED_COST * (filled[~full] ** 2).sum())


def _filled(unit: Features) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """In how many rows each column is not zero, and whether a matrix product is quicker for it."""
    counts = unit.count_nonzero(axis=0) if isinstance(unit, sp.csr_array) else np.count_nonzero(unit, axis=0)
    filled = np.asarray(counts, dtype=np.float64)
    return filled, filled >= FULL_COLUMN * unit.shape[0]


class _Scores:
    """Inner products of a block of rows with all rows, (block, all) float32; its memory is used again."""

    def __init__(self, unit: Features) -> None:
        _, full = _filled(unit)
        columns = unit if full.all() else unit[:, full]
        self.product: FloatArray = columns.toarray() if isinstance(columns, sp.csr_array) else columns
        self.lists: tuple[Any, ...] = ()
        if not full.all():
            sparse = sp.csr_array(unit[:, ~full])
            self.lists = (*csr_parts(sparse), *csr_parts(sparse.tocsc()))
        self.memory = np.empty((0, unit.shape[0]), np.float32)

    def __call__(self, rows: IntArray) -> FloatArray:
        from graphprox.proximity import kernels
        from graphprox.proximity.compiled import in_parallel

        if len(self.memory) < len(rows):
            self.memory = np.empty((len(rows), self.memory.shape[1]), np.float32)
        scores = self.memory[: len(rows)]
        np.matmul(self.product[rows], self.product.T, out=scores)
        if self.lists:
            in_parallel(partial(kernels.add_posted_scores, scores, rows, *self.lists), len(rows))
        return scores
