"""Results as CSV: a line for each cell of a table, or for each mark of a training curve."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence

from reproduction.report.cells import Cell, Findings, Place, TrainingCurve, cost_of
from reproduction.report.layouts import Columns

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
