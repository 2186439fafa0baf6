"""One training for several trials: those that want the same embedding of a graph, and differ in what is measured.

The same embedding is probed on random splits, on public ones, and by the probe of others; to train it once for all
saves most of the time. Trials that share one are measured one after another by the same process.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from dataclasses import dataclass

import scipy.sparse as sp

from graphprox.arrays import FloatArray
from graphprox.datasets.dataset import Dataset
from graphprox.experiments.spec import Trial
from graphprox.memory import peak_memory
from graphprox.methods.embedders import Embedder

SHARING = ("classification", "map")  # the tasks that embed the whole graph, once


@dataclass(frozen=True, eq=False)
class Embedded:
    """An embedding, how many seconds it took, by the clock and of processors, and the most memory held meanwhile."""

    rows: FloatArray | sp.csr_array
    seconds: float
    processor: float
    peak: int | None


_last: dict[str, Embedded] = {}  # one at most


def embedded(trial: Trial, embedder: Embedder, dataset: Dataset) -> Embedded:
    """The embedding that a trial wants: the last one, if that is it, or a new one."""
    key = f"{id(dataset.graph)} {shared_key(trial)}"
    if key not in _last:
        _last.clear()  # before the next one is made, whose memory is measured
        began, worked = time.perf_counter(), time.process_time()
        rows = embedder.embed(dataset.graph.without_labels(), trial.seed)
        taken, work = time.perf_counter() - began, time.process_time() - worked
        _last[key] = Embedded(rows, taken, work, peak_memory())
    return _last[key]


def shared_key(trial: Trial) -> str:
    """What trials of one embedding have in common, and no others."""
    if trial.experiment.task not in SHARING or not isinstance(trial.maker, Embedder):
        return str(trial.path)
    return json.dumps([trial.dataset, trial.row.method, trial.maker.settings, trial.seed], sort_keys=True, default=str)


def grouped(trials: Iterable[Trial]) -> list[list[Trial]]:
    """Trials in groups that share an embedding, in the order of the first of each."""
    groups: dict[str, list[Trial]] = {}
    for trial in trials:
        groups.setdefault(shared_key(trial), []).append(trial)
    return list(groups.values())
