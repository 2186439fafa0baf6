"""Random partitions: rows divided into leaves of similar rows.

Each row joins the most similar one of some randomly chosen rows, the pivots; groups that are too large are divided
again, and small ones are merged with groups of similar pivots. In contrast to a binary tree, a level is a product of
matrices.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphprox._utils.arrays import IntArray
from graphprox._utils.numba_helpers import Float32Array, Int32Array, njit, run_in_parallel
from graphprox.views.search.products import (
    Codes,
    CompactRows,
    decode_rows,
    multiply_rows,
    multiply_with_each_other,
    pad_rows,
)

MIN_PIVOTS, MAX_PIVOTS = 4, 64
PIVOTS_PER_LEAF = 2  # of a group, so that most of the groups are merged and few must be divided again
MAX_IMBALANCE = 8  # a group with more than seven in eight of the rows is divided in the middle
PIECE = 1_024  # rows assigned by one call
GROUP = 64  # rows multiplied with the pivots at a time


def divide_rows(rows: CompactRows, max_size: int, seed: int) -> tuple[Int32Array, IntArray]:
    """Divide rows at random into leaves of similar rows.

    Parameters
    ----------
    rows : CompactRows
    max_size : int
        Largest number of rows of a leaf.
    seed : int
        Random seed.

    Returns
    -------
    order : ndarray of shape (n_rows,)
        Rows by leaf.
    start : ndarray of shape (n_leaves + 1,)
        Where each leaf starts, and the last one ends.
    """
    order = np.arange(len(rows), dtype=np.int32)
    start = np.array([0, len(rows)])
    label = np.empty(len(rows), np.uint8)
    level = 0
    while (large := np.flatnonzero(np.diff(start) > max_size)).size:
        first, last = start[large], start[large + 1]
        pivots, pivot_start = _choose_pivots(order, first, last, max_size, np.random.default_rng([seed, level]))
        given: tuple[Any, ...] = (rows.codes, rows.scale, order)
        pieces = (*given, *_cut_pieces(first, last), pivots, pivot_start, label)
        run_in_parallel(partial(_assign_rows, *pieces), int(((last - first + PIECE - 1) // PIECE).sum()))
        cuts = np.full(len(pivots) + len(large), -1, np.int64)
        given += (first, last, pivots, pivot_start, label, max_size, cuts)
        run_in_parallel(partial(_move_rows, *given), len(large))
        start = np.sort(np.concatenate([start, cuts[cuts >= 0]]))
        level += 1
    return order, start


def _choose_pivots(
    order: Int32Array, first: IntArray, last: IntArray, max_size: int, rng: np.random.Generator
) -> tuple[Int32Array, IntArray]:
    """Return random rows of each group, more of a larger one, and where those of each group start."""
    size = last - first
    count = np.clip(PIVOTS_PER_LEAF * size // max_size + 1, MIN_PIVOTS, np.minimum(MAX_PIVOTS, size))
    start = np.concatenate([[0], np.cumsum(count)])
    group = np.repeat(np.arange(len(size)), count)
    place = (np.arange(start[-1]) - start[group] + rng.random(start[-1])) / count[group]
    return order[first[group] + (place * size[group]).astype(np.int64)], start


def _cut_pieces(first: IntArray, last: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return the group of each piece of at most PIECE rows, and where it begins and ends."""
    count = -(-(last - first) // PIECE)
    group = np.repeat(np.arange(len(first)), count)
    number = np.arange(len(group)) - np.repeat(np.cumsum(count) - count, count)
    begin = first[group] + number * PIECE
    return group, begin, np.minimum(begin + PIECE, last[group])


@njit
def _assign_rows(
    codes: Codes,
    scale: Float32Array,
    order: Int32Array,
    group: IntArray,
    piece_begin: IntArray,
    piece_end: IntArray,
    pivots: Int32Array,
    pivot_start: IntArray,
    label: NDArray[np.uint8],
    begin: int,
    end: int,
) -> None:
    """Write the number of the most similar pivot of each row of some pieces."""
    here = np.empty((GROUP, codes.shape[1]), np.float32)
    there = np.empty((MAX_PIVOTS, codes.shape[1]), np.float32)
    products = np.empty((GROUP, MAX_PIVOTS), np.float32)
    for piece in range(begin, end):
        chosen = pivots[pivot_start[group[piece]] : pivot_start[group[piece] + 1]]
        decode_rows(codes, scale, chosen, there)
        for first in range(piece_begin[piece], piece_end[piece], GROUP):
            members = order[first : min(first + GROUP, piece_end[piece])]
            decode_rows(codes, scale, members, here)
            multiply_rows(here, len(members), there, len(chosen), products)
            for each in range(len(members)):
                best = 0
                for pivot in range(1, len(chosen)):
                    if products[each, pivot] > products[each, best]:
                        best = pivot
                label[first + each] = best


@njit
def _move_rows(
    codes: Codes,
    scale: Float32Array,
    order: Int32Array,
    first: IntArray,
    last: IntArray,
    pivots: Int32Array,
    pivot_start: IntArray,
    label: NDArray[np.uint8],
    max_size: int,
    cuts: IntArray,
    begin: int,
    end: int,
) -> None:
    """Reorder the rows of some groups by pivot, and write where the groups are cut; other cuts stay -1."""
    for group in range(begin, end):
        chosen = pivots[pivot_start[group] : pivot_start[group + 1]]
        place = _chain_pivots(codes, scale, chosen)
        labels = label[first[group] : last[group]]
        rows = order[first[group] : last[group]]
        until = np.zeros(len(chosen) + 1, np.int64)
        for each in labels:
            until[place[each] + 1] += 1
        until = np.cumsum(until)
        moved, at = np.empty_like(rows), until[:-1].copy()
        for each in range(len(rows)):
            pivot = place[labels[each]]
            moved[at[pivot]] = rows[each]
            at[pivot] += 1
        rows[:] = moved
        own_cuts = cuts[pivot_start[group] + group : pivot_start[group + 1] + group + 1]
        _write_cuts(until, first[group], max_size, own_cuts)


@njit
def _chain_pivots(codes: Codes, scale: Float32Array, pivots: Int32Array) -> IntArray:
    """Return the place of each pivot in an order in which the next is the most similar of those left."""
    size = pad_rows(len(pivots))
    decoded = np.empty((size, codes.shape[1]), np.float32)
    products = np.empty((size, size), np.float32)
    decode_rows(codes, scale, pivots, decoded)
    multiply_with_each_other(decoded, len(pivots), products)
    place = np.full(len(pivots), -1, np.int64)
    current = 0
    for each in range(len(pivots)):
        place[current] = each
        following = -1
        for other in range(len(pivots)):
            if place[other] < 0 and (following < 0 or products[current, other] > products[current, following]):
                following = other
        current = following
    return place


@njit
def _write_cuts(until: IntArray, first: int, max_size: int, cuts: IntArray) -> None:
    """Merge consecutive groups up to ``max_size`` rows, and cut one in two that has nearly all of the rows."""
    total = until[-1]
    begin, count = 0, 0
    for each in range(1, len(until)):
        ends = until[each] == total
        if ends or (until[each + 1] - begin > max_size and until[each] > begin):
            size = until[each] - begin
            if (total - size) * MAX_IMBALANCE < total:  # rows that are equally similar to all pivots
                cuts[count] = first + begin + size // 2
                count += 1
            if not ends:
                cuts[count] = first + until[each]
                count += 1
            begin = until[each]
        if ends:
            break
