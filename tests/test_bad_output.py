"""The program itself, in a process of its own: one sentence and 2 where it cannot work, and nothing half-written."""

from __future__ import annotations

import errno
import gzip
import os
import pickle
import resource
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

PROGRAM = Path(sys.executable).with_name("graphprox")
GRAPH = "synthetic:nodes=300"


def run(*arguments, **options):
    environment = {key: value for key, value in os.environ.items() if key != "GRAPHPROX_DATA"}
    return subprocess.run(
        [*map(str, arguments)], capture_output=True, text=True, env=environment, timeout=60, **options
    )


def sentence(child):
    """The one sentence of a program that ended with 2 and printed nothing else."""
    assert (child.returncode, child.stdout) == (2, ""), child.stderr
    (line,) = (line for line in child.stderr.splitlines() if not line.startswith("warning: "))
    assert line.startswith("error: ")
    return line


def contents(folder):
    return {path.name: path.is_dir() or path.read_text() for path in folder.iterdir()}


@pytest.mark.parametrize(
    ("out", "words"),
    [("missing/f.json", "No such file"), ("folder", "it is a directory"), ("a.txt/f.json", "Not a directory")],
)
def test_output_that_has_no_place(tmp_path, out, words):
    (tmp_path / "folder").mkdir()
    (tmp_path / "a.txt").write_text("older")
    assert words in sentence(run(PROGRAM, "info", GRAPH, "--out", tmp_path / out))
    assert contents(tmp_path) == {"folder": True, "a.txt": "older"}


def test_a_disk_that_is_full(tmp_path):
    (tmp_path / "f.json").write_text("older")

    def leave_no_room():
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

    said = sentence(run(PROGRAM, "info", GRAPH, "--out", tmp_path / "f.json", preexec_fn=leave_no_room))
    assert f"f.json cannot be written: {os.strerror(errno.EFBIG)}; nothing is left of it" in said
    assert contents(tmp_path) == {"f.json": "older"}


# Another user may not reach the interpreter's modules, so the program becomes that user once it has all it needs.
AS_NOBODY = """
import os, sys
from contextlib import redirect_stdout, suppress
from io import StringIO
from graphprox.cli import main
arguments, sys.argv = sys.argv, sys.argv[:3]
with redirect_stdout(StringIO()), suppress(SystemExit):
    main()
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
sys.argv = arguments
main()
"""


def test_a_folder_that_is_not_writable():
    with TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o555)
        child = run(sys.executable, "-c", AS_NOBODY, "info", GRAPH, "--out", folder / "f.json", cwd="/")
        folder.chmod(0o755)
        assert contents(folder) == {}
    assert "f.json cannot be written: Permission denied; nothing is left of it" in sentence(child)


def test_output_that_can_be_written(tmp_path):
    child = run(PROGRAM, "info", GRAPH, "--out", tmp_path / "f.json", "--json")
    assert child.returncode == 0
    assert contents(tmp_path) == {"f.json": child.stdout}


class Trap:
    def __reduce__(self):
        return os.mkdir, ("SPRUNG",)


EDGES = "".join(f"{i},{i * 7919 % 3001}\n" for i in range(3000)).encode()


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("e.csv", b"a,b\nb,c,1\n", "row 2 has 3"),
        ("e.csv.gz", gzip.compress(EDGES, mtime=0)[:900], "ends in the middle"),
        ("g.npz", bytes(range(256)) * 9, "as its name says"),
        ("g.npz", pickle.dumps(Trap()), "as its name says"),
        ("[bold]e.csv", b"", "[bold]e.csv must hold data"),
    ],
)
def test_input_that_cannot_work(tmp_path, name, content, words):
    (tmp_path / name).write_bytes(content)
    assert words in sentence(run(PROGRAM, "info", name, cwd=tmp_path))
    assert not (tmp_path / "SPRUNG").exists()
