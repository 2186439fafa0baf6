"""An embedding folder is replaced as a whole, only if asked for, and never with files of other programs in it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from graphprox import Embedding, WriteError, read_embedding
from graphprox.io.embedding_folder import embedding_claims as claims
from graphprox.io.embedding_writer import check_writable
from graphprox.io.storage.locks import hold_lock

OLDER, NEWER = (Embedding(np.full((4, 2), value, np.float32)) for value in (1, 2))


def first_value(folder):
    return read_embedding(folder).vectors[0, 0]


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def folder(tmp_path):
    OLDER.save(tmp_path / "v")
    return tmp_path / "v"


@pytest.mark.parametrize("write", [NEWER.save, check_writable])
def test_embedding_is_replaced_only_if_asked_for(folder, write):
    with pytest.raises(WriteError, match=r"must not be replaced unasked; .* set overwrite=True to replace it, or name"):
        write(folder)
    assert first_value(folder) == 1
    write(folder, overwrite=True)
    assert first_value(folder) == (1 if write is check_writable else 2)
    assert (names(folder), names(folder.parent)) == (["_embedding.json", "part-00000.parquet"], ["v"])


@pytest.mark.parametrize("foreign", ["notes.txt", "part-00001.parquet", ".hidden"])
@pytest.mark.parametrize("write", [NEWER.save, check_writable])
def test_folder_with_files_of_other_programs_is_not_used(folder, write, foreign):
    (folder / foreign).write_text("mine")
    before = names(folder)
    with pytest.raises(WriteError, match=f"must be new, empty, or that of an older one; .* has {foreign}, which"):
        write(folder, overwrite=True)
    assert (names(folder), (folder / foreign).read_text()) == (before, "mine")


def test_parts_without_a_description_are_of_another_program(tmp_path):
    (tmp_path / "part-00000.parquet").write_text("mine")
    with pytest.raises(WriteError, match=r"has part-00000\.parquet, which is not a file of it"):
        NEWER.save(tmp_path, overwrite=True)


def test_damaged_embedding_can_be_replaced(folder):
    (folder / "_embedding.json").write_text("{")
    NEWER.save(folder, overwrite=True)
    assert first_value(folder) == 2


def test_files_of_file_managers_and_permissions_are_kept(folder):
    (folder / ".gitignore").write_text("*")
    folder.chmod(0o700)
    NEWER.save(folder, overwrite=True)
    assert (first_value(folder), (folder / ".gitignore").read_text()) == (2, "*")
    assert folder.stat().st_mode & 0o777 == 0o700


def test_empty_folder_and_link_are_written_to(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    NEWER.save(tmp_path / "link")
    assert first_value(tmp_path / "real") == 2
    assert (tmp_path / "link").is_symlink()


def test_mount_point_is_rejected(tmp_path, monkeypatch):
    monkeypatch.setattr(Path, "is_mount", lambda path: path.name == "out")
    with pytest.raises(WriteError, match=r"must not be a mount point; .*out is one: name a folder inside it"):
        check_writable(tmp_path / "out")


def test_failure_between_two_renames_restores_the_older_folder(folder, monkeypatch):
    rename = Path.rename

    def fail(path, target):
        if path == claims.staging_folder(folder):
            raise OSError(5, "Input/output error")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", fail)
    with pytest.raises(WriteError, match="v cannot be written: Input/output error"):
        NEWER.save(folder, overwrite=True)
    assert (first_value(folder), names(folder.parent)) == (1, ["v"])


KILLED = """
import os, sys
from pathlib import Path
import numpy as np
from graphprox import Embedding
from graphprox.io.embedding_folder import embedding_claims as claims, folder_writer
folder, where = Path(sys.argv[1]), sys.argv[2]
rename, older = Path.rename, claims._older_folder(folder)
def kill(*_):
    os.kill(os.getpid(), 9)
def rename_and_kill(path, target):
    rename(path, target)
    if where == ("between" if target == older else "after"):
        kill()
Path.rename = rename_and_kill
if where == "writing":
    folder_writer.write_description = kill
Embedding(np.full((4, 2), 2, np.float32)).save(folder, overwrite=True)
"""


@pytest.mark.parametrize(("where", "expected"), [("writing", 1), ("between", 1), ("after", 2)])
def test_what_a_killed_process_has_left_is_cleaned_up(folder, where, expected):
    child = subprocess.run([sys.executable, "-c", KILLED, folder, where], timeout=60, check=False)
    assert child.returncode == -9
    assert len(names(folder.parent)) > 1
    with pytest.raises(WriteError, match="must not be replaced unasked"):  # of the folder under its own name
        check_writable(folder)
    assert (first_value(folder), names(folder.parent)) == (expected, ["v"])


def test_one_process_writes_at_a_time(folder):
    script = """
import sys
from pathlib import Path
from graphprox.io.storage.locks import hold_lock
with hold_lock(Path(sys.argv[1]), beside=True):
    print("held", flush=True)
    sys.stdin.read()
"""
    command = [sys.executable, "-c", script, folder]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        holder.stdout.readline()
        with pytest.raises(WriteError, match=r"by one process at a time; process .* name another folder"):
            NEWER.save(folder, overwrite=True)
        holder.kill()
    NEWER.save(folder, overwrite=True)
    assert first_value(folder) == 2


def test_lock_of_a_replaced_folder_is_beside_it(folder):
    with hold_lock(folder, beside=True):
        assert names(folder) == ["_embedding.json", "part-00000.parquet"]
        assert len(names(folder.parent)) == 2
