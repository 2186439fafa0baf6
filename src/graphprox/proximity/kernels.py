"""The inner loops of the neighbour search, compiled; imported only when a search runs, as numba takes a second.

Those that take ``begin`` and ``end`` work on that part of the rows, so that `compiled.in_parallel` can share rows out
among threads. What is written for a row depends on nothing that is written for another: threads change nothing.
"""

from __future__ import annotations

from typing import Any, cast

import numba
import numpy as np
from numpy.typing import NDArray

from graphprox.arrays import IntArray
from graphprox.proximity.compiled import (
    F,
    Float32Array,
    Float64Array,
    Int32Array,
    UInt64Array,
    compiled,
)
from graphprox.proximity.hashing import GOLDEN, mix, stream


def compiled_reordered(function: F) -> F:
    """The function as machine code that may add up, or take the largest, in whichever order is quickest."""
    dispatcher: Any = numba.njit(cache=True, nogil=True, fastmath=True)(function)
    return cast(F, dispatcher)


# -- equal rows ------------------------------------------------------------------------------------------------------


@compiled
def hash_sparse_rows(
    bits: NDArray[np.uint32], columns: Int32Array, start: IntArray, hashes: UInt64Array, begin: int, end: int
) -> None:
    """Write a number per row, equal where rows are; ``bits[start[i]:start[i + 1]]`` are the values of row i."""
    for row in range(begin, end):
        state = np.uint64(0)
        for place in range(start[row], start[row + 1]):
            entry = (np.uint64(columns[place]) << np.uint64(32)) | np.uint64(bits[place])
            state = mix(state ^ entry) + GOLDEN
        hashes[row] = state


@compiled
def hash_dense_rows(bits: NDArray[np.uint32], hashes: UInt64Array, begin: int, end: int) -> None:
    """Write a number per row of a matrix, equal where rows are."""
    for row in range(begin, end):
        state = np.uint64(0)
        for value in bits[row]:
            state = mix(state ^ np.uint64(value)) + GOLDEN
        hashes[row] = state


# -- scores, a block of rows against all -----------------------------------------------------------------------------


@compiled
def add_posted_scores(
    scores: Float32Array,
    rows: IntArray,
    row_start: IntArray,
    row_columns: Int32Array,
    row_values: Float32Array,
    posted_start: IntArray,
    posted_rows: Int32Array,
    posted_values: Float32Array,
    begin: int,
    end: int,
) -> None:
    """Add the inner products of some rows of a sparse matrix with all its rows to ``scores`` (block, all).

    The matrix comes twice: by rows, and by columns, where each column posts the rows in which it occurs.
    """
    for at in range(begin, end):
        score = scores[at]
        for place in range(row_start[rows[at]], row_start[rows[at] + 1]):
            column, value = row_columns[place], row_values[place]
            for post in range(posted_start[column], posted_start[column + 1]):
                score[posted_rows[post]] += value * posted_values[post]


# -- which scores of a row count -------------------------------------------------------------------------------------

CHUNK = 64  # scores that are passed over together where the largest of them is too small


@compiled_reordered
def _largest(chunk: Float32Array) -> Any:
    largest = chunk[0]
    for place in range(CHUNK):
        largest = max(largest, chunk[place])
    return largest


@compiled
def _kth_largest(scores: Float32Array, own: int, k: int) -> Any:
    """The k-th largest score, the row's own left out; 0 where fewer are positive."""
    nearest = np.zeros(k, np.float32)  # a heap: its first is its least
    whole = len(scores) // CHUNK * CHUNK
    for first in range(0, len(scores), CHUNK):
        if first < whole and _largest(scores[first : first + CHUNK]) <= nearest[0]:
            continue
        for column in range(first, min(first + CHUNK, len(scores))):
            if scores[column] > nearest[0] and column != own:
                _replace_least(nearest, scores[column])
    return nearest[0]


@compiled
def _replace_least(heap: Float32Array, value: Any) -> None:
    place = 0
    while 2 * place + 1 < len(heap):
        child = 2 * place + 1
        if child + 1 < len(heap) and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= value:
            break
        heap[place] = heap[child]
        place = child
    heap[place] = value


@compiled
def find_thresholds(
    scores: Float32Array,
    rows: IntArray,
    k: int,
    margin: float,
    least: Float32Array,
    counts: IntArray,
    begin: int,
    end: int,
) -> None:
    """Write the least score that counts in each row of a block (block, all), and how many columns reach it.

    A score counts where it is positive and at most ``margin`` below the k-th largest.
    """
    for at in range(begin, end):
        score = scores[at]
        bound = np.float32(max(_kth_largest(score, rows[at], k) - margin, 1e-30))
        reached = 0
        for column in range(len(score)):
            reached += score[column] >= bound
        least[at] = bound
        counts[at] = reached - (score[rows[at]] >= bound)


@compiled
def write_reaching(
    scores: Float32Array,
    rows: IntArray,
    least: Float32Array,
    start: IntArray,
    columns: Int32Array,
    begin: int,
    end: int,
) -> None:
    """Write the columns that reach the least score of their row, rising; those of row i from ``start[i]`` on."""
    for at in range(begin, end):
        score = scores[at]
        place = start[at]
        whole = len(score) // CHUNK * CHUNK
        for first in range(0, len(score), CHUNK):
            if first < whole and _largest(score[first : first + CHUNK]) < least[at]:
                continue
            for column in range(first, min(first + CHUNK, len(score))):
                if score[column] >= least[at] and column != rows[at]:
                    columns[place] = column
                    place += 1


