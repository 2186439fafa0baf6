"""Tables: their layouts, and the same table as Markdown, LaTeX and CSV."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from graphprox.errors import ParameterError
from reproduction.report.cells import BEST, Cell, Column, Cost, Findings, Place, TrainingCurve, cost_of
from reproduction.training import is_floor

METRIC_NAMES = {
    "macro_f1": "macro-F1",
    "val_accuracy": "validation accuracy",
    "auc": "AUC",
    "ap": "AP",
    "cosine_auc": "AUC",
    "cosine_ap": "AP",
}
NONE = "–"  # in place of a number
STAR = "★"
PAPER_ONLY = "paper only, not run here"
MAX_COLUMNS = 6  # of a page's width; beyond, each metric has its own table
Columns = Mapping[Column, Sequence[Cell]]


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


# -- results ----------------------------------------------------------------------------------------------------------


def result_tables(findings: Findings, columns: Columns) -> list[ResultTable]:
    """Lay out rows against data sets and metrics, with the paper's figures below ours.

    Returns
    -------
    list of ResultTable
        One table, or one for each metric if it would be too wide.
    """
    metrics = findings.experiment.metrics
    groups = [metrics] if len(columns) <= MAX_COLUMNS else [(metric,) for metric in metrics]
    return [_result_table(findings, {at: cells for at, cells in columns.items() if at[1] in group}) for group in groups]


def _result_table(findings: Findings, columns: Columns) -> ResultTable:
    rows = _by_row(columns)
    lines = [_row_line(findings, row[0], (result_cell(findings, cell) for cell in row)) for row in rows if row[0].row]
    lines += _rank_line(findings, columns)
    reported = [row for row in rows if not row[0].row and any(cell.reported for cell in row)]
    if reported:
        lines.append(TableLine(PAPER_ONLY))
        lines += [TableLine(row[0].title, tuple(map(_reported_cell, row))) for row in reported]
    return _table(findings, columns, lines)


def _rank_line(findings: Findings, columns: Columns) -> list[TableLine]:
    """Rank the reference in each column among the measured rows, leaving out other rows of its method."""
    rows, reference = findings.experiment.all_rows, findings.experiment.reference
    if reference not in rows:
        return []
    left_out = {name for name, row in rows.items() if row.method == rows[reference].method} - {reference}
    ranked = [[cell for cell in cells if cell.measured and cell.row not in left_out] for cells in columns.values()]
    if not any(len(cells) > 2 for cells in ranked):
        return []
    return [TableLine(f"{rows[reference].title}'s rank", tuple(_rank_cell(reference, cells) for cells in ranked))]


def _rank_cell(reference: str, cells: Sequence[Cell]) -> TableCell:
    mean = next((cell.mean for cell in cells if cell.row == reference), None)
    if mean is None:
        return TableCell(NONE)
    return TableCell(f"{1 + sum(cell.mean > mean for cell in cells)} of {len(cells)}")


def ablation_tables(findings: Findings, columns: Columns) -> list[ResultTable]:
    """Lay out variants against data sets, with the difference from the first variant."""
    base = {at: cells[0] for at, cells in columns.items()}
    # A star marks a difference from the reference, and would mislead beside differences from another row.
    starred = findings.experiment.reference == next(iter(findings.experiment.all_rows))

    def variant_cell(at: Column, cell: Cell) -> TableCell:
        below = tuple(filter(None, (_from_base(cell, base[at]), _runs_note(findings, cell))))
        return TableCell(_mean_text(cell), cell.rank, cell.star and starred, below)

    lines = [
        _row_line(findings, row[0], (variant_cell(at, cell) for at, cell in zip(columns, row, strict=True)))
        for row in _by_row(columns)
        if row[0].row
    ]
    return [_table(findings, columns, lines)]


def homophily_tables(findings: Findings, columns: Columns) -> list[ResultTable]:
    """Lay out data sets against the graph and its views."""
    metrics = findings.experiment.metrics
    lines = [
        TableLine(dataset, tuple(_homophily_cell(findings, *columns[dataset, metric]) for metric in metrics))
        for dataset in findings.datasets
    ]
    return [ResultTable("Share of edges within a class", tuple(map(Heading, metrics)), tuple(lines))]


def grid_tables(findings: Findings, columns: Columns) -> list[ResultTable]:
    """Lay out a table for each data set, with one setting down and the other across.

    Raises
    ------
    ParameterError
        If the grid of the experiment does not have two settings.
    """
    experiment = findings.experiment
    if len(experiment.grid) != 2:
        raise ParameterError(
            f"a heatmap must have a grid of two settings; {experiment.name} has {len(experiment.grid)}"
        )
    tables = []
    (down, row_values), (across, column_values) = experiment.grid.items()
    for (dataset, metric), cells in columns.items():
        if findings.is_run(dataset):
            at = cells_by_settings(findings, cells)
            lines = [
                TableLine(str(one), tuple(result_cell(findings, at[one, other]) for other in column_values))
                for one in row_values
            ]
            headings = tuple(Heading(str(other)) for other in column_values)
            caption = f"{dataset}: {metric_name(metric)} in percent{_repetitions(findings, {(dataset, metric): cells})}"
            tables.append(ResultTable(caption, headings, tuple(lines), corner=f"{down} ↓ {across} →"))
    return tables


def cells_by_settings(findings: Findings, cells: Sequence[Cell]) -> dict[tuple[Any, ...], Cell]:
    """Return the cells of a grid by the values of its settings."""
    experiment = findings.experiment
    changes = {name: row.set for name, row in experiment.all_rows.items()}
    return {tuple(changes[cell.row].get(setting) for setting in experiment.grid): cell for cell in cells if cell.row}


def curve_tables(curves: Mapping[Place, TrainingCurve]) -> list[ResultTable]:
    """Lay out a table for each data set, with accuracy and loss of each row at each mark."""
    tables = []
    for dataset in dict.fromkeys(dataset for dataset, _ in curves):
        of_dataset = [curve for (of, _), curve in curves.items() if of == dataset]
        headings = tuple(Heading(curve.title, name) for curve in of_dataset for name in ("accuracy", "loss"))
        lines = [
            TableLine(str(mark), tuple(cell for curve in of_dataset for cell in _curve_cells(curve, mark)))
            for mark in of_dataset[0].marks
        ]
        runs, _, splits = of_dataset[0].accuracy.shape
        caption = f"{dataset}: loss, and accuracy in percent, {count_of(splits, 'split')} × {count_of(runs, 'run')}"
        tables.append(ResultTable(caption, headings, tuple(lines), corner="epochs"))
    return tables


def _curve_cells(curve: TrainingCurve, mark: int) -> tuple[TableCell, TableCell]:
    mean, deviation = curve.accuracy_at(mark)
    best = max(curve.accuracy_at(each)[0] for each in curve.marks)
    loss = curve.loss_at(mark)
    accuracy = TableCell(format_mean(mean, deviation, 2), BEST if round(mean, 2) == round(best, 2) else 0)
    return accuracy, TableCell(NONE if loss is None else f"{loss:.3f}")


def cost_table(findings: Findings) -> ResultTable | None:
    """Lay out the costs of trained rows against data sets; None if nothing was trained."""
    datasets = [dataset for dataset in findings.datasets if findings.is_run(dataset)]
    rows = {name: row.title for name, row in findings.experiment.all_rows.items() if not is_floor(row.method)}
    costs = {row: [cost_of(findings, dataset, row) for dataset in datasets] for row in rows}
    threads = sorted({each for of_row in costs.values() for cost in of_row if cost for each in cost.threads})
    if not threads:
        return None
    lines = [TableLine(rows[row], tuple(map(_cost_cell, of_row))) for row, of_row in costs.items() if any(of_row)]
    on_threads = " or ".join(count_of(each, "thread") for each in threads)
    caption = f"Median processor time of one training run, and peak memory of the process, on {on_threads}"
    return ResultTable(caption, tuple(map(Heading, datasets)), tuple(lines))


def _cost_cell(cost: Cost | None) -> TableCell:
    if cost is None:
        return TableCell(NONE)
    digits = 0 if cost.seconds >= 100 else 1 if cost.seconds >= 1 else 2
    seconds = f"{cost.seconds:,.{digits}f} s"
    return TableCell(seconds if cost.megabytes is None else f"{seconds}, {cost.megabytes:,.0f} MB")


# -- parts of a layout ------------------------------------------------------------------------------------------------


def _table(findings: Findings, columns: Columns, lines: Sequence[TableLine]) -> ResultTable:
    return ResultTable(
        _caption(findings, columns), _headings(findings, columns), tuple(lines), notes=_star_note(findings, lines)
    )


def _by_row(columns: Columns) -> list[tuple[Cell, ...]]:
    return list(zip(*columns.values(), strict=True))


def _headings(findings: Findings, columns: Columns) -> tuple[Heading, ...]:
    several = len({metric for _, metric in columns}) > 1
    return tuple(
        Heading(
            dataset,
            metric_name(metric) if several else "",
            "" if findings.is_run(dataset) else findings.why_not_run(dataset),
        )
        for dataset, metric in columns
    )


def _star_note(findings: Findings, lines: Sequence[TableLine]) -> tuple[str, ...]:
    """Explain the star if the table has any."""
    if not any(cell.star for line in lines for cell in line.cells):
        return ()
    experiment = findings.experiment
    return (f"{STAR} differs significantly from {experiment.all_rows[experiment.reference].title}.",)


def _row_line(findings: Findings, first: Cell, cells: Iterable[TableCell]) -> TableLine:
    """Make the line of a row, with a note if its number of training runs is its own."""
    seeds = findings.experiment.all_rows[first.row].seeds
    return TableLine(first.title, tuple(cells), f"{count_of(seeds, 'run')} each" if isinstance(seeds, int) else "")


def _caption(findings: Findings, columns: Columns) -> str:
    names = list(dict.fromkeys(metric_name(metric) for _, metric in columns))
    joined = " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
    return f"{joined[0].upper()}{joined[1:]} in percent{_repetitions(findings, columns)}"


def _repetitions(findings: Findings, columns: Columns) -> str:
    """Return the end of a caption: the numbers of splits and of training runs."""
    splits = {cell.values.shape[1] for cells in columns.values() for cell in cells if cell.measured}
    numbers = " or ".join(map(str, sorted(splits)))
    return f", {numbers} split{'' if splits == {1} else 's'} × {count_of(findings.experiment.seeds, 'run')}"


def result_cell(findings: Findings, cell: Cell) -> TableCell:
    """Show the mean, the paper's figure below it, and the number of training runs if some are missing."""
    below = tuple(filter(None, (_paper_text(cell), _runs_note(findings, cell))))
    return TableCell(_mean_text(cell), cell.rank, cell.star, below)


