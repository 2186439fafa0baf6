"""Claims on graph folders: nothing is lost unasked, and a killed process leaves the older graph or the new one."""

from __future__ import annotations

import os
from contextlib import suppress

import pytest

from graphprox import synthetic
from graphprox.errors import ReadError, WriteError
from graphprox.graph import graph_checksum
from graphprox.io.folder import claims
from graphprox.io.folder.claims import WORK, claim_graph_folder
from graphprox.io.folder.description import GRAPH
from graphprox.io.folder.graph_folder import GraphFolder

OLD, NEW = synthetic(nodes=140), synthetic(nodes=140, random_state=1)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_new_and_empty_folders_are_claimed(tmp_path):
    for folder in (tmp_path, tmp_path / "a" / "b"):
        with claim_graph_folder(folder) as work:
            assert work.is_dir()
            work.rmdir()
    assert not (tmp_path / "a" / "b").exists()


@pytest.mark.parametrize("name", ["notes.txt", "part-1", "parts", GRAPH, "indptr.npy"])
@pytest.mark.parametrize("overwrite", [False, True])
def test_folder_of_another_program_is_rejected_in_any_case(tmp_path, name, overwrite):
    (tmp_path / name).write_text("{}")
    with pytest.raises(WriteError, match=rf"new, empty, or that of an older graph; .* has {name}"):
        GraphFolder.create(tmp_path, OLD, overwrite=overwrite)
    assert names(tmp_path) == [name]


def test_files_of_file_managers_do_not_matter(tmp_path):
    (tmp_path / ".DS_Store").touch()
    assert GraphFolder.create(tmp_path, OLD).num_nodes == 140


def test_graph_is_not_replaced_unasked(tmp_path):
    GraphFolder.create(tmp_path, OLD)
    with pytest.raises(WriteError, match=r"must not be replaced unasked; .* set overwrite=True to replace it"):
        GraphFolder.create(tmp_path, NEW)
    assert GraphFolder.open(tmp_path).checksum == graph_checksum(OLD)


@pytest.mark.parametrize("num_parts", [1, 3])
def test_graph_is_replaced_if_asked_and_leaves_nothing(tmp_path, num_parts):
    GraphFolder.create(tmp_path, OLD, num_parts=2)
    for graph in (NEW, NEW, OLD):
        folder = GraphFolder.create(tmp_path, graph, num_parts=num_parts, overwrite=True)
        assert GraphFolder.open(tmp_path).checksum == graph_checksum(graph)
        assert names(tmp_path) == sorted([GRAPH, *(part.path.name for part in folder.parts)])


def test_damaged_graph_is_replaced_if_asked(tmp_path):
    GraphFolder.create(tmp_path, OLD)
    (tmp_path / GRAPH).write_text("{")
    GraphFolder.create(tmp_path, NEW, overwrite=True)
    GraphFolder.open(tmp_path).verify()


def test_working_folder_of_a_killed_process_is_removed(tmp_path):
    (tmp_path / WORK / "part-00000").mkdir(parents=True)
    (tmp_path / "part-00000-0123abcd").mkdir()
    folder = GraphFolder.create(tmp_path, OLD)
    assert names(tmp_path) == sorted([GRAPH, folder.parts[0].path.name])


class _Killed(BaseException):
    pass


@pytest.mark.parametrize("step", range(6))
def test_older_graph_is_there_until_the_new_one_is(tmp_path, monkeypatch, step):
    GraphFolder.create(tmp_path, OLD, num_parts=2)
    calls = iter(range(100))

    def interrupt(call):
        def wrapper(*arguments, **options):
            if next(calls) == step:
                raise _Killed
            return call(*arguments, **options)

        return wrapper

    for owner, name in ((os, "rename"), (os, "replace"), (claims.shutil, "rmtree")):
        monkeypatch.setattr(owner, name, interrupt(getattr(owner, name)))
    with suppress(_Killed):
        GraphFolder.create(tmp_path, NEW, num_parts=2, overwrite=True)
    monkeypatch.undo()
    folder = GraphFolder.open(tmp_path)
    folder.verify()
    assert folder.checksum in (graph_checksum(OLD), graph_checksum(NEW))
    GraphFolder.create(tmp_path, NEW, num_parts=2, overwrite=True)
    assert len(names(tmp_path)) == 3


def test_failing_write_is_one_sentence_and_leaves_the_older_graph(tmp_path, monkeypatch):
    GraphFolder.create(tmp_path, OLD)

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("graphprox.io.folder.create.write_graph_rows", fail)
    with pytest.raises(WriteError, match=r"cannot be written: No space left on device"):
        GraphFolder.create(tmp_path, NEW, overwrite=True)
    assert GraphFolder.open(tmp_path).checksum == graph_checksum(OLD)
    with pytest.raises(WriteError, match="No space left on device"):
        GraphFolder.create(tmp_path / "new", NEW)
    with pytest.raises(ReadError, match="must be a graph folder"):
        GraphFolder.open(tmp_path / "new")
