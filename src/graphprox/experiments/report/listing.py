"""Listings: the numbers of a table or a figure as CSV, one to a line."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence

from graphprox.experiments.report.cells import CHAMPION, RUNNER_UP, Cell, Column
from graphprox.experiments.report.costs import cost_of
from graphprox.experiments.report.curves import Curve
from graphprox.experiments.report.findings import Findings

FIELDS = (
    *("dataset", "row", "metric", "mean", "deviation", "values", "trainings", "splits", "paper", "paper_deviation"),
    *("difference", "champion", "star", "seconds", "peak_memory_mb", "command"),
)
CURVE_FIELDS = ("dataset", "row", "step", "accuracy", "deviation", "loss", "trainings", "splits", "command")
PLACES = {CHAMPION: "champion", RUNNER_UP: "runner-up"}


def cells_as_csv(findings: Findings, columns: Mapping[Column, Sequence[Cell]]) -> str:
    """A line for each cell; those of the paper alone have no values and no command."""
    cells = (cell for of_column in columns.values() for cell in of_column if cell.row or cell.reported)
    return _csv(FIELDS, (_cell_fields(findings, cell) for cell in cells))


def curves_as_csv(findings: Findings, shown: Mapping[Column, Curve]) -> str:
    """A line for each mark of each curve."""
    return _csv(
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
            for (dataset, row), curve in shown.items()
            for mark in curve.marks
        ),
    )


def _cell_fields(findings: Findings, cell: Cell) -> list[object]:
    trainings, splits = cell.values.shape if cell.measured else (0, 0)
    reported, cost = cell.reported, cost_of(findings, cell.dataset, cell.row)
    return [
        cell.dataset,
        cell.title,
        cell.metric,
        _number(cell.mean if cell.measured else None, cell.digits),
        _number(cell.deviation if cell.measured else None, cell.digits),
        cell.values.size,
        trainings,
        splits,
        _number(reported.mean if reported else None, cell.digits),
        _number(reported.deviation if reported else None, cell.digits),
        _number(cell.difference, cell.digits),
        PLACES.get(cell.place, ""),
        "yes" if cell.star else "",
        _number(cost.seconds if cost else None, 1),
        _number(cost.megabytes if cost else None, 0),
        findings.commands.get((cell.dataset, cell.row), ""),
    ]


def _number(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:.{digits}f}"


def _csv(fields: Sequence[str], lines: Iterable[Sequence[object]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(fields)
    writer.writerows(lines)
    return text.getvalue()