def _reported_cell(cell: Cell) -> TableCell:
    if cell.reported is None:
        return TableCell(NONE)
    return TableCell(format_mean(cell.reported.mean, cell.reported.deviation, cell.digits))


def _homophily_cell(findings: Findings, cell: Cell) -> TableCell:
    if findings.is_run(cell.dataset):
        return result_cell(findings, cell)
    return TableCell(findings.why_not_run(cell.dataset), below=tuple(filter(None, (_paper_text(cell),))))


def _mean_text(cell: Cell) -> str:
    return format_mean(cell.mean, cell.deviation, cell.digits) if cell.measured else NONE


def _paper_text(cell: Cell) -> str:
    if cell.reported is None:
        return ""
    reported = f"{cell.reported.mean:.{cell.digits}f}"
    return reported if cell.difference is None else f"{reported}, {format_difference(cell.difference, cell.digits)}"


def _from_base(cell: Cell, base: Cell) -> str:
    if not cell.measured or not base.measured:
        return ""
    return "base" if cell.row == base.row else format_difference(round(cell.mean - base.mean, cell.digits) + 0.0)


def _runs_note(findings: Findings, cell: Cell) -> str:
    """Return the number of training runs if it is not that of the table, or why there are none.

    A data set that was not run at all has a note in its heading instead.
    """
    row = findings.experiment.all_rows[cell.row]
    if not findings.is_run(cell.dataset):
        return ""
    if len(cell.values) < cell.expected:
        return f"{len(cell.values)} of {count_of(cell.expected, 'run')}"
    if isinstance(row.seeds, Mapping) and cell.dataset in row.seeds:
        return count_of(cell.expected, "run")
    return row.without.get(cell.dataset, "")


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


