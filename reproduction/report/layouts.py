"""Layouts: the tables that show the findings of an experiment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from graphprox.errors import ParameterError
from graphprox.methods import METHODS
from reproduction.report.cells import BEST, Cell, Column, Cost, Findings, Place, TrainingCurve, cost_of
from reproduction.report.tables import (
    NONE,
    PAPER_ONLY,
    STAR,
    Heading,
    ResultTable,
    TableCell,
    TableLine,
    count_of,
    format_difference,
    format_mean,
    metric_name,
)

MAX_COLUMNS = 6  # of a page's width; beyond, each metric has its own table
Columns = Mapping[Column, Sequence[Cell]]


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
    is_trained = {name: METHODS[row.method].info.group != "floor" for name, row in findings.experiment.all_rows.items()}
    rows = {name: row.title for name, row in findings.experiment.all_rows.items() if is_trained[name]}
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
