"""Files are written atomically: on any failure, older files are unchanged and no temporary file is left."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import textwrap
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest

from graphprox import ReadError, WriteError, write_embedding
from graphprox.io.storage.files import atomic_write, check_readable, ending, reason

ENDINGS = ("parquet", "npz", "csv", "npy", "txt", "tsv")
VECTORS = np.random.default_rng(0).normal(size=(2000, 16)).astype(np.float32)
NO_SPACE = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture
def older(tmp_path):
    """A folder with an embedding in every format, and its contents."""
    folder = tmp_path / "out"
    folder.mkdir()
    for each in ENDINGS:
        write_embedding(folder / f"v.{each}", VECTORS[:3])
    return folder, contents(folder)


# -- the disk is full -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("each", ENDINGS)
@pytest.mark.parametrize("what", ["os.fsync", "pathlib.Path.replace", "tempfile.mkstemp"])
def test_a_failing_system_call_leaves_older_files_unchanged(older, monkeypatch, each, what):
    folder, before = older

    def fail(*_, **__):
        raise NO_SPACE

    monkeypatch.setattr(what, fail)
    with pytest.raises(
        WriteError, match=rf"v\.{each} cannot be written: No space left on device; no partial file is left"
    ):
        write_embedding(folder / f"v.{each}", VECTORS)
    monkeypatch.undo()
    assert contents(folder) == before


@pytest.mark.parametrize("old", [True, False])
def test_both_files_are_restored_if_the_second_cannot_be_replaced(older, tmp_path, monkeypatch, old):
    folder, before = older if old else (tmp_path, {"out": None})
    replace, calls = Path.replace, []

    def second_fails(self, target):
        calls.append(target)
        if len(calls) == 2:
            raise NO_SPACE
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", second_fails)
    with pytest.raises(WriteError, match="No space left"):
        write_embedding(folder / "v.tsv", VECTORS)
    monkeypatch.undo()
    assert {path.name for path in folder.iterdir()} == set(before)
    if old:
        assert contents(folder) == before


@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
def test_an_interrupted_write_leaves_no_temporary_file(tmp_path, error):
    path = tmp_path / "a.txt"
    path.write_text("older")

    def write_half():
        with atomic_write(path, tmp_path / "b.txt") as (first, _):
            first.write_text("half")
            raise error

    with pytest.raises(error):
        write_half()
    assert contents(tmp_path) == {"a.txt": b"older"}


def in_child(folder, script, *arguments):
    """Run a script in a child process, with ``folder`` and ``VECTORS`` defined, and return the lines that it prints."""
    preamble = f"""
        import os, resource, sys
        import numpy as np
        from pathlib import Path
        from graphprox import GraphproxError, write_embedding
        folder = Path({str(folder)!r})
        VECTORS = np.random.default_rng(0).normal(size=(2000, 16)).astype(np.float32)
        """
    script = textwrap.dedent(preamble) + textwrap.dedent(script)
    child = subprocess.run([sys.executable, "-c", script, *arguments], capture_output=True, text=True, timeout=60)
    assert child.returncode == 0, child.stderr
    return child.stdout.strip().splitlines()


def test_a_file_size_limit_leaves_older_files_unchanged(older):
    folder, before = older
    lines = in_child(
        folder,
        """
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))  # output is written to a pipe, which has no limit
        for each in sys.argv[1:]:
            try:
                write_embedding(folder / f"v.{each}", VECTORS)
            except GraphproxError as error:
                print(type(error).__name__, error)
        """,
        *ENDINGS,
    )
    assert lines == [
        f"WriteError {folder}/v.{each} cannot be written: File too large; no partial file is left" for each in ENDINGS
    ]
    assert contents(folder) == before


# -- a killed process -----------------------------------------------------------------------------------------------


def test_left_temporary_files_are_removed_by_the_next_write(tmp_path):
    left = [tmp_path / f".v.tsv.{each}.part" for each in ("abcd1234", "x_y_z_00")]
    others = [tmp_path / name for name in (".v.tsv.part", ".v.tsv.mine.part", ".w.tsv.abcd1234.part", "v.tsv.part")]
    for path in [*left, *others]:
        path.write_text("half")
    write_embedding(tmp_path / "v.tsv", VECTORS[:3])
    assert {path.name for path in tmp_path.iterdir()} == {"v.tsv", "v.metadata.tsv", *(path.name for path in others)}


def test_temporary_files_of_a_live_process_are_kept(tmp_path):
    with atomic_write(tmp_path / "v.csv") as (staged,):
        in_child(tmp_path, "write_embedding(folder / 'v.csv', VECTORS[:3])")
        assert staged.exists()
        staged.write_text("ours")
    assert contents(tmp_path) == {"v.csv": b"ours"}


@pytest.mark.parametrize("names", [["a"], ["a", "b"], ["a", "sub/b", "c"]])
def test_folders_are_flushed_after_files_are_renamed(tmp_path, monkeypatch, names):
    (tmp_path / "sub").mkdir()
    events = []
    fsync, replace = os.fsync, Path.replace

    def record_fsync(descriptor):
        folders = [path for path in (tmp_path, tmp_path / "sub") if os.path.samestat(path.stat(), os.fstat(descriptor))]
        events.append(("flush", *folders) if folders else ("flush", "file"))
        fsync(descriptor)

    def record_replace(self, target):
        events.append(("rename", target))
        return replace(self, target)

    monkeypatch.setattr(os, "fsync", record_fsync)
    monkeypatch.setattr(Path, "replace", record_replace)
    targets = [tmp_path / name for name in names]
    with atomic_write(*targets) as staged:
        for path in staged:
            path.write_text("new")
    folders = dict.fromkeys(target.parent for target in targets[:-1])
    assert events == [
        *[("flush", "file")] * len(names),
        *[("rename", target) for target in targets[:-1]],
        *[("flush", folder) for folder in folders],
        ("rename", targets[-1]),
        ("flush", targets[-1].parent),
    ]


def test_folder_that_cannot_be_flushed_is_no_error(tmp_path, monkeypatch):
    fsync = os.fsync

    def fail(descriptor):
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", fail)
    write_embedding(tmp_path / "v.csv", VECTORS[:3])
    assert (tmp_path / "v.csv").exists()


# -- invalid folders ------------------------------------------------------------------------------------------------

AS_NOBODY = """
if os.geteuid() == 0:
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
os.chdir("/")
"""


@pytest.fixture
def shared_folder():
    """A folder that other users can access, unlike pytest's temporary folders."""
    with TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


