"""NN-descent: an approximate search whose cost is nearly linear in the number of rows (Dong, Moses and Li, 2011).

Random projection trees divide the rows into leaves, and the rows of a leaf are compared with each other. Then, for some
rounds, each row is compared with the neighbors of its neighbors. A row reads the lists of the previous round and writes
only its own, so results do not depend on the number of threads.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphprox._utils.arrays import IntArray
from graphprox._utils.hashing import mix, stream
from graphprox._utils.numba_helpers import Float32Array, Int32Array, njit, njit_fast_finite, run_in_parallel

NUM_TREES = 16
MAX_LEAF_SIZE = 64
MAX_IMBALANCE = 8  # a split that leaves less than one row in eight on a side is replaced by one at the median
MAX_ROUNDS = 6
CONVERGED = 0.005  # share of changed entries below which the rounds end
NO_ROW = -1

BoolArray = NDArray[np.bool_]


def approximate_neighbors(unit: Float32Array, num_neighbors: int, seed: int) -> Int32Array:
    """Return rows that are probably the most similar to each row.

    Parameters
    ----------
    unit : ndarray of shape (n_rows, num_columns)
        Rows of length 1.
    num_neighbors : int
        Number of neighbors per row.
    seed : int
        Random seed.

    Returns
    -------
    ndarray of shape (n_rows, num_neighbors)
        Most similar first, padded with -1.
    """
    size = len(unit)
    shape = (size, min(num_neighbors, size - 1))
    seeds = np.random.SeedSequence(seed).generate_state(NUM_TREES + MAX_ROUNDS, np.uint64)
    # Renumbering the rows by the leaves of the first tree puts similar rows close together in memory.
    number, _ = _build_tree(unit, seeds[0])
    unit = unit[number]
    near = np.full(shape, NO_ROW, np.int32)
    score = np.full(shape, -2, np.float32)  # below any cosine
    is_new = np.zeros(shape, np.bool_)
    for each in range(NUM_TREES):
        order, start = _build_tree(unit, seeds[each])
        run_in_parallel(partial(_compare_leaves, unit, order, start, near, score, is_new), len(start) - 1)
    for each in range(NUM_TREES, NUM_TREES + MAX_ROUNDS):
        previous, previous_new = near.copy(), is_new.copy()
        is_new[:] = False
        reverse = _reverse_lists(previous, previous_new, seeds[each])
        changes = np.zeros(size, np.int64)
        update = partial(_compare_neighbors, unit, previous, previous_new, *reverse, near, score, is_new, changes)
        run_in_parallel(update, size)
        if changes.sum() < CONVERGED * near.size:
            break
    found = np.empty_like(near)
    found[number] = np.where(near == NO_ROW, NO_ROW, number[near])
    return found


# -- trees ----------------------------------------------------------------------------------------------------------


def _build_tree(unit: Float32Array, seed: np.uint64) -> tuple[IntArray, IntArray]:
    """Return the rows in the order of the leaves of a random tree, and where each leaf starts and the last one ends."""
    order = np.arange(len(unit))
    start = np.array([0, len(unit)])
    level = 0
    while (large := np.flatnonzero(np.diff(start) > MAX_LEAF_SIZE)).size:
        cuts = np.empty(len(large), np.int64)
        run_in_parallel(
            partial(_split_runs, unit, order, start[large], start[large + 1], seed, level, cuts), len(large)
        )
        start = np.sort(np.concatenate([start, cuts]))
        level += 1
    return order, start


@njit
def _split_runs(
    unit: Float32Array,
    order: IntArray,
    first: IntArray,
    last: IntArray,
    seed: np.uint64,
    level: int,
    cuts: IntArray,
    begin: int,
    end: int,
) -> None:
    """Split runs of rows, ``order[first:last]``, each by a plane between two of its rows, and write the cuts.

    The rows of a run are reordered in place.
    """
    for run in range(begin, end):
        rows = order[first[run] : last[run]]
        size = len(rows)
        state = stream(seed, first[run], level)
        one = rows[np.int64(mix(state) % np.uint64(size))]
        other = rows[np.int64(mix(~state) % np.uint64(size))]
        plane = unit[one] - unit[other]
        side = np.empty(size, np.float32)
        for each in range(size):
            side[each] = _dot(plane, unit[rows[each]])
        chosen = side > 0
        if _is_unbalanced(chosen):
            chosen = side > np.median(side)
        front, back = rows[chosen], rows[~chosen]
        rows[: len(front)] = front
        rows[len(front) :] = back
        # If nearly all rows are in the plane, as nearly equal rows are, they are split in the middle.
        cuts[run] = first[run] + (size // 2 if _is_unbalanced(chosen) else len(front))


@njit
def _is_unbalanced(chosen: BoolArray) -> bool:
    """Return whether a split leaves too few rows on one side."""
    above = chosen.sum()
    return bool(min(above, len(chosen) - above) * MAX_IMBALANCE < len(chosen))


@njit
def _compare_leaves(
    unit: Float32Array,
    order: IntArray,
    start: IntArray,
    near: Int32Array,
    score: Float32Array,
    is_new: BoolArray,
    begin: int,
    end: int,
) -> None:
    """Offer all rows of a leaf to each other; a row is in one leaf, so only one thread writes its list."""
    for leaf in range(begin, end):
        rows = order[start[leaf] : start[leaf + 1]]
        here = unit[rows]
        for each in range(len(rows)):
            for other in range(each):
                product = _dot(here[each], here[other])
                _offer(near[rows[each]], score[rows[each]], is_new[rows[each]], rows[other], product)
                _offer(near[rows[other]], score[rows[other]], is_new[rows[other]], rows[each], product)


# -- neighbors of neighbors -----------------------------------------------------------------------------------------


@njit
def _reverse_lists(near: Int32Array, is_new: BoolArray, seed: np.uint64) -> tuple[Int32Array, BoolArray]:
    """Return a random sample of the rows that list each row, as many as it lists itself, and whether they are new."""
    num_neighbors = near.shape[1]
    reverse = np.full(near.shape, NO_ROW, np.int32)
    reverse_new = np.zeros(near.shape, np.bool_)
    counts = np.zeros(len(near), np.int64)
    for row in range(len(near)):
        for each in range(num_neighbors):
            other = near[row, each]
            if other == NO_ROW:
                break
            place = counts[other]
            counts[other] += 1
            if place >= num_neighbors:  # reservoir sampling
                place = np.int64(stream(seed, row, each) % np.uint64(counts[other]))
            if place < num_neighbors:
                reverse[other, place] = row
                reverse_new[other, place] = is_new[row, each]
    return reverse, reverse_new


@njit
def _compare_neighbors(
    unit: Float32Array,
    previous: Int32Array,
    previous_new: BoolArray,
    reverse: Int32Array,
    reverse_new: BoolArray,
    near: Int32Array,
    score: Float32Array,
    is_new: BoolArray,
    changes: IntArray,
    begin: int,
    end: int,
) -> None:
    """Offer each row those that list it and the neighbors of its neighbors; write how many entries changed.

    A pair of rows that were both old neighbors of a third one has been compared in an earlier round and is skipped.
    """
    num_neighbors = previous.shape[1]
    visitor = np.full(len(previous), NO_ROW, np.int32)  # the last row that was compared with this one
    for row in range(begin, end):
        mine, scores, new, here = near[row], score[row], is_new[row], unit[row]
        visitor[row] = row
        for each in range(num_neighbors):
            if previous[row, each] != NO_ROW:
                visitor[previous[row, each]] = row
        for each in range(2 * num_neighbors):
            if each < num_neighbors:
                neighbor, neighbor_new = previous[row, each], previous_new[row, each]
            else:
                neighbor, neighbor_new = reverse[row, each - num_neighbors], reverse_new[row, each - num_neighbors]
            if neighbor == NO_ROW:
                continue
            if visitor[neighbor] != row:
                visitor[neighbor] = row
                changes[row] += _offer(mine, scores, new, neighbor, _dot(here, unit[neighbor]))
            for place in range(num_neighbors):
                other = previous[neighbor, place]
                if other == NO_ROW:
                    break
                if visitor[other] != row and (neighbor_new or previous_new[neighbor, place]):
                    visitor[other] = row
                    changes[row] += _offer(mine, scores, new, other, _dot(here, unit[other]))


@njit
def _offer(near: Int32Array, score: Float32Array, is_new: BoolArray, row: int, product: Any) -> int:
    """Insert a row into a sorted list if it is similar enough and not in it; return 1 if it was inserted."""
    place = len(near) - 1
    if product <= score[place]:
        return 0
    for each in near:
        if each == row:
            return 0
    while place > 0 and score[place - 1] < product:
        near[place], score[place], is_new[place] = near[place - 1], score[place - 1], is_new[place - 1]
        place -= 1
    near[place], score[place], is_new[place] = row, product, True
    return 1


@njit_fast_finite
def _dot(left: Float32Array, right: Float32Array) -> Any:
    total = np.float32(0)
    for each in range(len(left)):
        total += left[each] * right[each]
    return total
