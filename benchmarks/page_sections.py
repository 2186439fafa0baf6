"""Sections of pages that a command writes from records, between two marks, so that no figure is typed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"


@dataclass(frozen=True)
class Section:
    """A part of a page that a command writes.

    Parameters
    ----------
    module : str
        Module of the command ``python -m MODULE update``, which the marks name.
    page : Path
    """

    module: str
    page: Path

    @property
    def begin(self) -> str:
        """The mark before the section."""
        return f"<!-- written by python -m {self.module} update -->"

    @property
    def end(self) -> str:
        """The mark after the section."""
        return f"<!-- end of what python -m {self.module} update has written -->"

    def on(self, page: Path) -> Section:
        """Return the same section of another page."""
        return replace(self, page=page)

    def read(self) -> str:
        """Return what the page has between the marks."""
        return self.page.read_text(encoding="utf-8").partition(self.begin + "\n\n")[2].partition("\n" + self.end)[0]

    def write(self, text: str) -> None:
        """Replace what the page has between the marks, and nothing else."""
        before, begin, rest = self.page.read_text(encoding="utf-8").partition(self.begin)
        _, end, after = rest.partition(self.end)
        if not (begin and end):
            sys.exit(f"{self.page} must have the lines {self.begin} and {self.end}: add them where the section belongs")
        self.page.write_text(f"{before}{self.begin}\n\n{text}\n{self.end}{after}", encoding="utf-8")


def run_command(
    arguments: Sequence[str], section: Section, *, measure: Callable[[], None], describe: Callable[[], str]
) -> None:
    """Measure, or print a section, or write it to its page.

    Parameters
    ----------
    arguments : sequence of str
        ``measure``, ``update`` or nothing.
    section : Section
    measure : callable
        Measures what the records lack.
    describe : callable
        Returns the section.
    """
    if list(arguments) == ["measure"]:
        measure()
    elif list(arguments) == ["update"]:
        section.write(describe())
    elif not arguments:
        print(describe(), end="")
    else:
        sys.exit(f"usage: python -m {section.module} [measure | update]")


def make_table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table in Markdown."""
    titles = list(header)
    lines = [titles, ["---"] * len(titles), *map(list, rows)]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)