def test_a_read_only_folder_is_reported(shared_folder):
    (shared_folder / "v.csv").write_text("older")
    shared_folder.chmod(0o555)
    lines = in_child(
        shared_folder,
        AS_NOBODY
        + textwrap.dedent("""
        for name in ("v.csv", "new.npy", "new.tsv"):
            try:
                write_embedding(folder / name, VECTORS)
            except GraphproxError as error:
                print(error)
        """),
    )
    shared_folder.chmod(0o755)
    assert lines == [
        f"{shared_folder}/{name} cannot be written: Permission denied; no partial file is left"
        for name in ("v.csv", "new.npy", "new.tsv")
    ]
    assert contents(shared_folder) == {"v.csv": b"older"}


def test_a_read_only_file_is_not_replaced(shared_folder):
    shared_folder.chmod(0o777)
    (shared_folder / "v.csv").write_text("older")
    (shared_folder / "v.csv").chmod(0o444)
    script = "try:\n    write_embedding(folder / 'v.csv', VECTORS)\nexcept GraphproxError as error:\n    print(error)\n"
    assert "Permission denied" in in_child(shared_folder, AS_NOBODY + script)[0]
    assert contents(shared_folder) == {"v.csv": b"older"}


def test_an_inaccessible_folder_is_reported(shared_folder):
    (shared_folder / "locked").mkdir(mode=0o700)
    (shared_folder / "locked" / "e.csv").write_text("a,b\n")
    script = """
from graphprox import read_graph
for act in (lambda path: write_embedding(path, VECTORS), read_graph):
    try:
        act(folder / "locked" / "e.csv")
    except GraphproxError as error:
        print(error)
"""
    if os.geteuid() != 0:
        (shared_folder / "locked").chmod(0)
    lines = in_child(shared_folder, AS_NOBODY + script)
    (shared_folder / "locked").chmod(0o700)
    assert len(lines) == 2
    assert all("Permission denied" in line for line in lines)


