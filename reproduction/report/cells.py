"""Statistics of the records of an experiment: figures, significance, training curves and costs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from graphprox.errors import ReadError
from graphprox.methods import METHODS, NodeClassifier
from graphprox.model_selection.significance import LEVEL, MIN_SPLITS, holm, paired_p_value
from reproduction.experiment import Experiment, TrialKey
from reproduction.records import Record, read_records
from reproduction.report.paper import Paper, ReportedFigure

PERCENT = 100.0
MEGABYTE = 10**6
BEST, SECOND = 1, 2  # ranks that tables emphasize
Place = tuple[str, str]  # a data set and a row
Column = tuple[str, str]  # a data set and a metric


# -- records of an experiment -----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Findings:
    """The valid records of an experiment.

    Parameters
    ----------
    experiment : Experiment
    records : mapping of (dataset, row) to tuple of Record
        Valid records, ordered by seed.
    expected : mapping of (dataset, row) to int
        Number of trials.
    commands : mapping of (dataset, row) to str
        Command lines that run the trials.
    unused : tuple of TrialKey
        Other records in the file: of other settings, or of rows that the experiment no longer has.
    """

    experiment: Experiment
    records: Mapping[Place, tuple[Record, ...]]
    expected: Mapping[Place, int]
    commands: Mapping[Place, str]
    unused: tuple[TrialKey, ...]

    @property
    def all_records(self) -> list[Record]:
        """All valid records."""
        return [record for records in self.records.values() for record in records]

    @property
    def datasets(self) -> tuple[str, ...]:
        """Data sets to show: those of the experiment, and those that were not run for a stated reason."""
        others = [name for name in self.experiment.not_run if name not in self.experiment.datasets]
        return (*self.experiment.datasets, *others)

    def of(self, dataset: str, row: str) -> tuple[Record, ...]:
        """Return the records of a row on a data set, ordered by seed."""
        return self.records.get((dataset, row), ())

    def is_run(self, dataset: str) -> bool:
        """Return whether a data set has any record."""
        return any(of == dataset for of, _ in self.records)

    def why_not_run(self, dataset: str) -> str:
        """Return a note on a data set without records, with the reason if the experiment gives one."""
        why = self.experiment.not_run.get(dataset)
        return f"not run: {why}" if why else "not run"

    def figure(self, record: Record, metric: str) -> Any:
        """Return a figure of a record.

        Raises
        ------
        ReadError
            If the record does not have it.
        """
        if metric not in record.figures:
            raise ReadError(
                f"the record of {self.experiment.name} for {', '.join(map(str, record.key))} must have {metric}; "
                f"it has {', '.join(record.figures)}: delete it and run the experiment again"
            )
        return record.figures[metric]


def gather(folder: Path, experiment: Experiment) -> Findings:
    """Read the records of an experiment from a folder."""
    saved = read_records(folder, experiment.name)
    valid: dict[Place, list[Record]] = {}
    expected, commands, used = Counter[Place](), dict[Place, str](), set[TrialKey]()
    for trial in experiment.trials():
        place = trial.dataset, trial.row_name
        expected[place] += 1
        commands[place] = trial.command
        record = saved.get(trial.key)
        if record is not None and record.is_current(trial):
            valid.setdefault(place, []).append(record)
            used.add(trial.key)
    records = {place: tuple(of_place) for place, of_place in valid.items()}
    return Findings(experiment, records, expected, commands, tuple(sorted(saved.keys() - used)))


# -- significance -----------------------------------------------------------------------------------------------------


def significantly_different(reference: np.ndarray, rows: Mapping[str, np.ndarray]) -> set[str]:
    """Return the names of the rows that differ significantly from a reference.

    A row that was measured on other splits, or on fewer than five, is not tested, nor one whose differences are all
    equal.

    Parameters
    ----------
    reference : ndarray of shape (n_splits,)
    rows : mapping of str to ndarray of shape (n_splits,)

    Returns
    -------
    set of str

    Examples
    --------
    >>> reference = np.array([80.0, 81, 82, 83, 84])
    >>> rows = {"better": reference + [1, 1, 1, 1, 2], "same": reference, "other splits": reference[:4]}
    >>> significantly_different(reference, rows)
    {'better'}
    """
    if len(reference) < MIN_SPLITS:
        return set()
    tested = {name: figures for name, figures in rows.items() if len(figures) == len(reference)}
    adjusted = holm([paired_p_value(figures, reference) for figures in tested.values()])
    return {name for name, p_value in zip(tested, adjusted, strict=True) if p_value < LEVEL}


# -- cells ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Cell:
    """A metric of a row on a data set, and the figure of the paper.

    Parameters
    ----------
    dataset, row, title, metric : str
        ``row`` is empty for a method that only the paper reports.
    values : ndarray of shape (n_runs, n_splits)
    expected : int
        Expected number of training runs.
    reported : ReportedFigure or None
    digits : int, default=2
        Number of decimals.
    rank : int, default=0
        1 for the best of the column, 2 for the second best, otherwise 0.
    star : bool, default=False
        Whether the row differs significantly from the reference.

    Examples
    --------
    >>> values = np.array([[84, 85.0]])
    >>> cell = Cell("Cora", "ft-gcl", "FT-GCL", "accuracy", values, 1, ReportedFigure(84.07))
    >>> cell.mean, cell.deviation, cell.difference
    (84.5, 0.5, 0.43)
    """

    dataset: str
    row: str
    title: str
    metric: str
    values: np.ndarray
    expected: int
    reported: ReportedFigure | None
    digits: int = 2
    rank: int = 0
    star: bool = False

    @property
    def measured(self) -> bool:
        """Whether there is any value."""
        return self.values.size > 0

    @cached_property
    def mean(self) -> float:
        """Mean, rounded as shown, so that the differences shown add up."""
        return round(float(self.values.mean()), self.digits)

    @cached_property
    def deviation(self) -> float | None:
        """Standard deviation of all values; None if they are all equal."""
        return None if np.ptp(self.values) == 0 else float(self.values.std())

    @property
    def difference(self) -> float | None:
        """Mean minus the reported mean."""
        if self.reported is None or not self.measured:
            return None
        return round(self.mean - self.reported.mean, self.digits) + 0.0

    @property
    def split_means(self) -> np.ndarray:
        """Mean over training runs for each split, of shape (n_splits,)."""
        return np.asarray(self.values.mean(axis=0))


def percent_columns(findings: Findings, paper: Paper) -> dict[Column, list[Cell]]:
    """Return the columns of a table in percent: the cells of all rows, then those of the paper only."""
    experiment = findings.experiment
    return {
        (dataset, metric): [
            *_mark([_percent_cell(findings, paper, dataset, row, metric) for row in experiment.all_rows], experiment),
            *_paper_cells(experiment, paper, dataset, metric),
        ]
        for dataset in findings.datasets
        for metric in experiment.metrics
    }


def homophily_columns(findings: Findings, paper: Paper) -> dict[Column, list[Cell]]:
    """Return the homophily of each data set and of its views as fractions: columns of one cell."""
    (row,) = findings.experiment.all_rows
    return {
        (dataset, metric): [_homophily_cell(findings, paper, dataset, row, metric)]
        for dataset in findings.datasets
        for metric in findings.experiment.metrics
    }


def _percent_cell(findings: Findings, paper: Paper, dataset: str, name: str, metric: str) -> Cell:
    row = findings.experiment.all_rows[name]
    values = [PERCENT * np.asarray(findings.figure(each, metric), np.float64) for each in findings.of(dataset, name)]
    return Cell(
        dataset,
        name,
        row.title,
        metric,
        np.stack(values) if values else np.empty((0, 0)),
        findings.expected.get((dataset, name), 0),
        _find_reported(findings.experiment, paper, row.reported_as or row.title, dataset, metric),
    )


def _homophily_cell(findings: Findings, paper: Paper, dataset: str, row: str, metric: str) -> Cell:
    experiment = findings.experiment
    values = np.array([[findings.figure(record, metric)] for record in findings.of(dataset, row)], np.float64)
    name = experiment.reported_as.get(dataset, dataset)
    reported = paper.figure(experiment.paper, name, metric) if experiment.paper and name else None
    expected = findings.expected.get((dataset, row), 0)
    return Cell(dataset, row, experiment.all_rows[row].title, metric, values, expected, reported, digits=3)


def _find_reported(
    experiment: Experiment, paper: Paper, title: str, dataset: str, metric: str
) -> ReportedFigure | None:
    name = experiment.reported_as.get(dataset, dataset)
    if experiment.paper is None or not name:
        return None
    return paper.figure(experiment.paper, title, name, metric)


def _paper_cells(experiment: Experiment, paper: Paper, dataset: str, metric: str) -> Iterator[Cell]:
    """Yield a cell for each method that the paper has and the experiment does not."""
    if experiment.paper is None:
        return
    titles = {row.title for row in experiment.all_rows.values()}
    for title in paper.table(experiment.paper):
        if title not in titles:
            reported = _find_reported(experiment, paper, title, dataset, metric)
            yield Cell(dataset, "", title, metric, np.empty((0, 0)), 0, reported)


def _mark(cells: list[Cell], experiment: Experiment) -> list[Cell]:
    """Set rank and star of the cells of a column; only measured ones are compared."""
    measured = {cell.row: cell for cell in cells if cell.measured}
    ranks, stars = _ranks(measured), _stars(measured, experiment.reference)
    return [replace(cell, rank=ranks.get(cell.row, 0), star=cell.row in stars) for cell in cells]


def _ranks(measured: Mapping[str, Cell]) -> dict[str, int]:
    if len(measured) < 2:
        return {}
    # Rows that show the same figure share a rank.
    highest = sorted({cell.mean for cell in measured.values()}, reverse=True)[:SECOND]
    return {row: highest.index(cell.mean) + 1 for row, cell in measured.items() if cell.mean in highest}


def _stars(measured: Mapping[str, Cell], reference: str) -> set[str]:
    if reference not in measured:
        return set()
    others = {row: cell.split_means for row, cell in measured.items() if row != reference}
    return significantly_different(measured[reference].split_means, others)


# -- training curves --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class TrainingCurve:
    """Loss and accuracy of a row on a data set during training.

    Parameters
    ----------
    title : str
        Title of the row.
    marks : tuple of int
        Numbers of epochs after which the accuracy was measured.
    loss : ndarray of shape (n_runs, n_epochs)
    accuracy : ndarray of shape (n_runs, n_marks, n_splits)
        In percent.
    """

    title: str
    marks: tuple[int, ...]
    loss: np.ndarray
    accuracy: np.ndarray

    def accuracy_at(self, mark: int) -> tuple[float, float]:
        """Return mean and standard deviation of the accuracy over runs and splits."""
        values = self.accuracy[:, self.marks.index(mark)]
        return float(values.mean()), float(values.std())

    def loss_at(self, mark: int) -> float | None:
        """Return the mean loss of an epoch, or None before the first."""
        return float(self.loss[:, mark - 1].mean()) if 0 < mark <= self.loss.shape[1] else None


def training_curves(findings: Findings) -> dict[Place, TrainingCurve]:
    """Return the training curves of all data sets and rows that have records."""
    return {
        (dataset, name): _training_curve(findings, row.title, findings.of(dataset, name))
        for dataset in findings.datasets
        for name, row in findings.experiment.all_rows.items()
        if findings.of(dataset, name)
    }


def _training_curve(findings: Findings, title: str, records: Sequence[Record]) -> TrainingCurve:
    loss, accuracy = (
        np.array([findings.figure(record, name) for record in records], np.float64) for name in ("loss", "accuracy")
    )
    return TrainingCurve(title, tuple(map(int, findings.figure(records[0], "marks"))), loss, PERCENT * accuracy)


# -- costs ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cost:
    """Cost of one embedding.

    Parameters
    ----------
    seconds : float
        Median processor time, or wall-clock time for records without it.
    megabytes : float or None
        Peak memory of the process.
    threads : tuple of int
        Numbers of threads that were used.
    """

    seconds: float
    megabytes: float | None
    threads: tuple[int, ...]


def cost_of(findings: Findings, dataset: str, row: str) -> Cost | None:
    """Return the cost of an embedding of a row on a data set, or None if nothing was embedded."""
    records = [record for record in findings.of(dataset, row) if "embed" in record.seconds]
    if not records:
        return None
    # Link prediction needs an embedding for each split, and a semi-supervised method a training run.
    experiment = findings.experiment
    per_split = experiment.task == "links" or issubclass(METHODS[experiment.all_rows[row].method], NodeClassifier)
    runs = len(next(iter(records[0].figures.values()))) if per_split else 1
    seconds = [record.seconds.get("processor", record.seconds["embed"]) / runs for record in records]
    memory = [record.peak_memory / MEGABYTE for record in records if record.peak_memory is not None]
    return Cost(
        seconds=float(np.median(seconds)),
        megabytes=max(memory, default=None),
        threads=tuple(sorted({record.threads for record in records})),
    )
