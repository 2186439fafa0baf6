"""A damaged file of any format gives a valid result or a GraphproxError: no other exception, crash or output."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from fuzz.damage import attempt
from fuzz.examples import DATABASES, EMBEDDINGS, FILES, GRAPHS, check_sound, read_example

FOLDER = Path(__file__).parents[1]
SLOW = [name for name in FILES if name in DATABASES or name.endswith(".duckdb")]  # to open
QUICK = [name for name in FILES if name not in SLOW]


def read_damaged(log, names, *, first, count):
    """Read damaged files in another process; returns nothing if all is well."""
    path = [str(FOLDER), str(FOLDER.parent / "src")]
    code = f"import sys; sys.path[:0] = {path!r}; from fuzz.batch import main; main()"
    command = [sys.executable, "-X", "faulthandler", "-W", "ignore", "-c", code, str(first), str(count), str(log)]
    done = subprocess.run([*command, *names], capture_output=True, text=True, timeout=3000, check=False)
    lines = log.read_text().splitlines()
    failed = [line for line in range(len(lines)) if lines[line].startswith("FAILED")]
    assert not failed, "\n".join(lines[failed[0] - 1 : failed[0] + 60])
    assert done.returncode == 0, f"{lines[-1]}\n{done.stderr}"
    assert lines[-1] == "finished"
    assert done.stdout == ""
    assert done.stderr == ""


@pytest.mark.parametrize("name", FILES)
def test_an_intact_file_is_read(name, tmp_path):
    found = attempt(read_example, name, FILES[name], tmp_path)
    assert not isinstance(found, Exception)
    if name in GRAPHS:
        assert found.num_edges == 4
    if name in EMBEDDINGS:
        assert found.vectors.shape == (5, 3)


@pytest.mark.parametrize("name", FILES)
def test_a_truncated_file_is_read_or_rejected(name, tmp_path):
    content = FILES[name]
    for number in range(6):
        found = attempt(read_example, name, content[: len(content) * number // 6], tmp_path)
        check_sound(found)
    check_sound(attempt(read_example, name, content + content, tmp_path))


def test_a_damaged_file_is_read_or_rejected(tmp_path):
    read_damaged(tmp_path / "log", QUICK + SLOW, first=0, count=25)


@pytest.mark.slow
@pytest.mark.parametrize("first", [1000, 2000])
def test_many_damaged_files_are_read_or_rejected(tmp_path, first):
    read_damaged(tmp_path / "log", QUICK, first=first, count=500)
    read_damaged(tmp_path / "log", SLOW, first=first, count=150)
