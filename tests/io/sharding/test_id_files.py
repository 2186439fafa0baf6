"""Ids in files are those that were written, in any blocks."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphprox.io.sharding.id_files import IdWriter, read_raw, write_raw

TEXT = st.text(max_size=5)
INTEGERS = st.integers(-(2**63), 2**63 - 1)


@given(blocks=st.one_of(st.lists(st.lists(TEXT, max_size=4)), st.lists(st.lists(INTEGERS, max_size=4))), data=st.data())
def test_ids_are_read_as_they_were_written(tmp_path_factory, blocks, data):
    ids = [each for block in blocks for each in block]
    is_text = bool(ids) and isinstance(ids[0], str)
    kind = pa.string() if is_text else pa.int64()
    with IdWriter(tmp_path_factory.mktemp("ids") / "ids", is_text=is_text) as writer:
        for block in blocks:
            writer.append(pa.array(block, kind))
    file = writer.file
    assert file.size == len(ids)
    assert file.read().to_pylist() == ids
    start = data.draw(st.integers(0, len(ids)))
    stop = data.draw(st.integers(start, len(ids) + 2))
    assert file.read(start, stop).to_pylist() == ids[start:stop]
    assert [each for block in file.blocks(2) for each in block.to_pylist()] == ids
    assert all(len(block) <= 2 for block in file.blocks(2))


def test_slices_of_arrays_are_written_without_the_rest(tmp_path):
    with IdWriter(tmp_path / "ids", is_text=True) as writer:
        writer.append(pa.array(["a", "bc", "def", "g"]).slice(1, 2))
        writer.append(pa.array(["x", "yz"], pa.large_string()).slice(1))
    assert writer.file.read().to_pylist() == ["bc", "def", "yz"]
    assert writer.file.text.read_text() == "bcdefyz"


def test_removed_file_leaves_nothing(tmp_path):
    with IdWriter(tmp_path / "ids", is_text=True) as writer:
        writer.append(pa.array(["a"]))
    writer.file.remove()
    writer.file.remove()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("dtype", [np.int64, np.float32, np.uint8])
def test_values_are_read_as_they_were_written(tmp_path, dtype):
    array = np.arange(10, dtype=dtype)
    write_raw(tmp_path / "values", array[::2])
    np.testing.assert_array_equal(read_raw(tmp_path / "values", dtype), array[::2])
    np.testing.assert_array_equal(read_raw(tmp_path / "values", dtype, 1, 3), [2, 4])
    assert len(read_raw(tmp_path / "values", dtype, 3, 3)) == 0
