"""The tour of the README is executed, block by block, and prints what it says it prints."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from contextlib import redirect_stdout
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", README, flags=re.MULTILINE | re.DOTALL)


def test_the_two_commands_come_first_and_exist():
    language, block = BLOCKS[0]
    commands = [line.removeprefix("$ ").partition("#")[0].split() for line in block.splitlines()]
    assert language == "console"
    assert commands == [["make", "demo"], ["make", "test"]]
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
    assert {"demo", "test", "lint", "bench", "clean"} <= set(targets)
    assert "make test" in (ROOT / ".ci" / "run").read_text().splitlines()


def test_the_tour_runs(tmp_path, monkeypatch, no_data):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for language, block in BLOCKS[1:]:
        if language == "python":
            printed = io.StringIO()
            with redirect_stdout(printed):
                exec(compile(block, "README.md", "exec"), names)
            assert printed.getvalue().splitlines() == re.findall(r"^# (.*)$", block, flags=re.MULTILINE)
        else:
            run_commands(block)
    assert (tmp_path / "vectors.parquet").exists()


def test_the_page_on_views_runs(no_data):
    names: dict[str, object] = {}
    page = (ROOT / "docs" / "views.md").read_text()
    for block in re.findall(r"^```python\n(.*?)^```$", page, flags=re.MULTILINE | re.DOTALL):
        exec(compile(block, "views.md", "exec"), names)
    assert names["edges"].shape == (2, 5040)
    assert names["data"].topology_edge_index.shape == (2, 5040)
    assert names["ranking"].neighbors.shape == (840, 5)


def run_commands(block: str) -> None:
    """Run each line after a $; the lines below it are what it prints, complaints included."""
    for command, shown in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, flags=re.MULTILINE):
        program, *arguments = command.split()
        done = subprocess.run(
            [Path(sys.executable).with_name(program), *arguments],
            env={**os.environ, "COLUMNS": "100"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        printed = "".join(line.rstrip() + "\n" for line in done.stdout.splitlines())
        assert unmeasured(printed) == unmeasured(shown)
        assert done.returncode == (2 if "error:" in shown else 0)


def unmeasured(text: str) -> str:
    """The text without seconds, losses and shares, which round in their own way on another machine."""
    return re.sub(r"loss [\d.]+|[\d.]+ s\b|[\d.]+ %", "?", text)


@pytest.mark.parametrize(
    "page", ["README.md", "CONTRIBUTING.md", *(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))]
)
def test_links_lead_somewhere(page):
    text = (ROOT / page).read_text()
    links = [link for link in re.findall(r"\]\(([^)]+)\)", text) if not link.startswith("http")]
    missing = [link for link in links if not (ROOT / page).parent.joinpath(link.partition("#")[0]).exists()]
    assert missing == []