@pytest.mark.parametrize(
    ("name", "words"),
    [("missing/v.csv", "No such file"), ("a.txt/v.csv", "Not a directory"), ("n" * 300 + ".csv", "File name too long")],
)
def test_an_invalid_folder_is_reported(tmp_path, name, words):
    (tmp_path / "a.txt").write_text("a file")
    with pytest.raises(WriteError, match=f"cannot be written: {words}"):
        write_embedding(tmp_path / name, VECTORS)
    assert contents(tmp_path) == {"a.txt": b"a file"}


@pytest.mark.parametrize(("name", "folder"), [("v.csv", "v.csv"), ("v.tsv", "v.tsv"), ("v.tsv", "v.metadata.tsv")])
def test_a_directory_is_not_replaced(tmp_path, name, folder):
    (tmp_path / folder).mkdir()
    with pytest.raises(WriteError, match="it is a directory: name a file inside it"):
        write_embedding(tmp_path / name, VECTORS)
    assert [path.name for path in tmp_path.iterdir()] == [folder]


def test_devices_and_pipes_are_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "v.csv")
    for path in (tmp_path / "v.csv", Path("/dev/null")):
        with pytest.raises(WriteError, match="regular file"), atomic_write(path):
            pass
        assert not path.is_file()


# -- written files --------------------------------------------------------------------------------------------------


def test_a_new_file_has_default_permissions(tmp_path):
    (tmp_path / "plain").write_text("")
    write_embedding(tmp_path / "v.csv", VECTORS)
    assert (tmp_path / "v.csv").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_an_older_file_keeps_its_permissions(tmp_path):
    (tmp_path / "v.csv").write_text("secret")
    (tmp_path / "v.csv").chmod(0o600)
    write_embedding(tmp_path / "v.csv", VECTORS)
    assert stat.S_IMODE((tmp_path / "v.csv").stat().st_mode) == 0o600


def test_a_symbolic_link_is_kept(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "v.csv").symlink_to(tmp_path / "elsewhere" / "real.csv")
    write_embedding(tmp_path / "v.csv", VECTORS)
    assert (tmp_path / "v.csv").is_symlink()
    assert (tmp_path / "elsewhere" / "real.csv").read_text().startswith('"id"')


def test_long_file_names_are_supported(tmp_path):
    path = tmp_path / ("ü" * 125 + ".csv")
    write_embedding(path, VECTORS)
    assert list(tmp_path.iterdir()) == [path]


# -- reading --------------------------------------------------------------------------------------------------------


def test_unreadable_files_are_reported(tmp_path):
    (tmp_path / "empty").write_text("")
    expected = {"missing": "does not exist", ".": "it is a directory", "empty": "it is empty", "n" * 300: "too long"}
    for name, words in expected.items():
        with pytest.raises(ReadError, match=words):
            check_readable(tmp_path / name)


@pytest.mark.parametrize(
    ("name", "known"),
    [("a.csv", ".csv"), ("A.CSV.GZ", ".csv"), ("a.b.npz", ".npz"), ("a", ""), ("a.gz", ""), (".csv", "")],
)
def test_ending_ignores_case_and_gz(name, known):
    assert ending(name) == known


@pytest.mark.parametrize(
    ("error", "clause"),
    [
        (KeyError("id"), "'id' is missing"),
        (EOFError(), "it ends early"),
        (OSError(errno.ENOSPC, "Error writing bytes. Detail: 28"), "No space left on device"),
        (ValueError("first\nline. And more."), "first line"),
        (ValueError(), "ValueError"),
    ],
)
def test_reason_is_the_first_sentence(error, clause):
    assert reason(error) == clause


def test_files_are_written_where_the_operating_system_has_no_fchmod(tmp_path, monkeypatch):
    monkeypatch.delattr(os, "fchmod")  # as on Windows
    (tmp_path / "v.csv").write_text("older")
    (tmp_path / "v.csv").chmod(0o600)
    write_embedding(tmp_path / "v.csv", VECTORS)
    assert (tmp_path / "v.csv").read_text().startswith('"id"')
    assert stat.S_IMODE((tmp_path / "v.csv").stat().st_mode) == 0o600
