"""Tables as values, and the same table as Markdown and as LaTeX."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

METRIC_NAMES = {
    "macro_f1": "macro-F1",
    "val_accuracy": "validation accuracy",
    "auc": "AUC",
    "ap": "AP",
    "cosine_auc": "AUC by cosine",
    "cosine_ap": "AP by cosine",
    "nmi": "NMI",
    "sim_at_5": "Sim@5",
}
NONE = "–"  # in place of a number
STAR = "★"
PAPER_ONLY = "paper only, not run here"


@dataclass(frozen=True)
class TableCell:
    """The content of a cell.

    Parameters
    ----------
    text : str
    rank : int, default=0
        1 for the best of the column, 2 for the second best, otherwise 0.
    star : bool, default=False
        Whether it differs significantly from the reference.
    below : tuple of str
        Lines in small print below the text.
    """

    text: str
    rank: int = 0
    star: bool = False
    below: tuple[str, ...] = ()


@dataclass(frozen=True)
class Heading:
    """The heading of a column: a group such as a data set, a name such as a metric, and a note."""

    group: str
    name: str = ""
    note: str = ""


@dataclass(frozen=True)
class TableLine:
    """A title with a note and a cell for each column; without cells, a subheading."""

    title: str
    cells: tuple[TableCell, ...] = ()
    note: str = ""


@dataclass(frozen=True)
class ResultTable:
    """A table with a caption and notes.

    Parameters
    ----------
    caption : str
    headings : tuple of Heading
    lines : tuple of TableLine
    corner : str, default=""
        Heading of the column of titles.
    notes : tuple of str
    """

    caption: str
    headings: tuple[Heading, ...]
    lines: tuple[TableLine, ...]
    corner: str = ""
    notes: tuple[str, ...] = ()


# -- numbers as text --------------------------------------------------------------------------------------------------


def metric_name(metric: str) -> str:
    """Return the name of a metric in print."""
    return METRIC_NAMES.get(metric, metric.replace("_", " "))


def format_mean(mean: float, deviation: float | None, digits: int) -> str:
    """Format a mean and, if there is one, its standard deviation.

    Examples
    --------
    >>> format_mean(84.071, 0.58, 2), format_mean(84.071, None, 2)
    ('84.07 ± 0.58', '84.07')
    """
    return f"{mean:.{digits}f}" + ("" if deviation is None else f" ± {deviation:.{digits}f}")


def format_difference(difference: float, digits: int = 2) -> str:
    """Format a difference with its sign, using a minus of the width of the plus.

    Examples
    --------
    >>> format_difference(0.143), format_difference(-1.5), format_difference(0.0)
    ('+0.14', '−1.50', '0.00')
    """
    return f"{difference:+.{digits}f}".replace("-", "−") if difference else f"{0:.{digits}f}"


def count_of(count: int, noun: str) -> str:
    """Return a count with its noun.

    Examples
    --------
    >>> count_of(1, "run"), count_of(10, "run")
    ('1 run', '10 runs')
    """
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


# -- Markdown ---------------------------------------------------------------------------------------------------------


def to_markdown(table: ResultTable) -> str:
    """Format a table as Markdown: the best in bold, the second best in italics.

    Examples
    --------
    >>> line = TableLine("FT-GCL", (TableCell("84.2", rank=1, below=("84.1",)),))
    >>> print(to_markdown(ResultTable("Accuracy", (Heading("Cora"),), (line,))), end="")
    **Accuracy**
    <BLANKLINE>
    |  | Cora |
    |---|---|
    | FT-GCL | **84.2**<br><sub>84.1</sub> |
    """
    headings = [_markdown_heading(each) for each in table.headings]
    rows = [[_escape_markdown(table.corner), *headings], *(_markdown_row(line, len(headings)) for line in table.lines)]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    lines.insert(1, "|" + "---|" * len(rows[0]))
    notes = [f"\n{note}" for note in table.notes]
    return "\n".join([f"**{_escape_markdown(table.caption)}**", "", *lines, *notes]) + "\n"


def _markdown_row(line: TableLine, columns: int) -> list[str]:
    if not line.cells:
        return [f"_{_escape_markdown(line.title)}_", *[""] * columns]
    return [
        _with_small_print(_escape_markdown(line.title), line.note),
        *(_with_small_print(_markdown_cell(cell), *cell.below) for cell in line.cells),
    ]


def _markdown_heading(heading: Heading) -> str:
    names = "<br>".join(_escape_markdown(name) for name in (heading.group, heading.name) if name)
    return _with_small_print(names, heading.note)


def _markdown_cell(cell: TableCell) -> str:
    mark = {1: "**", 2: "_"}.get(cell.rank, "")
    return f"{mark}{_escape_markdown(cell.text)}{mark}{f' {STAR}' if cell.star else ''}"


def _with_small_print(text: str, *lines: str) -> str:
    return "<br>".join([text, *(f"<sub>{_escape_markdown(line)}</sub>" for line in lines if line)])


def _escape_markdown(text: str) -> str:
    return re.sub(r"([\\|*_<`])", r"\\\1", text)


# -- LaTeX ------------------------------------------------------------------------------------------------------------

_LATEX = {
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


def to_latex(table: ResultTable, label: str) -> str:
    """Format a table as LaTeX with booktabs: the best in bold, the second best underlined."""
    columns = len(table.headings)
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{_escape_latex(table.caption)}.}}",
            rf"\label{{{label}}}",
            rf"\begin{{tabular}}{{l{'c' * columns}}}",
            r"\toprule",
            *_latex_headings(table),
            r"\midrule",
            *(row for line in table.lines for row in _latex_rows(line, columns)),
            r"\bottomrule",
            r"\end{tabular}",
            *[f"\n{_escape_latex(note)}" for note in table.notes],
            r"\end{table}",
            "",
        ]
    )


def _latex_headings(table: ResultTable) -> list[str]:
    notes = _latex_small_print([each.note for each in table.headings])
    if not any(each.name for each in table.headings):
        return [_latex_row(table.corner, [_escape_latex(each.group) for each in table.headings]), *notes]
    groups = [(group, len(list(members))) for group, members in groupby(table.headings, key=lambda each: each.group)]
    above = [rf"\multicolumn{{{width}}}{{c}}{{{_escape_latex(group)}}}" for group, width in groups]
    names = [_escape_latex(each.name) for each in table.headings]
    return [_latex_row("", above), _latex_row(table.corner, names), *notes]


def _latex_rows(line: TableLine, columns: int) -> list[str]:
    if not line.cells:
        return [r"\midrule", rf"\multicolumn{{{columns + 1}}}{{l}}{{\textit{{{_escape_latex(line.title)}}}}} \\"]
    row = _latex_row(line.title, [_latex_cell(cell) for cell in line.cells])
    return [row, *_latex_small_print([", ".join(cell.below) for cell in line.cells], line.note)]


def _latex_row(title: str, cells: Sequence[str]) -> str:
    return " & ".join([_escape_latex(title), *cells]) + r" \\"


def _latex_cell(cell: TableCell) -> str:
    command = {1: r"\textbf{%s}", 2: r"\underline{%s}"}.get(cell.rank, "%s")
    return command % _escape_latex(cell.text) + (_escape_latex(STAR) if cell.star else "")


def _latex_small_print(texts: Sequence[str], title: str = "") -> list[str]:
    """Return a row in small print, or no row if all texts are empty."""
    first, *rest = (rf"{{\scriptsize {_escape_latex(text)}}}" if text else "" for text in (title, *texts))
    return [" & ".join([first, *rest]) + r" \\"] if any((title, *texts)) else []


def _escape_latex(text: str) -> str:
    return "".join(_LATEX.get(each, each) for each in text)
