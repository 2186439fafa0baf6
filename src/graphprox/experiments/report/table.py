"""Table: what stands in which place, and the same as Markdown and as LaTeX."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

STAR = "★"
_IN_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    "−": "$-$",
    "×": r"$\times$",
    "↓": r"$\downarrow$",
    "→": r"$\rightarrow$",
    "–": "--",
    STAR: r"$^{\star}$",
} | {each: f"\\{each}" for each in "&%$#_{}"}


@dataclass(frozen=True)
class Entry:
    """What stands in a cell: a text, its place in the column (1 champion, 2 runner-up), small lines below it."""

    text: str
    place: int = 0
    star: bool = False
    below: tuple[str, ...] = ()


@dataclass(frozen=True)
class Heading:
    """What stands above a column: a data set and perhaps a metric, and a note if there is one."""

    group: str
    name: str = ""
    note: str = ""


@dataclass(frozen=True)
class Line:
    """A title, a small note below it, and an entry for each column; without entries, the title of what follows."""

    title: str
    entries: tuple[Entry, ...] = ()
    note: str = ""


@dataclass(frozen=True)
class Table:
    """A table with a caption, and notes below it."""

    caption: str
    headings: tuple[Heading, ...]
    lines: tuple[Line, ...]
    corner: str = ""
    notes: tuple[str, ...] = ()


# -- Markdown -------------------------------------------------------------------------------------------------------


def as_markdown(table: Table) -> str:
    """The table as GitHub renders it: the champion bold, the runner-up slanted, small lines small.

    >>> table = Table("Accuracy", (Heading("Cora"),), (Line("FT-GCL", (Entry("84.2", place=1, below=("84.1",)),)),))
    >>> print(as_markdown(table), end="")
    **Accuracy**
    <BLANKLINE>
    |  | Cora |
    |---|---|
    | FT-GCL | **84.2**<br><sub>84.1</sub> |
    """
    headings = [_stacked(each) for each in table.headings]
    rows = [[_plain(table.corner), *headings], *(_markdown_row(line, len(headings)) for line in table.lines)]
    written = [f"| {' | '.join(row)} |" for row in rows]
    written.insert(1, "|" + "---|" * len(rows[0]))
    notes = [f"\n{note}" for note in table.notes]
    return "\n".join([f"**{_plain(table.caption)}**", "", *written, *notes]) + "\n"


def _markdown_row(line: Line, width: int) -> list[str]:
    if not line.entries:
        return [f"_{_plain(line.title)}_", *[""] * width]
    return [
        _small(_plain(line.title), line.note),
        *(_small(_emphasised(entry), *entry.below) for entry in line.entries),
    ]


def _stacked(heading: Heading) -> str:
    return _small("<br>".join(_plain(name) for name in (heading.group, heading.name) if name), heading.note)


def _emphasised(entry: Entry) -> str:
    mark = {1: "**", 2: "_"}.get(entry.place, "")
    return f"{mark}{_plain(entry.text)}{mark}{f' {STAR}' if entry.star else ''}"


def _small(text: str, *lines: str) -> str:
    return "<br>".join([text, *(f"<sub>{_plain(line)}</sub>" for line in lines if line)])


def _plain(text: str) -> str:
    """A text that Markdown leaves as it is."""
    return re.sub(r"([\\|*_<`])", r"\\\1", text)


# -- LaTeX ----------------------------------------------------------------------------------------------------------


def as_latex(table: Table, label: str) -> str:
    """The table for a paper that uses booktabs: the champion bold, the runner-up underlined, small lines below."""
    columns = len(table.headings)
    inside = [row for line in table.lines for row in _latex_rows(line, columns)]
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{_latex(table.caption)}.}}",
            rf"\label{{{label}}}",
            rf"\begin{{tabular}}{{l{'c' * columns}}}",
            r"\toprule",
            *_latex_head(table),
            r"\midrule",
            *inside,
            r"\bottomrule",
            r"\end{tabular}",
            *[f"\n{_latex(note)}" for note in table.notes],
            r"\end{table}",
            "",
        ]
    )


def _latex_head(table: Table) -> list[str]:
    notes = _latex_small([each.note for each in table.headings])
    if not any(each.name for each in table.headings):
        return [_latex_row(table.corner, [_latex(each.group) for each in table.headings]), *notes]
    groups = [(group, len(list(members))) for group, members in groupby(table.headings, key=lambda each: each.group)]
    above = [rf"\multicolumn{{{width}}}{{c}}{{{_latex(group)}}}" for group, width in groups]
    names = [_latex(each.name) for each in table.headings]
    return [_latex_row("", above), _latex_row(table.corner, names), *notes]


def _latex_rows(line: Line, columns: int) -> list[str]:
    if not line.entries:
        return [r"\midrule", rf"\multicolumn{{{columns + 1}}}{{l}}{{\textit{{{_latex(line.title)}}}}} \\"]
    row = _latex_row(line.title, [_latex_entry(entry) for entry in line.entries])
    return [row, *_latex_small([", ".join(entry.below) for entry in line.entries], line.note)]


def _latex_row(title: str, entries: Sequence[str]) -> str:
    return " & ".join([_latex(title), *entries]) + r" \\"


def _latex_entry(entry: Entry) -> str:
    command = {1: r"\textbf{%s}", 2: r"\underline{%s}"}.get(entry.place, "%s")
    return command % _latex(entry.text) + (_latex(STAR) if entry.star else "")


def _latex_small(texts: Sequence[str], title: str = "") -> list[str]:
    """A row of small texts, or no row where there are none."""
    first, *rest = (rf"{{\scriptsize {_latex(text)}}}" if text else "" for text in (title, *texts))
    return [" & ".join([first, *rest]) + r" \\"] if any((title, *texts)) else []


def _latex(text: str) -> str:
    return "".join(_IN_LATEX.get(each, each) for each in text)
