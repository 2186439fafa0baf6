"""The code that the README and the documentation show is executed, and prints what they say it prints."""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from graphprox import METHODS
from graphprox.cli.app import app
from graphprox.nn.encoders import ENCODERS
from graphprox.nn.objectives import OBJECTIVES
from graphprox.views import VIEWS

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"

GUIDE = sorted(str(path.relative_to(ROOT)) for path in DOCS.glob("guide/*.md"))
# Pages whose commands run as they stand, on the built-in graph. The other pages show commands that need a benchmark
# data set or take long: only their Python runs, and their commands are checked for known options.
TOURS = ["README.md", "docs/index.md", *GUIDE, "docs/data.md", "docs/evaluation.md", "docs/views.md"]
# Generated pages show no code; the examples of docs/extending.md are files, which the tests of extensions run.
SKIPPED = {"docs/extending.md", *(str(path.relative_to(ROOT)) for path in DOCS.glob("reproduction/**/*.md"))}
PAGES = sorted({str(path.relative_to(ROOT)) for path in DOCS.rglob("*.md")} - SKIPPED - {*TOURS})

# Commands that set up an environment, which the tests already run in.
SETUP = ("git", "make", "pip", "python")


@pytest.fixture
def own_registries(monkeypatch):
    """Forget what a page registers when the test ends."""
    for registry in (METHODS, VIEWS, ENCODERS, OBJECTIVES):
        len(registry)  # loads everything
        for name in ("_entries", "_origins"):
            monkeypatch.setattr(registry, name, dict(getattr(registry, name)))


def code_blocks(page: str) -> list[tuple[str, str]]:
    """Return language and text of each fenced block, except those below a comment ``<!-- not executed: reason -->``."""
    text = (ROOT / page).read_text()
    blocks = re.findall(r"^(<!-- not executed: .+ -->\n+)?```(\w+)\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    return [(language, block) for skipped, language, block in blocks if not skipped]


def test_readme_starts_with_the_two_commands():
    language, block = code_blocks("README.md")[0]
    commands = [line.removeprefix("$ ").partition("#")[0].split() for line in block.splitlines()]
    assert language == "console"
    assert commands == [["make", "demo"], ["make", "test"]]


@pytest.mark.parametrize("page", TOURS)
@pytest.mark.usefixtures("no_data", "own_registries")
def test_tour_prints_what_it_shows(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for language, block in code_blocks(page):
        if language == "python":
            run_python(page, block, names)
        elif language == "console":
            run_commands(block)


@pytest.mark.parametrize(
    "page", [page for page in PAGES if any(language == "python" for language, _ in code_blocks(page))]
)
@pytest.mark.usefixtures("no_data", "own_registries")
def test_python_of_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for language, block in code_blocks(page):
        if language == "python":
            run_python(page, block, names)


def run_python(page: str, block: str, names: dict[str, object]) -> None:
    """Execute a block; if it prints, comments on lines of their own, or behind a ``print(...)``, are what it prints."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(block, page, "exec"), names)
    if printed.getvalue():
        shown = re.findall(r"^(?:print\(.*\)  )?# (.*)$", block, flags=re.MULTILINE)
        assert printed.getvalue().splitlines() == shown


def run_commands(block: str) -> None:
    """Run each line that starts with a $; the lines below it are its output, errors and warnings included."""
    for command, shown in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, flags=re.MULTILINE):
        program, *arguments = command.partition("  #")[0].split()
        if program in SETUP:
            continue
        done = subprocess.run(
            [Path(sys.executable).with_name(program), *arguments],
            env={**os.environ, "COLUMNS": "100"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert done.returncode == (2 if "error:" in shown else 0), done.stdout
        if shown:
            printed = "".join(line.rstrip() + "\n" for line in done.stdout.splitlines())
            assert without_measurements(printed) == without_measurements(shown)


def without_measurements(text: str) -> str:
    """Mask seconds, losses and percentages, which differ between machines."""
    return re.sub(r"loss [\d.]+|[\d.]+ s\b|([\d.]+ ± )?[\d.]+ %", "?", text)


@pytest.mark.parametrize("page", sorted({*TOURS, *PAGES, "docs/extending.md"}))
def test_commands_of_page_have_known_options(page):
    """Every ``graphprox COMMAND --option`` in code exists, in blocks and in running text."""
    commands = typer.main.get_command(app).commands
    text = (ROOT / page).read_text()
    shown = [*re.findall(r"^\$ (graphprox .*)$", text, flags=re.MULTILINE), *re.findall(r"`(graphprox [^`]+)`", text)]
    wrong = []
    for line in shown:
        words = line.replace("\n", " ").partition("  #")[0].split()[1:]
        name = next((word for word in words if not word.startswith("-")), None)
        if name is None or not name.islower():  # the program's own options, or a placeholder
            continue
        known = {option for parameter in getattr(commands.get(name), "params", ()) for option in parameter.opts}
        known |= {option for p in getattr(commands.get(name), "params", ()) for option in p.secondary_opts}
        known |= {option for p in typer.main.get_command(app).params for option in p.opts} | {"--help"}
        options = [re.split(r"[=,;:.)]", word)[0] for word in words if word.startswith("--")]
        if name not in commands or not known.issuperset(options):
            wrong.append(line)
    assert wrong == []
