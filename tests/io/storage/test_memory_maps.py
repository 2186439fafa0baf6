"""Arrays in files are those that were appended, and a file system without memory maps is reported."""

from __future__ import annotations

import errno
import mmap

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphprox.errors import ReadError, WriteError
from graphprox.io.storage import memory_maps
from graphprox.io.storage.memory_maps import ArrayWriter, check_memory_maps, map_array


@given(sizes=st.lists(st.integers(0, 5), max_size=5), columns=st.integers(0, 3), dtype=st.sampled_from("fiqB"))
def test_appended_rows_are_read_as_numpy_reads_them(tmp_path_factory, sizes, columns, dtype):
    path = tmp_path_factory.mktemp("rows") / "rows.npy"
    blocks = [np.arange(size * columns, dtype=dtype).reshape(size, columns) for size in sizes]
    with ArrayWriter(path, dtype, [columns]) as writer:
        for block in blocks:
            writer.append(block)
    expected = np.concatenate([np.empty((0, columns), dtype), *blocks])
    for found in (map_array(path), np.load(path)):
        np.testing.assert_array_equal(found, expected)
        assert found.dtype == expected.dtype
    np.save(path, expected)
    np.testing.assert_array_equal(map_array(path), expected)


def test_maps_are_read_only(tmp_path):
    np.save(tmp_path / "a.npy", np.ones(3))
    with pytest.raises(ValueError, match="read-only"):
        map_array(tmp_path / "a.npy")[0] = 2


def test_rows_of_another_shape_are_rejected(tmp_path):
    with ArrayWriter(tmp_path / "a.npy", np.int64) as writer, pytest.raises(ValueError, match="must have shape"):
        writer.append([[1]])


@pytest.mark.parametrize("content", [b"", b"\x93NUMPY", b"PK\x03\x04" * 9, b"\x93NUMPY\x01\x00\x02\x00{}"])
def test_damaged_file_is_reported(tmp_path, content):
    (tmp_path / "a.npy").write_bytes(content)
    with pytest.raises(ReadError, match=r"a.npy is damaged: "):
        map_array(tmp_path / "a.npy")


def test_truncated_file_is_reported(tmp_path):
    np.save(tmp_path / "a.npy", np.ones(1000))
    (tmp_path / "a.npy").write_bytes((tmp_path / "a.npy").read_bytes()[:-8])
    with pytest.raises(ReadError, match=r"a.npy is damaged: "):
        map_array(tmp_path / "a.npy")


def test_pickled_file_is_rejected(tmp_path):
    np.save(tmp_path / "a.npy", np.array([{}], object), allow_pickle=True)
    with pytest.raises(ReadError, match=r"a.npy is damaged: "):
        map_array(tmp_path / "a.npy")


def test_missing_file_is_reported(tmp_path):
    with pytest.raises(ReadError, match=r"a.npy cannot be read: No such file"):
        map_array(tmp_path / "a.npy")


@pytest.mark.parametrize("number", [errno.ENODEV, errno.EINVAL])
def test_file_system_without_memory_maps_is_reported(tmp_path, monkeypatch, number):
    np.save(tmp_path / "a.npy", np.ones(3))
    check_memory_maps(tmp_path)

    def fail(*_, **__):
        raise OSError(number, "unsupported")

    monkeypatch.setattr(mmap, "mmap", fail)
    monkeypatch.setattr(memory_maps.mmap, "mmap", fail)
    with pytest.raises(ReadError, match="must be on a file system with memory maps; this one has none"):
        map_array(tmp_path / "a.npy")
    with pytest.raises(WriteError, match="must be on a file system with memory maps; this one has none"):
        check_memory_maps(tmp_path)


def test_folder_that_cannot_be_written_to_is_reported(tmp_path):
    with pytest.raises(WriteError, match="cannot be written: No such file"):
        check_memory_maps(tmp_path / "missing")
