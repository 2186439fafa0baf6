"""Lists of the nearest rows found so far, one integer per entry.

An entry is the float32 cosine in the upper 32 bits and, in the lower ones, the number of the row plus one and the
round in which it was found. Positive floats are ordered as their bits are, so that lists are sorted as integers. 0 is
an empty entry.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphprox._utils.arrays import IntArray
from graphprox._utils.numba_helpers import Float32Array, Int32Array, njit
from graphprox.views.search.products import multiply_rows, pad_rows

ROUND_BITS = 3  # which leave room for 2**29 rows
GROUP = 64  # rows of a sample that are compared at a time
CHUNK = 64  # products that are skipped together if the largest of them is too small

_LOW, _ROUND = np.int64(2**32 - 1), np.int64(2**ROUND_BITS - 1)


@njit
def make_entry(cosine_bits: Any, row: Any, found_in: Any) -> np.int64:
    """Return an entry from the bits of a positive cosine."""
    return (np.int64(cosine_bits) << 32) | ((np.int64(row) + 1) << ROUND_BITS) | np.int64(found_in)


@njit
def get_row(entry: Any) -> np.int64:
    """Return the row of an entry, -1 for an empty one."""
    return ((np.int64(entry) & _LOW) >> ROUND_BITS) - 1


@njit
def get_round(entry: Any) -> np.int64:
    """Return the round in which an entry was found."""
    return np.int64(entry) & _ROUND


@njit
def insert_entry(entries: IntArray, entry: Any) -> int:
    """Insert an entry into a sorted list, if it is similar enough and its row not in it; return 1 if inserted."""
    place = len(entries) - 1
    if entry <= entries[place]:
        return 0
    row, listed = get_row(entry), 0
    for each in entries:
        listed += get_row(each) == row
    if listed:
        return 0
    while place > 0 and entries[place - 1] < entry:
        entries[place] = entries[place - 1]
        place -= 1
    entries[place] = entry
    return 1


@njit
def insert_products(entries: IntArray, products: Float32Array, rows: Any, found_in: int) -> int:
    """Insert the rows of some products that are positive and large enough; return how many were inserted.

    ``products`` is padded to a multiple of CHUNK with zeros.
    """
    bits = products.view(np.int32)
    last, inserted = len(entries) - 1, 0
    for first in range(0, len(bits), CHUNK):
        least = max(np.int32(entries[last] >> 32), np.int32(1))
        highest = np.int32(0)
        for place in range(first, first + CHUNK):
            highest = max(highest, bits[place])
        if highest < least:
            continue
        for place in range(first, first + CHUNK):
            if bits[place] >= least:
                inserted += insert_entry(entries, make_entry(bits[place], rows[place], found_in))
                least = max(np.int32(entries[last] >> 32), np.int32(1))
    return inserted


@njit
def compare_sample(
    sample: Float32Array,
    own: IntArray,
    others: Float32Array,
    numbers: IntArray,
    lists: IntArray,
    begin: int,
    end: int,
) -> None:
    """Offer rows with these numbers to some rows of a sample, whose own numbers are ``own``."""
    products = np.empty((GROUP, CHUNK), np.float32)
    here = np.empty((GROUP, sample.shape[1]), np.float32)
    for first in range(begin, end, GROUP):
        size = min(GROUP, end - first)
        here[:size] = sample[first : first + size]
        here[size:] = 0
        for start in range(0, len(numbers), CHUNK):
            listed = numbers[start : start + CHUNK]
            multiply_rows(here, size, others[start : start + pad_rows(len(listed))], len(listed), products)
            for each in range(size):
                products[each, len(listed) :] = 0
                place = own[first + each] - listed[0]
                if 0 <= place < len(listed):
                    products[each, place] = 0
                insert_products(lists[first + each], products[each], listed, 0)


@njit
def write_rows(lists: IntArray, number: Int32Array, found: Int32Array, begin: int, end: int) -> None:
    """Write ``number`` of the row of each entry, -1 for an empty one."""
    for row in range(begin, end):
        for place in range(lists.shape[1]):
            near = get_row(lists[row, place])
            found[row, place] = number[near] if near >= 0 else -1
