"""measure: from a trial to its record, with what it cost."""

from __future__ import annotations

import hashlib
import platform
from dataclasses import astuple
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path

import numpy as np

from graphprox.checksum import graph_checksum
from graphprox.datasets.dataset import Dataset
from graphprox.experiments.barbell import barbell
from graphprox.experiments.records import Record
from graphprox.experiments.spec import Trial
from graphprox.experiments.tasks import TASKS
from graphprox.loading import load
from graphprox.memory import forget_peak, peak_memory

BARBELL = "barbell"
LIBRARIES = ("graphprox", "torch", "numpy", "scipy", "scikit-learn", "numba")


def measure(trial: Trial, data: Path | None = None) -> Record:
    """Measure what a trial asks for, and note all that is needed to do so again."""
    import torch

    dataset, checksum = _loaded(trial.dataset, data)
    forget_peak()
    measured = TASKS[trial.experiment.task](trial, dataset)
    return Record(
        experiment=trial.experiment.name,
        dataset=trial.dataset,
        row=trial.row_name,
        seed=trial.seed,
        figures=measured.figures,
        settings=trial.settings(),
        graph=checksum,
        depends_on=trial.fingerprint(checksum),
        versions={"python": platform.python_version(), **{name: version(name) for name in LIBRARIES}},
        seconds={part: round(seconds, 3) for part, seconds in measured.seconds.items()},
        peak_memory=max(peak_memory() or 0, measured.peak_before) or None,
        threads=torch.get_num_threads(),
        command=trial.command,
    )


@lru_cache(maxsize=1)  # trials come data set by data set
def _loaded(name: str, data: Path | None) -> tuple[Dataset, str]:
    dataset = Dataset(BARBELL, barbell()) if name == BARBELL else load(name, data=data)
    return dataset, dataset_checksum(dataset)


def dataset_checksum(dataset: Dataset) -> str:
    """SHA-256 of all that figures may depend on: the graph, its labels, and its public splits."""
    digest = hashlib.sha256(graph_checksum(dataset.graph).encode())
    splits = [nodes for each in dataset.splits.values() for split in each for nodes in astuple(split)]
    for array in ([] if dataset.graph.y is None else dataset.graph.y, *splits):
        listed = np.asarray(array, dtype=np.int64)
        digest.update(f"{listed.size};".encode() + listed.tobytes())
    return digest.hexdigest()
