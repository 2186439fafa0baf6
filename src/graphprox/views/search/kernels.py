"""Compiled inner loops of the neighbor search; imported only when a search runs, as importing numba takes a second.

Functions that take ``begin`` and ``end`` work on that range of rows, so that `run_in_parallel` can divide the rows
among threads. The output of a row does not depend on other rows, so results do not depend on the number of threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphprox._utils.arrays import IntArray
from graphprox._utils.hashing import GOLDEN, mix, stream
from graphprox._utils.numba_helpers import (
    Float32Array,
    Float64Array,
    Int32Array,
    UInt64Array,
    njit,
    njit_fast_finite,
)

# -- equal rows -----------------------------------------------------------------------------------------------------


@njit
def hash_sparse_rows(
    bits: NDArray[np.uint32], columns: Int32Array, start: IntArray, hashes: UInt64Array, begin: int, end: int
) -> None:
    """Write a hash of each row of a sparse matrix; ``bits[start[i]:start[i + 1]]`` are the values of row i."""
    for row in range(begin, end):
        state = np.uint64(0)
        for place in range(start[row], start[row + 1]):
            entry = (np.uint64(columns[place]) << np.uint64(32)) | np.uint64(bits[place])
            state = mix(state ^ entry) + GOLDEN
        hashes[row] = state


@njit
def hash_dense_rows(bits: NDArray[np.uint32], hashes: UInt64Array, begin: int, end: int) -> None:
    """Write a hash of each row of a dense matrix."""
    for row in range(begin, end):
        state = np.uint64(0)
        for value in bits[row]:
            state = mix(state ^ np.uint64(value)) + GOLDEN
        hashes[row] = state


# -- scores of a block of rows with all rows ------------------------------------------------------------------------


@njit
def add_list_scores(
    scores: Float32Array,
    rows: IntArray,
    row_start: IntArray,
    row_columns: Int32Array,
    row_values: Float32Array,
    list_start: IntArray,
    list_rows: Int32Array,
    list_values: Float32Array,
    begin: int,
    end: int,
) -> None:
    """Add the inner products of some rows of a sparse matrix with all its rows to ``scores`` (block, all).

    The matrix is given twice: by rows, and by columns as inverted lists of the rows in which a column is nonzero.
    """
    for at in range(begin, end):
        score = scores[at]
        for place in range(row_start[rows[at]], row_start[rows[at] + 1]):
            column, value = row_columns[place], row_values[place]
            for entry in range(list_start[column], list_start[column + 1]):
                score[list_rows[entry]] += value * list_values[entry]


# -- candidates: scores close to the k-th largest -------------------------------------------------------------------

CHUNK = 64  # scores that are skipped together if the largest of them is too small


@njit_fast_finite
def _largest(chunk: Float32Array) -> Any:
    """Return the largest of CHUNK scores."""
    largest = chunk[0]
    for place in range(CHUNK):
        largest = max(largest, chunk[place])
    return largest


@njit
def _kth_largest(scores: Float32Array, own: int, k: int) -> Any:
    """Return the k-th largest score other than the row's own; 0 if fewer are positive."""
    nearest = np.zeros(k, np.float32)  # a min-heap
    num_full = len(scores) // CHUNK * CHUNK
    for first in range(0, len(scores), CHUNK):
        if first < num_full and _largest(scores[first : first + CHUNK]) <= nearest[0]:
            continue
        for column in range(first, min(first + CHUNK, len(scores))):
            if scores[column] > nearest[0] and column != own:
                _replace_min(nearest, scores[column])
    return nearest[0]


@njit
def _replace_min(heap: Float32Array, value: Any) -> None:
    """Replace the smallest value of a min-heap."""
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


@njit
def find_thresholds(
    scores: Float32Array,
    rows: IntArray,
    k: int,
    margin: float,
    threshold: Float32Array,
    counts: IntArray,
    begin: int,
    end: int,
) -> None:
    """Write the threshold of each row of a block of scores (block, all), and the number of columns that reach it.

    The threshold is positive and ``margin`` below the k-th largest score.
    """
    for at in range(begin, end):
        score = scores[at]
        bound = np.float32(max(_kth_largest(score, rows[at], k) - margin, 1e-30))
        reached = 0
        for column in range(len(score)):
            reached += score[column] >= bound
        threshold[at] = bound
        counts[at] = reached - (score[rows[at]] >= bound)