# -- CSV --------------------------------------------------------------------------------------------------------------

CELL_FIELDS = (
    *("dataset", "row", "metric", "mean", "deviation", "values", "runs", "splits", "paper", "paper_deviation"),
    *("difference", "rank", "star", "seconds", "peak_memory_mb", "command"),
)
CURVE_FIELDS = ("dataset", "row", "epoch", "accuracy", "deviation", "loss", "runs", "splits", "command")


def cells_to_csv(findings: Findings, columns: Columns) -> str:
    """Write a line for each cell; those of the paper only have no values and no command."""
    cells = (cell for of_column in columns.values() for cell in of_column if cell.row or cell.reported)
    return _to_csv(CELL_FIELDS, (_cell_fields(findings, cell) for cell in cells))


def curves_to_csv(findings: Findings, curves: Mapping[Place, TrainingCurve]) -> str:
    """Write a line for each mark of each training curve."""
    return _to_csv(
        CURVE_FIELDS,
        (
            [
                dataset,
                curve.title,
                mark,
                *(_number(value, 2) for value in curve.accuracy_at(mark)),
                _number(curve.loss_at(mark), 4),
                len(curve.accuracy),
                curve.accuracy.shape[2],
                findings.commands[dataset, row],
            ]
            for (dataset, row), curve in curves.items()
            for mark in curve.marks
        ),
    )


def _cell_fields(findings: Findings, cell: Cell) -> list[object]:
    runs, splits = cell.values.shape if cell.measured else (0, 0)
    reported, cost = cell.reported, cost_of(findings, cell.dataset, cell.row)
    return [
        cell.dataset,
        cell.title,
        cell.metric,
        _number(cell.mean if cell.measured else None, cell.digits),
        _number(cell.deviation if cell.measured else None, cell.digits),
        cell.values.size,
        runs,
        splits,
        _number(reported.mean if reported else None, cell.digits),
        _number(reported.deviation if reported else None, cell.digits),
        _number(cell.difference, cell.digits),
        cell.rank or "",
        "yes" if cell.star else "",
        _number(cost.seconds if cost else None, 1),
        _number(cost.megabytes if cost else None, 0),
        findings.commands.get((cell.dataset, cell.row), ""),
    ]


def _number(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:.{digits}f}"


def _to_csv(fields: Sequence[str], lines: Iterable[Sequence[object]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(fields)
    writer.writerows(lines)
    return text.getvalue()
