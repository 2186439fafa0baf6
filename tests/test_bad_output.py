"""The program in a separate process: invalid input and output give exit code 2, one sentence and no partial file."""

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


def message_of(child):
    """Return the message of a program that ended with exit code 2 and printed nothing else."""
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
def test_output_path_that_cannot_exist_is_rejected(tmp_path, out, words):
    (tmp_path / "folder").mkdir()
    (tmp_path / "a.txt").write_text("older")
    assert words in message_of(run(PROGRAM, "info", GRAPH, "--out", tmp_path / out))
    assert contents(tmp_path) == {"folder": True, "a.txt": "older"}


def test_full_disk_leaves_the_older_file(tmp_path):
    (tmp_path / "f.json").write_text("older")

    def limit_file_size():
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

    message = message_of(run(PROGRAM, "info", GRAPH, "--out", tmp_path / "f.json", preexec_fn=limit_file_size))
    assert f"f.json cannot be written: {os.strerror(errno.EFBIG)}; no partial file is left" in message
    assert contents(tmp_path) == {"f.json": "older"}


# Another user may not be able to read the modules of the interpreter, so the user changes once they are imported.
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


def test_folder_that_is_not_writable_is_rejected():
    with TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o555)
        child = run(sys.executable, "-c", AS_NOBODY, "info", GRAPH, "--out", folder / "f.json", cwd="/")
        folder.chmod(0o755)
        assert contents(folder) == {}
    assert "f.json cannot be written: Permission denied; no partial file is left" in message_of(child)


def test_written_output_equals_the_printed_one(tmp_path):
    child = run(PROGRAM, "info", GRAPH, "--out", tmp_path / "f.json", "--json")
    assert child.returncode == 0
    assert contents(tmp_path) == {"f.json": child.stdout}


class Trap:
    """Creates a directory when it is unpickled."""

    def __reduce__(self):
        return os.mkdir, ("SPRUNG",)


EDGES = "".join(f"{i},{i * 7919 % 3001}\n" for i in range(3000)).encode()


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("e.csv", b"a,b\nb,c,1\n", "line 2 has 3"),
        ("e.csv.gz", gzip.compress(EDGES, mtime=0)[:900], "ends early"),
        ("g.npz", bytes(range(256)) * 9, "as its name indicates"),
        ("g.npz", pickle.dumps(Trap()), "as its name indicates"),
        ("[bold]e.csv", b"", "[bold]e.csv must contain data"),
    ],
)
def test_invalid_input_is_rejected(tmp_path, name, content, words):
    (tmp_path / name).write_bytes(content)
    assert words in message_of(run(PROGRAM, "info", name, cwd=tmp_path))
    assert not (tmp_path / "SPRUNG").exists()


# -- names that are not text ----------------------------------------------------------------------------------------

ASCII = {"PYTHONIOENCODING": "ascii", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
STRICT = {"PYTHONIOENCODING": "utf-8:strict"}


@pytest.mark.parametrize("environment", [ASCII, STRICT], ids=["ascii", "utf-8"])
@pytest.mark.parametrize("ending", [b"parquet", b"csv", b"npy"])
def test_names_that_are_not_valid_text_are_written_and_printed(tmp_path, ending, environment):
    out, model = b"v\xff\xfe." + ending, b"m\xff"
    program = [sys.executable, "-m", "graphprox", "--quiet", "embed", "synthetic:nodes=140", "--dim", "4"]
    command = [*program, "--out", out, "--model", model, *(["--json"] if ending == b"csv" else [])]
    child = subprocess.run(command, capture_output=True, cwd=tmp_path, env=os.environ | environment, timeout=60)
    assert (child.returncode, child.stderr) == (0, b"")
    assert b"udcff" in child.stdout
    assert {os.fsencode(path.name) for path in tmp_path.iterdir()} == {out, model}
    again = subprocess.run(command, capture_output=True, cwd=tmp_path, env=os.environ | environment, timeout=60)
    assert (again.returncode, again.stderr.count(b"\n")) == (2, 1)
    assert b"a model must not be replaced unasked; m\\udcff has one" in again.stderr