# -- similarities of chosen pairs ------------------------------------------------------------------------------------


@compiled_reordered
def _product(left: Float32Array, right: Float32Array) -> float:
    total = 0.0
    for each in range(len(left)):
        total += np.float64(left[each]) * np.float64(right[each])
    return total


@compiled
def compare_dense(
    unit: Float32Array,
    rows: IntArray,
    start: IntArray,
    columns: Int32Array,
    similarity: Float64Array,
    begin: int,
    end: int,
) -> None:
    """Write the inner products of row ``rows[i]`` with its columns, ``columns[start[i]:start[i + 1]]``."""
    for at in range(begin, end):
        own = unit[rows[at]]
        for place in range(start[at], start[at + 1]):
            similarity[place] = _product(own, unit[columns[place]])


@compiled
def compare_sparse(
    row_start: IntArray,
    row_columns: Int32Array,
    row_values: Float32Array,
    rows: IntArray,
    start: IntArray,
    columns: Int32Array,
    similarity: Float64Array,
    begin: int,
    end: int,
) -> None:
    """The same for a sparse matrix, given by rows with rising columns."""
    for at in range(begin, end):
        for place in range(start[at], start[at + 1]):
            left, left_end = row_start[rows[at]], row_start[rows[at] + 1]
            right, right_end = row_start[columns[place]], row_start[columns[place] + 1]
            total = 0.0
            while left < left_end and right < right_end:
                here, there = row_columns[left], row_columns[right]
                if here == there:
                    total += np.float64(row_values[left]) * np.float64(row_values[right])
                left += here <= there
                right += there <= here
            similarity[place] = total


# -- from candidate groups to neighbours -----------------------------------------------------------------------------


@compiled
def place_neighbors(
    rows: IntArray,
    start: IntArray,
    columns: Int32Array,
    similarity: Float64Array,
    group_start: IntArray,
    members: Int32Array,
    seed: np.uint64,
    tie: float,
    neighbors: Int32Array,
    similarities: Float32Array,
    begin: int,
    end: int,
) -> None:
    """Fill the rows of all members of some groups of equal rows, most similar first, equals in a random order.

    ``columns`` are the candidate groups of each group in ``rows``, without itself. ``neighbors`` and ``similarities``
    (nodes, k) hold -1 and 0 where they are not filled.
    """
    k = neighbors.shape[1]
    for at in range(begin, end):
        own = rows[at]
        count = start[at + 1] - start[at] + 1
        group = np.empty(count, np.int64)
        near = np.empty(count, np.float64)
        group[0], near[0] = own, 1.0  # the fellows of a node are its nearest
        for each in range(1, count):
            group[each] = columns[start[at] + each - 1]
            near[each] = min(similarity[start[at] + each - 1], 1.0)
        order = np.argsort(-near, kind="mergesort")
        filled, first = 0, 0
        while filled < k and first < count and near[order[first]] > 0:
            highest = near[order[first]]
            last = first
            while last < count and near[order[last]] >= highest - tie and near[order[last]] > 0:
                last += 1
            level = np.sort(group[order[first:last]])
            filled = _place_level(level, own, filled, highest, group_start, members, seed, neighbors, similarities)
            first = last


@compiled
def _place_level(
    level: IntArray,
    own: int,
    filled: Any,
    highest: float,
    group_start: IntArray,
    members: Int32Array,
    seed: np.uint64,
    neighbors: Int32Array,
    similarities: Float32Array,
) -> Any:
    """Place the members of tied groups behind the ``filled`` neighbours of each member of ``own``; how many are now."""
    until = np.empty(len(level), np.int64)  # how many nodes the groups up to here have
    total = 0
    for each in range(len(level)):
        total += group_start[level[each] + 1] - group_start[level[each]] - (level[each] == own)
        until[each] = total
    drawn = min(neighbors.shape[1] - filled, total)
    for member in range(group_start[own], group_start[own + 1]):
        node = members[member]
        picks = _without_replacement(total, drawn, stream(seed, node, filled))
        for each in range(drawn):
            at = np.searchsorted(until, picks[each], side="right")
            group = level[at]
            place = group_start[group + 1] - (until[at] - picks[each])
            if group == own and place <= member:  # a node never lists itself: the places up to its own move down
                place -= 1
            neighbors[node, filled + each] = members[place]
            similarities[node, filled + each] = highest
    return filled + drawn


@compiled
def _without_replacement(total: int, drawn: int, state: Any) -> IntArray:
    """Some different numbers of ``0..total - 1`` in a random order, each order as likely: a shuffle's beginning.

    Only the places that were swapped are kept, so that drawing ten of a million costs no more than ten of twenty.
    """
    picks = np.empty(drawn, np.int64)
    swapped = np.empty(drawn, np.int64)  # what stands at the place that the i-th draw took, for later draws
    taken = np.empty(drawn, np.int64)
    for each in range(drawn):
        at = each + np.int64(mix(state) % np.uint64(total - each))
        state += GOLDEN
        picks[each], swapped[each], taken[each] = at, each, at
        for earlier in range(each):
            if taken[earlier] == at:
                picks[each] = swapped[earlier]
            if taken[earlier] == each:
                swapped[each] = swapped[earlier]
    return picks
