"""Lists of the nearest rows found so far."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from graphprox.views.search.neighbor_lists import CHUNK, get_round, get_row, insert_entry, insert_products, make_entry


def read_cosines(entries) -> np.ndarray:
    return (np.asarray(entries) >> 32).astype(np.int32).view(np.float32)


@given(st.floats(0, 1, width=32, exclude_min=True), st.integers(0, 2**29 - 3), st.integers(0, 7))
def test_entry_contains_cosine_row_and_round(cosine, row, found_in):
    entry = make_entry(np.float32(cosine).view(np.int32), row, found_in)
    assert entry > 0
    assert read_cosines([entry])[0] == np.float32(cosine)
    assert get_row(entry) == row
    assert get_round(entry) == found_in


def test_empty_entry_has_no_row():
    assert get_row(0) == -1


def test_row_is_inserted_once():
    entries = np.zeros(3, np.int64)
    half, third = (make_entry(np.float32(value).view(np.int32), 0, 1) for value in (1 / 2, 1 / 3))
    assert insert_entry(entries, third) == 1
    assert insert_entry(entries, half) == 0
    assert [get_row(each) for each in entries] == [0, -1, -1]


@given(st.lists(st.floats(-1, 1, width=32), max_size=150), st.integers(1, 20))
def test_lists_contain_the_largest_positive_products(products, size):
    padded = np.zeros(-(-len(products) // CHUNK) * CHUNK, np.float32)
    padded[: len(products)] = products
    rows = np.arange(len(padded), dtype=np.int32) + 7
    entries = np.zeros(size, np.int64)
    inserted = insert_products(entries, padded, rows, 0)
    expected = np.sort(padded[padded > 0])[::-1][:size]
    count = len(expected)
    np.testing.assert_array_equal(read_cosines(entries[:count]), expected)
    np.testing.assert_array_equal(entries[count:], 0)
    assert inserted >= count
    listed = [get_row(each) for each in entries[:count]]
    assert len(set(listed)) == count
    np.testing.assert_array_equal(padded[np.array(listed, np.int64) - 7], expected)
