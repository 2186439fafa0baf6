"""Whether figures that are measured again agree with the records that were kept."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from graphprox.experiments.records import Record, read_record
from graphprox.experiments.spec import Trial

LEAST_SPREAD = 1e-3  # a tenth of a percent: figures of one split have no spread, and threads add in another order


def read_back(trials: Iterable[Trial], results: Path) -> list[tuple[Trial, Record]]:
    """The trials that have records, and these."""
    found = ((trial, read_record(results, trial)) for trial in trials)
    return [(trial, record) for trial, record in found if record is not None]


def compared(again: list[tuple[Trial, Record]], results: Path) -> Iterator[str]:
    """A line for each figure: what was kept, what was measured again, and whether it falls within the kept spread."""
    kept = _values(read_back((trial for trial, _ in again), results))
    for key, values in _values(again).items():
        before, spread = np.mean(kept[key]), max(float(np.std(kept[key])), LEAST_SPREAD)
        agrees = abs(np.mean(values) - before) <= spread
        yield (
            f"{' '.join(key)}: kept {100 * before:.2f} ± {100 * spread:.2f}, again {100 * np.mean(values):.2f}: "
            f"{'within its spread' if agrees else 'OUTSIDE its spread'}"
        )


def _values(records: list[tuple[Trial, Record]]) -> dict[tuple[str, str, str], list[float]]:
    """All values of a metric over splits and seeds, by data set, row and metric."""
    gathered = defaultdict[tuple[str, str, str], list[float]](list)
    for trial, record in records:
        for metric in trial.experiment.metrics:
            gathered[trial.dataset, trial.row_name, metric] += record.figures.get(metric, [])
    return {key: values for key, values in gathered.items() if values}
