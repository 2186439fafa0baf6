"""The numbers that figures are drawn from, as tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from graphprox.errors import ParameterError
from graphprox.experiments.report.cells import CHAMPION, Cell, Column
from graphprox.experiments.report.curves import Curve
from graphprox.experiments.report.findings import Findings
from graphprox.experiments.report.layouts import Columns, entry_of, how_often
from graphprox.experiments.report.numbers import NONE, counted, metric_name, with_deviation
from graphprox.experiments.report.table import Entry, Heading, Line, Table


def grid(findings: Findings, columns: Columns) -> list[Table]:
    """A table for each data set: the values of one setting down, of the other across."""
    experiment = findings.experiment
    if len(experiment.grid) != 2:
        raise ParameterError(
            f"a heatmap must have a grid of two settings; {experiment.name} has {len(experiment.grid)}"
        )
    tables = []
    (down, downward), (across, rightward) = experiment.grid.items()
    for (dataset, metric), cells in columns.items():
        if findings.is_run(dataset):
            at = by_settings(findings, cells)
            lines = [
                Line(str(one), tuple(entry_of(findings, at[one, other]) for other in rightward)) for one in downward
            ]
            headings = tuple(Heading(str(other)) for other in rightward)
            often = how_often(findings, {(dataset, metric): cells})
            caption = f"{dataset}: {metric_name(metric)} in percent{often}"
            tables.append(Table(caption, headings, tuple(lines), corner=f"{down} ↓ {across} →"))
    return tables


def by_settings(findings: Findings, cells: Sequence[Cell]) -> dict[tuple[Any, ...], Cell]:
    """The cells of a grid by the values of its settings."""
    experiment = findings.experiment
    changes = {name: row.set for name, row in experiment.all_rows.items()}
    return {tuple(changes[cell.row].get(setting) for setting in experiment.grid): cell for cell in cells if cell.row}


def curves(shown: Mapping[Column, Curve]) -> list[Table]:
    """A table for each data set: accuracy and loss of each row at each mark, the best accuracy of each row bold."""
    tables = []
    for dataset in dict.fromkeys(dataset for dataset, _ in shown):
        of_dataset = [curve for (of, _), curve in shown.items() if of == dataset]
        headings = tuple(Heading(curve.title, name) for curve in of_dataset for name in ("accuracy", "loss"))
        lines = [
            Line(str(mark), tuple(entry for curve in of_dataset for entry in _at_mark(curve, mark)))
            for mark in of_dataset[0].marks
        ]
        trainings, _, splits = of_dataset[0].accuracy.shape
        often = f"{counted(splits, 'split')} × {counted(trainings, 'training')}"
        caption = f"{dataset}: loss, and accuracy in percent, {often}"
        tables.append(Table(caption, headings, tuple(lines), corner="steps"))
    return tables


def _at_mark(curve: Curve, mark: int) -> tuple[Entry, Entry]:
    mean, deviation = curve.accuracy_at(mark)
    best = max(curve.accuracy_at(each)[0] for each in curve.marks)
    loss = curve.loss_at(mark)
    accuracy = Entry(with_deviation(mean, deviation, 2), CHAMPION if round(mean, 2) == round(best, 2) else 0)
    return accuracy, Entry(NONE if loss is None else f"{loss:.3f}")
