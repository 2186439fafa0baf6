"""Pointers of rows are those of a CSR array, in whatever blocks its entries come."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphprox.io.sharding import row_pointers
from graphprox.io.sharding.row_pointers import RowPointers
from graphprox.io.storage.memory_maps import ArrayWriter, map_array


@pytest.fixture(autouse=True, scope="module")
def _small_blocks():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_pointers, "_BLOCK", 2)
        yield


@given(rows=st.lists(st.integers(0, 6)), cuts=st.lists(st.integers(0, 20), max_size=3))
def test_pointers_are_where_the_entries_of_each_row_begin(tmp_path_factory, rows, cuts):
    path = tmp_path_factory.mktemp("rows") / "indptr.npy"
    entries = np.sort(np.array(rows, np.int64))
    with ArrayWriter(path, np.int64) as writer:
        pointers = RowPointers(writer, 7)
        for block in np.split(entries, sorted(min(cut, len(entries)) for cut in cuts)):
            pointers.append(block)
        pointers.finish()
    assert pointers.num_entries == len(rows)
    np.testing.assert_array_equal(map_array(path), np.searchsorted(entries, np.arange(8)))
