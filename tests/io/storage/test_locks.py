"""Locks on outputs: one process holds a lock, a killed one does not keep it, and none leaves a file.

Covers graphprox._utils.flock.
"""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from graphprox import GraphproxWarning, WriteError
from graphprox._utils import flock
from graphprox.io.storage.locks import LOCK, hold_lock, lock_path

HOLD = """
import sys
from pathlib import Path
from graphprox.io.storage.locks import hold_lock
with hold_lock(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture(params=["file", "folder"])
def path(request, tmp_path):
    found = tmp_path / "output"
    if request.param == "folder":
        found.mkdir()
    return found


@pytest.fixture
def holder(path):
    """A process that holds the lock until its input ends."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", HOLD, str(path)], **pipes) as process:
        assert process.stdout.readline() == "held\n"
        yield process
        process.stdin.close()


def names(path):
    return [each.name for each in path.parent.rglob("*") if each != path]


def test_lock_is_held_in_the_block_and_leaves_no_file(path):
    with hold_lock(path):
        assert names(path) == [lock_path(path).name]
    assert names(path) == []


def test_other_process_stops_with_a_sentence_that_names_the_holder(path, holder):
    words = rf"output must be written by one process at a time; process {holder.pid} is writing it: wait until it ends"
    with pytest.raises(WriteError, match=words), hold_lock(path):
        pytest.fail("two processes hold the lock")


def test_lock_is_free_after_its_holder_ended(path, holder):
    holder.stdin.close()
    assert holder.wait(timeout=30) == 0
    assert names(path) == []
    with hold_lock(path):
        pass


def test_killed_process_keeps_no_lock(path, holder):
    holder.kill()
    holder.wait(timeout=30)
    assert names(path) == [lock_path(path).name]  # the file is left, but is not locked
    with hold_lock(path):
        assert lock_path(path).read_text() == f"{os.getpid()}\n"
    assert names(path) == []


def test_of_many_processes_one_at_a_time_holds_the_lock(tmp_path):
    script = """
import os, sys, time
from pathlib import Path
from graphprox import WriteError
from graphprox.io.storage.locks import hold_lock
folder = Path(sys.argv[1])
for _ in range(100):
    try:
        with hold_lock(folder / "v.csv"):
            os.close(os.open(folder / "inside", os.O_CREAT | os.O_EXCL))
            os.unlink(folder / "inside")
    except WriteError:
        pass
"""
    started = [subprocess.Popen([sys.executable, "-c", script, str(tmp_path)]) for _ in range(3)]
    assert [process.wait(timeout=60) for process in started] == [0, 0, 0]
    assert list(tmp_path.iterdir()) == []


def test_thread_can_hold_a_lock_again_but_others_cannot(path):
    def hold():
        with pytest.raises(WriteError, match="another thread is writing it"), hold_lock(path):
            pass

    with hold_lock(path):
        with hold_lock(path):
            pass
        assert lock_path(path).exists()
        with ThreadPoolExecutor(1) as pool:
            pool.submit(hold).result(timeout=30)
    assert threading.active_count() >= 1
    assert not lock_path(path).exists()


def test_links_and_relative_names_have_the_lock_of_their_target(tmp_path, monkeypatch):
    (tmp_path / "link").symlink_to(tmp_path / "v.csv")
    monkeypatch.chdir(tmp_path)
    assert lock_path(tmp_path / "link") == lock_path(tmp_path / "v.csv") == lock_path(tmp_path.joinpath(".", "v.csv"))


def test_names_that_begin_alike_have_locks_of_their_own(tmp_path):
    one, other = (tmp_path / f"{'n' * 200}{each}.csv" for each in "ab")
    with hold_lock(one), hold_lock(other):
        assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP])
def test_file_system_without_locks_is_a_warning(path, monkeypatch, number):
    def fail(*_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(flock.fcntl, "flock", fail)
    with pytest.warns(GraphproxWarning, match="has no locks: do not write it from another process"), hold_lock(path):
        assert names(path) == []


def test_file_of_a_lock_that_is_a_link_is_not_followed(tmp_path):
    (tmp_path / "mine").write_text("mine")
    lock_path(tmp_path / "v.csv").symlink_to(tmp_path / "mine")
    with pytest.raises(WriteError, match="cannot be written"), hold_lock(tmp_path / "v.csv"):
        pass
    assert (tmp_path / "mine").read_text() == "mine"


def test_folder_of_a_lock_has_it_inside(tmp_path):
    assert lock_path(tmp_path) == tmp_path / LOCK
