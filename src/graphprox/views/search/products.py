"""Inner products of small groups of rows, from rows stored as integers.

Written here because a matrix product of BLAS rounds differently on another number of threads, and is slower for
groups of a hundred rows. Sixteen products are accumulated at a time, so that every number that is read is used four
times.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphprox._utils.numba_helpers import Float32Array, Int32Array, njit, njit_fast_finite, run_in_parallel
from graphprox.views.search.unit_rows import ReadRows, iterate_blocks

TILE = 4  # rows on each side of a tile of products
LANES = 16  # columns are padded to a multiple of this, so that no loop ends in single numbers
MAX_PRECISE_BYTES = 2**32  # of 16-bit rows; beyond, rows are stored in 8 bits

Codes = NDArray[Any]  # int16 or int8


@dataclass(frozen=True)
class CompactRows:
    """Rows as integers, with a factor for each row.

    Parameters
    ----------
    codes : ndarray of shape (n_rows, num_columns)
        16-bit integers, which change a cosine by about 1e-5, or 8-bit ones, which change it by about 1e-3; padded with
        columns of zeros.
    scale : ndarray of shape (n_rows,)
        Row i is ``scale[i] * codes[i]``.
    """

    codes: Codes
    scale: Float32Array

    def __len__(self) -> int:
        return len(self.codes)


def compact_rows(read_rows: ReadRows, size: int) -> CompactRows:
    """Read all rows, a block at a time, and store them as integers.

    Parameters
    ----------
    read_rows : callable
        From row numbers to dense rows of length 1.
    size : int
        Number of rows.

    Returns
    -------
    CompactRows
    """
    padded = -(-read_rows(np.arange(1)).shape[1] // LANES) * LANES
    dtype = np.int16 if 2 * size * padded <= MAX_PRECISE_BYTES else np.int8
    rows = CompactRows(np.zeros((size, padded), dtype), np.empty(size, np.float32))
    largest = np.float32(np.iinfo(dtype).max)
    for block in iterate_blocks(size):
        codes, scale = rows.codes[block[0] : block[-1] + 1], rows.scale[block[0] : block[-1] + 1]
        run_in_parallel(partial(_encode, read_rows(block), largest, codes, scale), len(block))
    return rows


@njit
def _encode(block: Float32Array, largest: Any, codes: Codes, scale: Float32Array, begin: int, end: int) -> None:
    for row in range(begin, end):
        highest = np.float32(0)
        for value in block[row]:
            highest = max(highest, abs(value))
        factor = largest / highest
        for column in range(block.shape[1]):
            codes[row, column] = np.int32(np.rint(block[row, column] * factor))
        scale[row] = highest / largest


def pad_matrix(rows: Float32Array) -> Float32Array:
    """Return rows with columns and rows of zeros, so that they can be multiplied."""
    return np.pad(rows, ((0, -len(rows) % TILE), (0, -rows.shape[1] % LANES)))


def reorder_rows(rows: CompactRows, order: Int32Array) -> None:
    """Reorder the rows in place, so that row i is what row ``order[i]`` was."""
    _permute(rows.codes, rows.scale, order, np.zeros(len(order), np.bool_))


@njit
def _permute(codes: Codes, scale: Float32Array, order: Int32Array, done: NDArray[np.bool_]) -> None:
    kept = np.empty_like(codes[0])
    for first in range(len(order)):
        if done[first]:
            continue
        kept[:] = codes[first]
        kept_scale = scale[first]
        place = first
        while order[place] != first:
            codes[place] = codes[order[place]]
            scale[place] = scale[order[place]]
            done[place] = True
            place = order[place]
        codes[place] = kept
        scale[place] = kept_scale
        done[place] = True


@njit
def pad_rows(size: int) -> int:
    """Return the number of rows that `decode_rows` needs to write ``size`` rows."""
    return (size + TILE - 1) // TILE * TILE


@njit
def decode_rows(codes: Codes, scale: Float32Array, rows: Any, decoded: Float32Array) -> None:
    """Write some rows as float32, and zeros after them up to a multiple of TILE."""
    for each in range(len(rows)):
        row = rows[each]
        factor = scale[row]
        for column in range(codes.shape[1]):
            decoded[each, column] = np.float32(codes[row, column]) * factor
    decoded[len(rows) : pad_rows(len(rows))] = 0


@njit
def multiply_rows(left: Float32Array, num_left: int, right: Float32Array, num_right: int, out: Float32Array) -> None:
    """Write the inner products of the first rows of two groups, ``out[i, j]``; both are padded as by `decode_rows`."""
    for i in range(0, num_left, TILE):
        for j in range(0, num_right, TILE):
            _multiply_tile(left, right, i, j, out)


@njit
def multiply_with_each_other(rows: Float32Array, size: int, out: Float32Array) -> None:
    """Write the inner products of all pairs of some rows; each pair is computed once."""
    for i in range(0, size, TILE):
        for j in range(0, i + TILE, TILE):
            _multiply_tile(rows, rows, i, j, out)
            if j < i:
                for a in range(TILE):
                    for b in range(TILE):
                        out[j + b, i + a] = out[i + a, j + b]


@njit_fast_finite
def _multiply_tile(x: Float32Array, y: Float32Array, i: int, j: int, out: Float32Array) -> None:
    """Write the products of four rows with four: sums in registers, of vectors of columns."""
    s00 = s01 = s02 = s03 = s10 = s11 = s12 = s13 = np.float32(0)
    s20 = s21 = s22 = s23 = s30 = s31 = s32 = s33 = np.float32(0)
    for p in range(x.shape[1]):
        x0, x1, x2, x3 = x[i, p], x[i + 1, p], x[i + 2, p], x[i + 3, p]
        y0, y1, y2, y3 = y[j, p], y[j + 1, p], y[j + 2, p], y[j + 3, p]
        s00, s01, s02, s03 = s00 + x0 * y0, s01 + x0 * y1, s02 + x0 * y2, s03 + x0 * y3
        s10, s11, s12, s13 = s10 + x1 * y0, s11 + x1 * y1, s12 + x1 * y2, s13 + x1 * y3
        s20, s21, s22, s23 = s20 + x2 * y0, s21 + x2 * y1, s22 + x2 * y2, s23 + x2 * y3
        s30, s31, s32, s33 = s30 + x3 * y0, s31 + x3 * y1, s32 + x3 * y2, s33 + x3 * y3
    out[i, j], out[i, j + 1], out[i, j + 2], out[i, j + 3] = s00, s01, s02, s03
    out[i + 1, j], out[i + 1, j + 1], out[i + 1, j + 2], out[i + 1, j + 3] = s10, s11, s12, s13
    out[i + 2, j], out[i + 2, j + 1], out[i + 2, j + 2], out[i + 2, j + 3] = s20, s21, s22, s23
    out[i + 3, j], out[i + 3, j + 1], out[i + 3, j + 2], out[i + 3, j + 3] = s30, s31, s32, s33


@njit_fast_finite
def multiply_with_code(row: Float32Array, code: Codes) -> Any:
    """Return the inner product of a row with a row of integers, without its factor."""
    total = np.float32(0)
    for column in range(len(row)):
        total += row[column] * np.float32(code[column])
    return total
