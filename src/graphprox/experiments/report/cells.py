"""Cells: the figures of a row on a data set, gathered from its records, beside the paper's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from graphprox.errors import ReadError
from graphprox.experiments.records import Record
from graphprox.experiments.report.findings import Findings
from graphprox.experiments.report.paper import Paper, Reported
from graphprox.experiments.report.significance import differing
from graphprox.experiments.spec import Experiment

PERCENT = 100.0
CHAMPION, RUNNER_UP = 1, 2
Column = tuple[str, str]  # a data set and a metric


@dataclass(frozen=True, eq=False)
class Cell:
    """All values of a row on a data set by one metric, (trainings, splits), and the paper's figure if there is one.

    ``wanted`` is how many trainings there should be. ``place`` is 1 for the champion of the column and 2 for the
    runner-up; ``star`` says that the row differs from the reference. A cell without a row is only the paper's.

    >>> cell = Cell("Cora", "ft-gcl", "FT-GCL", "accuracy", np.array([[84, 85.0]]), 1, Reported(84.07))
    >>> cell.mean, cell.deviation, cell.difference
    (84.5, 0.5, 0.43)
    """

    dataset: str
    row: str
    title: str
    metric: str
    values: np.ndarray
    wanted: int
    reported: Reported | None
    digits: int = 2
    place: int = 0
    star: bool = False

    @property
    def measured(self) -> bool:
        """Whether there is any value."""
        return self.values.size > 0

    @cached_property
    def mean(self) -> float:
        """The mean, with as many digits as are shown, so that what is shown adds up."""
        return round(float(self.values.mean()), self.digits)

    @cached_property
    def deviation(self) -> float | None:
        """The standard deviation of all values; None where there is one alone, or all are the same."""
        return None if np.ptp(self.values) == 0 else float(self.values.std())

    @property
    def difference(self) -> float | None:
        """Ours less the paper's."""
        if self.reported is None or not self.measured:
            return None
        return round(self.mean - self.reported.mean, self.digits) + 0.0


def columns_of(findings: Findings, paper: Paper) -> dict[Column, list[Cell]]:
    """The columns of a table in percent, by data set and metric: each row's cell, then those of the paper alone."""
    experiment = findings.experiment
    return {
        (dataset, metric): [
            *_marked([_cell(findings, paper, dataset, row, metric) for row in experiment.all_rows], experiment),
            *_of_paper_alone(experiment, paper, dataset, metric),
        ]
        for dataset in findings.datasets
        for metric in experiment.metrics
    }


def homophily_columns(findings: Findings, paper: Paper) -> dict[Column, list[Cell]]:
    """The homophily of each data set and its views, as shares of the edges: a cell in each column."""
    (row,) = findings.experiment.all_rows
    return {
        (dataset, metric): [_share(findings, paper, dataset, row, metric)]
        for dataset in findings.datasets
        for metric in findings.experiment.metrics
    }


def per_split(cell: Cell) -> np.ndarray:
    """The mean over trainings for each split, (splits,)."""
    return np.asarray(cell.values.mean(axis=0))


def _cell(findings: Findings, paper: Paper, dataset: str, row: str, metric: str) -> Cell:
    declared = findings.experiment.all_rows[row]
    values = [PERCENT * np.asarray(figure(record, metric), np.float64) for record in findings.of(dataset, row)]
    return Cell(
        dataset,
        row,
        declared.title,
        metric,
        np.stack(values) if values else np.empty((0, 0)),
        findings.wanted.get((dataset, row), 0),
        _reported(findings.experiment, paper, declared.reported_as or declared.title, dataset, metric),
    )


def _share(findings: Findings, paper: Paper, dataset: str, row: str, metric: str) -> Cell:
    experiment = findings.experiment
    values = np.array([[figure(record, metric)] for record in findings.of(dataset, row)], np.float64)
    name = experiment.reported_as.get(dataset, dataset)
    reported = paper.figure(experiment.paper, name, metric) if experiment.paper and name else None
    wanted = findings.wanted.get((dataset, row), 0)
    return Cell(dataset, row, experiment.all_rows[row].title, metric, values, wanted, reported, digits=3)


def figure(record: Record, metric: str) -> object:
    """What a record holds by the name of a metric."""
    if metric not in record.figures:
        place = f"{record.experiment}/{record.dataset}/{record.row}/{record.seed}.json"
        raise ReadError(
            f"the record {place} must hold {metric}, which its experiment asks for; it holds "
            f"{', '.join(record.figures)}: delete it and measure again"
        )
    return record.figures[metric]


def _reported(experiment: Experiment, paper: Paper, title: str, dataset: str, metric: str) -> Reported | None:
    name = experiment.reported_as.get(dataset, dataset)
    if experiment.paper is None or not name:
        return None
    return paper.figure(experiment.paper, title, name, metric)


def _of_paper_alone(experiment: Experiment, paper: Paper, dataset: str, metric: str) -> Iterator[Cell]:
    """A cell for each method that the paper lists and the experiment does not."""
    if experiment.paper is None:
        return
    ours = {row.title for row in experiment.all_rows.values()}
    for title in paper.table(experiment.paper):
        if title not in ours:
            reported = _reported(experiment, paper, title, dataset, metric)
            yield Cell(dataset, "", title, metric, np.empty((0, 0)), 0, reported)


def _marked(cells: list[Cell], experiment: Experiment) -> list[Cell]:
    """The cells of a column with champion, runner-up and stars; only what was measured here competes."""
    measured = {cell.row: cell for cell in cells if cell.measured}
    places, stars = _places(measured), _stars(measured, experiment.reference)
    return [replace(cell, place=places.get(cell.row, 0), star=cell.row in stars) for cell in cells]


def _places(measured: Mapping[str, Cell]) -> dict[str, int]:
    if len(measured) < 2:
        return {}
    # Rows that show the same figure share a place.
    order = sorted({cell.mean for cell in measured.values()}, reverse=True)[:RUNNER_UP]
    return {row: order.index(cell.mean) + 1 for row, cell in measured.items() if cell.mean in order}


def _stars(measured: Mapping[str, Cell], reference: str) -> set[str]:
    if reference not in measured:
        return set()
    others = {row: per_split(cell) for row, cell in measured.items() if row != reference}
    return differing(per_split(measured[reference]), others)
