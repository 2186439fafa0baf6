"""Curves: loss and accuracy of a row step by step, gathered over its trainings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from graphprox.experiments.records import Record
from graphprox.experiments.report.cells import PERCENT, Column, figure
from graphprox.experiments.report.findings import Findings


@dataclass(frozen=True, eq=False)
class Curve:
    """A row on one data set: its loss after each step, and its accuracy in percent after some of them.

    ``loss`` is (trainings, steps), ``accuracy`` (trainings, marks, splits).
    """

    title: str
    marks: tuple[int, ...]
    loss: np.ndarray
    accuracy: np.ndarray

    def accuracy_at(self, mark: int) -> tuple[float, float]:
        """The mean accuracy after so many steps, and its deviation over trainings and splits."""
        values = self.accuracy[:, self.marks.index(mark)]
        return float(values.mean()), float(values.std())

    def loss_at(self, mark: int) -> float | None:
        """The mean loss of the last of so many steps; None before the first."""
        return float(self.loss[:, mark - 1].mean()) if 0 < mark <= self.loss.shape[1] else None


def curves_of(findings: Findings) -> dict[Column, Curve]:
    """The curves of an experiment by data set and row, of which there are records."""
    rows = findings.experiment.all_rows
    return {
        (dataset, row): _curve(rows[row].title, findings.of(dataset, row))
        for dataset in findings.datasets
        for row in rows
        if findings.of(dataset, row)
    }


def _curve(title: str, records: Sequence[Record]) -> Curve:
    marks = np.asarray(figure(records[0], "marks"), np.int64)
    loss = np.array([figure(record, "loss") for record in records], np.float64)
    accuracy = PERCENT * np.array([figure(record, "accuracy") for record in records], np.float64)
    return Curve(title, tuple(marks.tolist()), loss, accuracy)