@njit
def write_candidates(
    scores: Float32Array,
    rows: IntArray,
    threshold: Float32Array,
    start: IntArray,
    columns: Int32Array,
    begin: int,
    end: int,
) -> None:
    """Write the columns that reach the threshold of their row, ascending; those of row i begin at ``start[i]``."""
    for at in range(begin, end):
        score = scores[at]
        place = start[at]
        num_full = len(score) // CHUNK * CHUNK
        for first in range(0, len(score), CHUNK):
            if first < num_full and _largest(score[first : first + CHUNK]) < threshold[at]:
                continue
            for column in range(first, min(first + CHUNK, len(score))):
                if score[column] >= threshold[at] and column != rows[at]:
                    columns[place] = column
                    place += 1


# -- similarities of candidates -------------------------------------------------------------------------------------


@njit_fast_finite
def _dot(left: Float32Array, right: Float32Array) -> float:
    """Return the inner product of two rows in float64."""
    total = 0.0
    for each in range(len(left)):
        total += np.float64(left[each]) * np.float64(right[each])
    return total


@njit
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
            similarity[place] = _dot(own, unit[columns[place]])


@njit
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
    """Do the same for a sparse matrix in CSR format with sorted columns."""
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


# -- from candidates to neighbors -----------------------------------------------------------------------------------


MAX_INSERTIONS = 64  # values that are sorted by insertion, which is faster for few


@njit
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
    """Write the neighbors of all members of some groups of equal rows, most similar first, ties in random order.

    ``columns`` are the candidate groups of each group in ``rows``, without itself. ``neighbors`` and ``similarities``
    (num_nodes, k) are initially -1 and 0.
    """
    k = neighbors.shape[1]
    for at in range(begin, end):
        own = rows[at]
        count = start[at + 1] - start[at] + 1
        group = np.empty(count, np.int64)
        near = np.empty(count, np.float64)
        group[0], near[0] = own, 1.0  # rows equal to that of a node are its nearest
        for each in range(1, count):
            group[each] = columns[start[at] + each - 1]
            near[each] = min(similarity[start[at] + each - 1], 1.0)
        order = _sort_descending(near)
        filled, first = 0, 0
        while filled < k and first < count and near[order[first]] > 0:
            highest = near[order[first]]
            last = first
            while last < count and near[order[last]] >= highest - tie and near[order[last]] > 0:
                last += 1
            level = group[order[first:last]]
            if len(level) > 1:
                level.sort()
            filled = _place_level(level, own, filled, highest, group_start, members, seed, neighbors, similarities)
            first = last


@njit
def _sort_descending(values: Float64Array) -> IntArray:
    """Return the order of values from the highest to the lowest; equal ones stay in order."""
    if len(values) > MAX_INSERTIONS:
        return np.argsort(-values, kind="mergesort")
    order = np.empty(len(values), np.int64)
    for each in range(len(values)):
        place = each
        while place > 0 and values[order[place - 1]] < values[each]:
            order[place] = order[place - 1]
            place -= 1
        order[place] = each
    return order


@njit
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
    """Append the members of tied groups to the ``filled`` neighbors of each member of ``own``; return the new count."""
    alone = level[0]
    if len(level) == 1 and alone != own and group_start[alone + 1] - group_start[alone] == 1:  # nearly always
        for member in range(group_start[own], group_start[own + 1]):
            neighbors[members[member], filled] = members[group_start[alone]]
            similarities[members[member], filled] = highest
        return filled + 1
    until = np.empty(len(level), np.int64)  # number of nodes in the groups up to this one
    total = 0
    for each in range(len(level)):
        total += group_start[level[each] + 1] - group_start[level[each]] - (level[each] == own)
        until[each] = total
    count = min(neighbors.shape[1] - filled, total)
    for member in range(group_start[own], group_start[own + 1]):
        node = members[member]
        picks = _sample_without_replacement(total, count, stream(seed, node, filled))
        for each in range(count):
            at = np.searchsorted(until, picks[each], side="right")
            group = level[at]
            place = group_start[group + 1] - (until[at] - picks[each])
            if group == own and place <= member:  # a node is not its own neighbor: skip its place
                place -= 1
            neighbors[node, filled + each] = members[place]
            similarities[node, filled + each] = highest
    return filled + count


@njit
def _sample_without_replacement(total: int, count: int, state: Any) -> IntArray:
    """Return ``count`` distinct integers below ``total`` in random order: the beginning of a Fisher-Yates shuffle.

    Only swapped places are stored, so the cost depends on ``count`` and not on ``total``.
    """
    picks = np.empty(count, np.int64)
    swapped = np.empty(count, np.int64)  # the value that later samples find at the i-th sampled place
    taken = np.empty(count, np.int64)
    for each in range(count):
        at = each + np.int64(mix(state) % np.uint64(total - each))
        state += GOLDEN
        picks[each], swapped[each], taken[each] = at, each, at
        for earlier in range(each):
            if taken[earlier] == at:
                picks[each] = swapped[earlier]
            if taken[earlier] == each:
                swapped[each] = swapped[earlier]
    return picks
