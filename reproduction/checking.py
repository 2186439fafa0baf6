"""Comparison of new measurements with the records."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from reproduction.experiment import Trial
from reproduction.records import Record, read_current

# A tenth of a percent: a single split has no deviation, and the order of summation depends on the number of threads.
MIN_TOLERANCE = 1e-3
FigureKey = tuple[str, str, str]  # data set, row and metric


@dataclass(frozen=True)
class FigureCheck:
    """A recorded figure and the same figure measured again, as means over training runs and splits.

    Parameters
    ----------
    key : tuple of str
        Data set, row and metric.
    recorded, deviation : float
        Mean and standard deviation of the records; the deviation is at least ``MIN_TOLERANCE``.
    measured : float
        Mean of the new measurements.
    """

    key: FigureKey
    recorded: float
    deviation: float
    measured: float

    @property
    def agrees(self) -> bool:
        """Whether the new mean is within one standard deviation of the recorded one."""
        return abs(self.measured - self.recorded) <= self.deviation

    def __str__(self) -> str:
        verdict = "within one standard deviation" if self.agrees else "OUTSIDE one standard deviation"
        recorded = f"{100 * self.recorded:.2f} ± {100 * self.deviation:.2f}"
        return f"{' '.join(self.key)}: recorded {recorded}, now {100 * self.measured:.2f}: {verdict}"


def check_figures(measured: Sequence[tuple[Trial, Record]], folder: Path) -> Iterator[FigureCheck]:
    """Compare new measurements with the records of the same trials.

    Parameters
    ----------
    measured : sequence of (Trial, Record)
        New measurements.
    folder : Path
        Folder of records.

    Yields
    ------
    FigureCheck
        One for each data set, row and metric.
    """
    recorded = _values(read_current(folder, (trial for trial, _ in measured)))
    for key, values in _values(measured).items():
        deviation = max(float(np.std(recorded[key])), MIN_TOLERANCE)
        yield FigureCheck(key, float(np.mean(recorded[key])), deviation, float(np.mean(values)))


def _values(records: Sequence[tuple[Trial, Record]]) -> dict[FigureKey, list[float]]:
    """Collect the values of each metric over splits and seeds."""
    values = defaultdict[FigureKey, list[float]](list)
    for trial, record in records:
        for metric in trial.experiment.metrics:
            if not isinstance(figures := record.figures.get(metric, []), dict):  # the points of a map are a dict
                values[trial.dataset, trial.row_name, metric] += np.ravel(figures).tolist()
    return {key: found for key, found in values.items() if found}
