"""NN-descent: an approximate search whose cost is nearly linear in the number of rows (Dong, Moses and Li, 2011).

Random partitions divide the rows into leaves, and the rows of a leaf are compared with each other. Then, for some
rounds, each row is compared with the neighbors of its neighbors. A round goes through the rows in blocks: a row reads
the lists as they were before its block, and writes only its own, so results do not depend on the number of threads.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphprox._utils.arrays import IntArray
from graphprox._utils.hashing import stream
from graphprox._utils.numba_helpers import Float32Array, Int32Array, njit, run_in_parallel
from graphprox.views.search.neighbor_lists import (
    CHUNK,
    get_round,
    get_row,
    insert_products,
)
from graphprox.views.search.partitions import divide_rows
from graphprox.views.search.products import (
    Codes,
    CompactRows,
    decode_rows,
    multiply_with_code,
    multiply_with_each_other,
    reorder_rows,
)

# Partitions follow until one changes few entries; if small leaves do not suffice, neighbors are hard to find.
LEAF_SIZES = (256,) * 8 + (1_024,) * 6
FEW = 0.045  # share of entries
MAX_ROUNDS = 6  # fewer than the rounds that `neighbor_lists` can distinguish
NUM_VISITED = 4_096  # rows remembered, so that a row is seldom compared twice
NUM_REVERSE = 10  # rows that list a row and are compared with it
CONVERGED = 0.001  # share of changed entries below which the rounds end
BLOCK_ROWS = 65_536  # of a round

BoolArray = NDArray[np.bool_]


def approximate_neighbors(rows: CompactRows, num_neighbors: int, seed: int) -> tuple[Int32Array, IntArray]:
    """Find rows that are probably the most similar to each row.

    Parameters
    ----------
    rows : CompactRows
        They are reordered in place.
    num_neighbors : int
        Number of neighbors per row.
    seed : int
        Random seed.

    Returns
    -------
    number : ndarray of shape (n_rows,)
        What the number of each row was before they were reordered.
    lists : ndarray of shape (n_rows, num_neighbors)
        Entries of `neighbor_lists`, most similar first, of the reordered rows.
    """
    seeds = np.random.SeedSequence(seed).generate_state(len(LEAF_SIZES) + MAX_ROUNDS, np.uint64)
    lists = np.zeros((len(rows), min(num_neighbors, len(rows) - 1)), np.int64)
    # Reordering the rows by the leaves of the first partition puts similar rows close together in memory.
    number, start = divide_rows(rows, LEAF_SIZES[0], int(seeds[0]))
    reorder_rows(rows, number)
    order = np.arange(len(rows), dtype=np.int32)
    each = 0
    while _compare_within(rows, order, start, lists) > FEW and (each := each + 1) < len(LEAF_SIZES):
        order, start = divide_rows(rows, LEAF_SIZES[each], int(seeds[each]))
    for each in range(1, MAX_ROUNDS + 1):
        if _compare_neighbors_of_neighbors(rows, lists, each, seeds[-each]) < CONVERGED:
            break
    return number, lists


# -- leaves ---------------------------------------------------------------------------------------------------------


def _compare_within(rows: CompactRows, order: Int32Array, start: IntArray, lists: IntArray) -> float:
    """Compare the rows of each leaf with each other; return the share of entries that changed."""
    changes = np.zeros(len(start) - 1, np.int64)
    compare = partial(_compare_leaves, rows.codes, rows.scale, order, start, lists, changes)
    run_in_parallel(compare, len(changes))
    return float(changes.sum() / lists.size)


@njit
def _compare_leaves(
    codes: Codes,
    scale: Float32Array,
    order: Int32Array,
    start: IntArray,
    lists: IntArray,
    changes: IntArray,
    begin: int,
    end: int,
) -> None:
    """Offer all rows of a leaf to each other; a row is in one leaf, so only one thread writes its list."""
    largest = 0
    for leaf in range(begin, end):
        largest = max(largest, start[leaf + 1] - start[leaf])
    largest = -(-largest // CHUNK) * CHUNK
    decoded = np.empty((largest, codes.shape[1]), np.float32)
    products = np.empty((largest, largest), np.float32)
    for leaf in range(begin, end):
        rows = order[start[leaf] : start[leaf + 1]]
        size, padded = len(rows), -(-len(rows) // CHUNK) * CHUNK
        decode_rows(codes, scale, rows, decoded)
        multiply_with_each_other(decoded, size, products)
        for each in range(size):
            products[each, each] = 0  # a row is not its own neighbor
            products[each, size:padded] = 0
            changes[leaf] += insert_products(lists[rows[each]], products[each, :padded], rows, 0)


# -- neighbors of neighbors -----------------------------------------------------------------------------------------


def _compare_neighbors_of_neighbors(rows: CompactRows, lists: IntArray, current: int, seed: np.uint64) -> float:
    """Compare each row with the neighbors of its neighbors; return the share of entries that changed.

    A pair of rows that were both old neighbors of a third one has been compared in an earlier round and is skipped.
    """
    reverse = _reverse_lists(lists, current, seed)
    is_fresh = np.zeros(len(lists), np.bool_)
    run_in_parallel(partial(_find_fresh, lists, reverse, current, is_fresh), len(lists))
    total = 0
    for first in range(0, len(lists), BLOCK_ROWS):
        last = min(first + BLOCK_ROWS, len(lists))
        updated, changes = lists[first:last].copy(), np.zeros(last - first, np.int64)
        given = (rows.codes, rows.scale, lists, reverse, is_fresh, current, first)
        run_in_parallel(partial(_follow_neighbors, *given, updated, changes), last - first)
        lists[first:last] = updated
        is_fresh[first:last] |= changes > 0
        total += int(changes.sum())
    return total / lists.size


@njit
def _is_new(entry: Any, current: int) -> bool:
    """Return whether an entry was found in this round or in the one before."""
    return bool(get_round(entry) >= current - 1)


@njit
def _find_fresh(lists: IntArray, reverse: Int32Array, current: int, is_fresh: BoolArray, begin: int, end: int) -> None:
    """Write whether the list of a row has new entries."""
    for row in range(begin, end):
        for entry in lists[row]:
            is_fresh[row] |= _is_new(entry, current)
        for mark in reverse[row]:
            is_fresh[row] |= mark % 2 == 1


@njit
def _reverse_lists(lists: IntArray, current: int, seed: np.uint64) -> Int32Array:
    """Return a random sample of the rows that list each row: twice the number plus one, plus one if it is new."""
    reverse = np.zeros((len(lists), NUM_REVERSE), np.int32)
    counts = np.zeros(len(lists), np.int32)
    for row in range(len(lists)):
        for each in range(lists.shape[1]):
            entry = lists[row, each]
            other = get_row(entry)
            if other < 0:
                break
            place = np.int64(counts[other])
            counts[other] += 1
            if place >= NUM_REVERSE:  # reservoir sampling
                place = np.int64(stream(seed, row, each) % np.uint64(counts[other]))
            if place < NUM_REVERSE:
                reverse[other, place] = 2 * (row + 1) + _is_new(entry, current)
    return reverse


@njit
def _follow_neighbors(
    codes: Codes,
    scale: Float32Array,
    lists: IntArray,
    reverse: Int32Array,
    is_fresh: BoolArray,
    current: int,
    first: int,
    updated: IntArray,
    changes: IntArray,
    begin: int,
    end: int,
) -> None:
    """Offer rows, from ``first`` on, those that list them and the neighbors of their neighbors."""
    num_paths = (lists.shape[1] + NUM_REVERSE) * (lists.shape[1] + 1)
    visited = np.zeros(NUM_VISITED, np.int64)
    found = np.empty(-(-num_paths // CHUNK) * CHUNK, np.int32)
    products = np.empty(len(found), np.float32)
    here = np.empty(codes.shape[1], np.float32)
    for at in range(begin, end):
        row = first + at
        count = _collect_paths(row, lists, reverse, is_fresh, current, visited, found)
        for column in range(len(here)):
            here[column] = np.float32(codes[row, column]) * scale[row]
        for each in range(count):
            products[each] = multiply_with_code(here, codes[found[each]])
        for each in range(count):
            products[each] *= scale[found[each]] * np.float32(found[each] != row)  # a row is not its own neighbor
        padded = -(-count // CHUNK) * CHUNK
        products[count:padded] = 0
        changes[at] += insert_products(updated[at], products[:padded], found, current)


@njit
def _collect_paths(
    row: int,
    lists: IntArray,
    reverse: Int32Array,
    is_fresh: BoolArray,
    current: int,
    visited: IntArray,
    found: Int32Array,
) -> int:
    """Write the rows to compare with a row, and return how many there are; some may be listed twice.

    ``visited`` remembers, in a place that depends on its number, the last row that was written. There is no branch for
    the rows that were visited before, as it could not be predicted.
    """
    count, num_listed = 0, lists.shape[1]
    own = np.int64(row + 1) << 32
    for entry in lists[row]:
        visited[_find_place(get_row(entry))] = own | get_row(entry)
    for each in range(num_listed + NUM_REVERSE):
        if each < num_listed:
            neighbor, new = get_row(lists[row, each]), _is_new(lists[row, each], current)
        else:
            mark = reverse[row, each - num_listed]
            neighbor, new = np.int64(mark // 2) - 1, mark % 2 == 1
        if neighbor < 0:
            continue
        if each >= num_listed:
            place = _find_place(neighbor)
            found[count] = neighbor
            count += visited[place] != own | neighbor
            visited[place] = own | neighbor
        if not (new or is_fresh[neighbor]):
            continue
        for entry in lists[neighbor]:
            if entry == 0:
                break
            other = get_row(entry)
            place = _find_place(other)
            chosen = (new | _is_new(entry, current)) & (visited[place] != own | other)
            found[count] = other
            count += chosen
            visited[place] = own | other if chosen else visited[place]
    return count


@njit
def _find_place(row: Any) -> Any:
    """Return the place of a row among those visited."""
    return (np.int64(row) * np.int64(0x9E3779B1) >> 12) & np.int64(NUM_VISITED - 1)
