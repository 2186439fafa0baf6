"""What does not fit onto a disk is an error before it is written."""

from __future__ import annotations

import shutil

import pytest

from graphprox.errors import WriteError
from graphprox.io.storage.disk_space import check_disk_space, free_disk_space


def test_free_space_is_that_of_the_disk_of_a_folder_that_need_not_exist(tmp_path, monkeypatch):
    asked = []

    def usage(place):
        asked.append(place)
        return real(place)

    real = shutil.disk_usage
    monkeypatch.setattr(shutil, "disk_usage", usage)
    assert free_disk_space(tmp_path / "a" / "b") > 0
    assert asked == [tmp_path / "a" / "b", tmp_path / "a", tmp_path]


def test_what_needs_more_than_is_free_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(100, 90, 10_000_000))
    check_disk_space(tmp_path, 10_000_000, "the graph")
    with pytest.raises(WriteError, match=r"the graph must fit onto the disk of .*; it needs 10 MB, and 10 MB are free"):
        check_disk_space(tmp_path, 10_000_001, "the graph")


def test_unknown_space_is_no_error(tmp_path, monkeypatch):
    def fail(_):
        raise OSError

    monkeypatch.setattr(shutil, "disk_usage", fail)
    check_disk_space(tmp_path, 10**18, "the graph")
    assert free_disk_space(tmp_path) is None
