from __future__ import annotations

import numpy as np
import pytest

from graphprox._utils.work_folder import use_work_folder
from graphprox.ftgcl.stored_tables import WorkFolder, open_work_folder
from graphprox.io.storage.model_files import WORK, work_files

VALUES = np.random.default_rng(0).random((10, 5), dtype=np.float32)


class Maker:
    """Makes a table in two blocks of columns, and counts how often."""

    def __init__(self, values=VALUES):
        self.values, self.count = values, 0

    def __call__(self):
        self.count += 1
        return iter([self.values[:, :2], self.values[:, 2:]])


@pytest.fixture
def make():
    return Maker()


def test_rows_of_a_table_have_all_columns_in_order(tmp_path, make):
    table = WorkFolder(tmp_path / WORK).table({"k": 1}, make)
    assert np.array_equal(table.read(slice(0, 10)), VALUES)
    assert np.array_equal(table.read(slice(3, 7)), VALUES[3:7])


def test_table_is_made_once_for_each_key(tmp_path, make):
    work = WorkFolder(tmp_path / WORK)
    other = Maker(VALUES + 1)
    for _ in range(2):
        assert np.array_equal(work.table({"k": 1, "base": "graph"}, make).read(slice(0, 10)), VALUES)
        assert np.array_equal(work.table({"k": 2, "base": "graph"}, other).read(slice(0, 10)), VALUES + 1)
    assert make.count == other.count == 1


def test_memory_of_making_a_table_is_returned(tmp_path, make, monkeypatch):
    returned = []
    monkeypatch.setattr("graphprox.ftgcl.stored_tables.return_freed_memory", lambda: returned.append(True))
    work = WorkFolder(tmp_path)
    for _ in range(2):
        work.table({"graph": "a"}, make)
    assert returned == [True]


def test_another_process_finds_the_table_of_a_key(tmp_path, make):
    WorkFolder(tmp_path / WORK).table({"k": 1, "base": "graph"}, make)
    found = WorkFolder(tmp_path / WORK).table({"base": "graph", "k": 1}, make)
    assert make.count == 1
    assert np.array_equal(found.read(slice(0, 10)), VALUES)


@pytest.mark.parametrize("damage", ["flip", "cut", "remove", "description"])
def test_damaged_table_is_made_again(tmp_path, make, damage):
    WorkFolder(tmp_path / WORK).table({"k": 1}, make)
    description, first, _ = sorted(work_files(tmp_path / WORK), key=lambda path: (path.suffix != ".json", path.name))
    content = first.read_bytes()
    if damage == "flip":
        first.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    elif damage == "cut":
        first.write_bytes(content[:-4])
    else:
        (first if damage == "remove" else description).unlink()
    found = WorkFolder(tmp_path / WORK).table({"k": 1}, make)
    assert make.count == 2
    assert np.array_equal(found.read(slice(0, 10)), VALUES)


def test_folder_is_removed_at_the_end(tmp_path, make):
    with open_work_folder(tmp_path) as work:
        work.table({"k": 1}, make)
        assert len(work_files(tmp_path / WORK)) == 3
    assert list(tmp_path.iterdir()) == []


def test_folder_is_kept_for_a_training_run_that_is_resumed(tmp_path, make):
    def interrupt():
        with open_work_folder(tmp_path) as work:
            work.table({"k": 1}, make)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupt()
    with open_work_folder(tmp_path) as work:
        work.table({"k": 1}, make)
    assert make.count == 1


def test_files_of_others_in_the_folder_stay(tmp_path, make):
    with open_work_folder(tmp_path) as work:
        work.table({"k": 1}, make)
        (tmp_path / WORK / "notes.txt").write_text("mine")
    assert [path.name for path in (tmp_path / WORK).iterdir()] == ["notes.txt"]


def test_folder_without_a_model_is_temporary(make):
    with open_work_folder(None) as work:
        work.table({"k": 1}, make)
        path = work.path
        assert path.is_dir()
    assert not path.exists()


def test_temporary_folder_is_where_large_files_go(tmp_path, make):
    with use_work_folder(tmp_path), open_work_folder(None) as work:
        work.table({"k": 1}, make)
        assert work.path.parent == tmp_path
    assert list(tmp_path.iterdir()) == []
