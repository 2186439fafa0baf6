"""Whether figures that are measured again agree with the records that were kept."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from graphprox.experiments.records import Record, read_records
from graphprox.experiments.spec import Trial

LEAST_SPREAD = 1e-3  # a tenth of a percent: figures of one split have no spread, and threads add in another order
Key = tuple[str, str, str]  # a data set, a row, a metric


@dataclass(frozen=True)
class Comparison:
    """A figure as it was kept and as it was measured again; both are means over trainings and splits."""

    key: Key
    kept: float
    spread: float
    again: float

    @property
    def agrees(self) -> bool:
        """Whether what was measured again falls within the spread of what was kept."""
        return abs(self.again - self.kept) <= self.spread

    def __str__(self) -> str:
        verdict = "within its spread" if self.agrees else "OUTSIDE its spread"
        kept = f"{100 * self.kept:.2f} ± {100 * self.spread:.2f}"
        return f"{' '.join(self.key)}: kept {kept}, again {100 * self.again:.2f}: {verdict}"


def compared(again: list[tuple[Trial, Record]], results: Path) -> Iterator[Comparison]:
    """Each figure that was measured again, beside the records of the same trials."""
    kept = _values(read_records(results, (trial for trial, _ in again)))
    for key, values in _values(again).items():
        spread = max(float(np.std(kept[key])), LEAST_SPREAD)
        yield Comparison(key, float(np.mean(kept[key])), spread, float(np.mean(values)))


def _values(records: list[tuple[Trial, Record]]) -> dict[Key, list[float]]:
    """All values of a metric over splits and seeds."""
    gathered = defaultdict[Key, list[float]](list)
    for trial, record in records:
        for metric in trial.experiment.metrics:
            if not isinstance(figures := record.figures.get(metric, []), dict):  # as the points of a map are
                gathered[trial.dataset, trial.row_name, metric] += np.ravel(figures).tolist()
    return {key: values for key, values in gathered.items() if values}
