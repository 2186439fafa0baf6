"""Blocks of rows, and where rows are kept."""

from __future__ import annotations

import os
from itertools import pairwise

import numpy as np
import pytest

from graphprox._utils.mapped import is_mapped
from graphprox._utils.work_folder import use_work_folder
from graphprox.auto import row_store
from graphprox.auto.row_store import ONE_BLOCK, Panels, RowStore, column_panels, read_columns, read_only, row_blocks
from graphprox.errors import WriteError


@pytest.mark.parametrize("size", [0, 1, 5, ONE_BLOCK, ONE_BLOCK + 1, 1_000_003])
def test_blocks_and_panels_cover_everything_once(size):
    for parts in (row_blocks(size), column_panels(10**7, size)):
        assert parts[0].start == 0
        assert parts[-1].stop == size
        assert all(one.stop == other.start for one, other in pairwise(parts))
    assert (len(row_blocks(size)) == 1) == (size <= ONE_BLOCK)


def test_panels_of_any_width_take_little_memory():
    widths = [column_panels(rows, 256)[0].stop for rows in (1_000, 10**6, 10**7, 10**9)]
    assert widths == [256, 128, 16, 16]


@pytest.mark.parametrize("in_files", [False, True])
def test_filled_rows_are_what_was_computed_and_finished(monkeypatch, in_files):
    monkeypatch.setattr(row_store, "ONE_BLOCK", 10)
    monkeypatch.setattr(row_store, "BLOCK_ROWS", 7)
    wanted = np.random.default_rng(0).random((40, 50), np.float32)
    for panel_bytes in (4 * 40 * 16, 1 << 28):
        monkeypatch.setattr(row_store, "PANEL_BYTES", panel_bytes)
        seen = []

        def compute(columns, seen=seen):
            seen.append(columns)
            return wanted[:, columns].copy()

        store = RowStore(in_files)
        assert np.array_equal(store.fill(40, 50, compute), wanted)
        assert np.array_equal(store.fill(40, 50, compute, lambda rows: rows * 2), wanted * 2)
        assert len(seen) == 2 * (4 if panel_bytes < 1 << 28 else 1)
        assert is_mapped(store.fill(40, 50, compute)) == in_files


def test_panels_are_read_and_written_by_rows():
    rng = np.random.default_rng(0)
    left, right = rng.random((6, 2), np.float32), rng.random((6, 3), np.float32)
    panels = Panels([left, right])
    assert panels.shape == (6, 5)
    assert np.array_equal(panels.read(slice(1, 4)), np.hstack([left, right])[1:4])
    panels.write(slice(2, 4), np.ones((2, 5), np.float32))
    assert left[2:4].all()
    assert (right[2:4] == 1).all()


def test_columns_are_read_in_memory():
    for in_files in (False, True):
        rows = RowStore(in_files).empty(5, 4)
        rows[:] = np.arange(20).reshape(5, 4)
        for columns in (slice(0, 4), slice(1, 3)):
            found = read_columns(rows, columns)
            assert found.flags.c_contiguous
            assert not is_mapped(found)
            assert np.array_equal(found, rows[:, columns])


def test_rows_are_kept_in_files_beyond_what_memory_holds(monkeypatch, tmp_path):
    with use_work_folder(tmp_path):
        assert not RowStore.of(1_000, 100).in_files
        monkeypatch.setattr(row_store, "MEMORY_BYTES", 4 * 1_000 * 100 - 1)
        store = RowStore.of(1_000, 100)
        assert store.in_files
        assert is_mapped(store.empty(1_000, 100))
        monkeypatch.setattr(row_store, "MEMORY_BYTES", 1 << 40)
        monkeypatch.setattr(row_store, "available_memory", lambda: 4 * 4 * 1_000 * 100 - 4)
        assert RowStore.of(1_000, 100).in_files


def test_files_have_no_name_so_that_nothing_is_left_of_them(tmp_path):
    with use_work_folder(tmp_path):
        rows = RowStore(in_files=True).empty(100, 10)
        rows[:] = 1
        assert list(tmp_path.iterdir()) == []
    assert rows.sum() == 1_000


def test_folder_without_room_is_one_sentence(monkeypatch, tmp_path):
    monkeypatch.setattr(row_store, "MEMORY_BYTES", 0)
    with use_work_folder(tmp_path):
        with pytest.raises(WriteError, match=r"rows that memory does not hold must fit onto the disk of .*; it needs"):
            RowStore.of(10**12, 256)
        with pytest.raises(
            WriteError, match=r"a work folder must have room .* has none for another 40,000 GB.*--work-dir"
        ):
            RowStore(in_files=True).empty(10**12, 10)
        assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="needs posix_fallocate")
def test_room_is_reserved_before_rows_are_written(monkeypatch, tmp_path):
    reserved = []
    monkeypatch.setattr(os, "posix_fallocate", lambda _file, start, size: reserved.append((start, size)))
    with use_work_folder(tmp_path):
        RowStore(in_files=True).empty(3, 5)
    assert reserved == [(0, 60)]


def test_read_only_rows_remain_a_map_that_an_embedding_does_not_copy():
    rows = RowStore(in_files=True).empty(3, 2)
    rows[:] = 1
    kept = read_only(rows)
    assert kept is rows
    assert kept.mode == "r"
    with pytest.raises(ValueError, match="read-only"):
        kept[0] = 2
    assert not read_only(np.zeros(2)).flags.writeable
