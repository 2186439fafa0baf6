"""The code in the README and the documentation is executed, and its output is that shown."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import sys
from pathlib import Path

import pytest
import typer

from graphprox import METHODS
from graphprox.cli import main
from graphprox.cli.app import app
from graphprox.nn.encoders import ENCODERS
from graphprox.nn.objectives import OBJECTIVES
from graphprox.views import VIEWS

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"

GUIDE = sorted(str(path.relative_to(ROOT)) for path in DOCS.glob("guide/*.md"))
# Pages whose commands run unchanged, on the built-in graph. The other pages show commands that need a benchmark
# data set or take long: only their Python runs, and their commands are checked for known options.
TOURS = ["README.md", "docs/index.md", *GUIDE, "docs/data.md", "docs/evaluation.md", "docs/views.md"]
# Generated pages show no code; the examples of docs/extending.md are files, which the tests of extensions run.
SKIPPED = {"docs/extending.md", *(str(path.relative_to(ROOT)) for path in DOCS.glob("reproduction/**/*.md"))}
PAGES = sorted({str(path.relative_to(ROOT)) for path in DOCS.rglob("*.md")} - SKIPPED - {*TOURS})

# Commands that set up an environment, which the tests already run in.
SETUP = ("git", "make", "pip", "python")


@pytest.fixture
def own_registries(monkeypatch):
    """Remove what a page registers when the test ends."""
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


def languages_run(page: str) -> set[str]:
    """Return the languages of the blocks of a page that are executed."""
    return {language for language, _ in code_blocks(page)} & ({"python", "console"} if page in TOURS else {"python"})


@pytest.mark.parametrize("page", [page for page in (*TOURS, *PAGES) if languages_run(page)])
@pytest.mark.usefixtures("no_data", "own_registries")
def test_page_prints_what_it_shows(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    # A slow machine prints lines about its progress, which a page does not show.
    monkeypatch.setattr("graphprox.cli.progress_display.FIRST", 3600.0)
    names: dict[str, object] = {}
    for language, block in code_blocks(page):
        if language == "python":
            printed, shown = run_python(page, block, names)
            assert printed == shown
        elif language == "console" and page in TOURS:
            for command, shown in commands_of(block):
                code, printed = run_command(command, monkeypatch)
                assert code == (2 if "error:" in shown else 0), printed
                assert without_measurements(printed if shown else "") == without_measurements(shown)


def run_python(page: str, block: str, names: dict[str, object]) -> tuple[list[str], list[str]]:
    """Execute a block; return the lines that it prints, and those that it shows.

    If it prints, comments on separate lines, or after a ``print(...)``, are the expected output.
    """
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(block, page, "exec", dont_inherit=True), names)
    lines = printed.getvalue().splitlines()
    return lines, re.findall(r"^(?:print\(.*\)  )?# (.*)$", block, flags=re.MULTILINE) if lines else []


def commands_of(block: str) -> list[tuple[str, str]]:
    """Return each line that starts with a $, except setup, and its output: the lines below it."""
    found = re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, flags=re.MULTILINE)
    return [(command, shown) for command, shown in found if not command.startswith(SETUP)]


def run_command(command: str, monkeypatch: pytest.MonkeyPatch) -> tuple[int, str]:
    """Run the program in this process, as starting others takes seconds; return exit code, and stdout with stderr."""
    arguments = shlex.split(command.partition("  #")[0])
    assert arguments[0] == "graphprox"
    monkeypatch.setattr(sys, "argv", arguments)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed), pytest.raises(SystemExit) as stopped:
        main()
    return stopped.value.code or 0, "".join(line.rstrip() + "\n" for line in printed.getvalue().splitlines())


def without_measurements(text: str) -> str:
    """Mask seconds, memory, losses, trustworthiness and percentages, which differ between machines."""
    return re.sub(r"loss [\d.]+|trust: [\d.]+|[\d.]+ s\b|[\d,]+ MB|([\d.]+ ± )?[\d.]+ %", "?", text)


@pytest.mark.parametrize("page", sorted({*TOURS, *PAGES, "docs/extending.md"}))
def test_commands_of_page_have_known_options(page):
    """Every ``graphprox COMMAND --option`` in code blocks and inline code exists."""
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
