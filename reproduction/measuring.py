"""From a trial to its record."""

from __future__ import annotations

import hashlib
import platform
from dataclasses import astuple
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path

import numpy as np

from graphprox._utils.memory import peak_memory, reset_peak_memory
from graphprox.datasets.dataset import Dataset
from graphprox.datasets.loading import load
from graphprox.graph.checksum import graph_checksum
from reproduction.barbell import barbell_graph
from reproduction.experiment import Trial
from reproduction.records import Record
from reproduction.tasks import TASKS

BARBELL = "barbell"  # the data set that only the reproduction has
LIBRARIES = ("graphprox", "torch", "numpy", "scipy", "scikit-learn", "numba")


def measure(trial: Trial, data: Path | None = None) -> Record:
    """Run a trial.

    Parameters
    ----------
    trial : Trial
    data : Path, optional
        Folder of data sets; without it they are downloaded.

    Returns
    -------
    Record
    """
    import torch

    dataset, checksum = _load(trial.dataset, data)
    reset_peak_memory()
    measurement = TASKS[trial.experiment.task](trial, dataset)
    return Record(
        dataset=trial.dataset,
        row=trial.row_name,
        seed=trial.seed,
        figures=measurement.figures,
        settings=trial.settings(),
        graph=checksum,
        depends_on=trial.fingerprint(checksum),
        versions={"python": platform.python_version(), **{name: version(name) for name in LIBRARIES}},
        seconds={part: round(seconds, 3) for part, seconds in measurement.seconds.items()},
        peak_memory=max(peak_memory() or 0, measurement.peak_memory) or None,
        threads=torch.get_num_threads(),
    )


@lru_cache(maxsize=1)  # trials are ordered by data set
def _load(name: str, data: Path | None) -> tuple[Dataset, str]:
    dataset = Dataset(BARBELL, barbell_graph()) if name == BARBELL else load(name, data=data)
    return dataset, dataset_checksum(dataset)


def dataset_checksum(dataset: Dataset) -> str:
    """Return a SHA-256 of the graph, its labels and its public splits."""
    digest = hashlib.sha256(graph_checksum(dataset.graph).encode())
    splits = [nodes for each in dataset.splits.values() for split in each for nodes in astuple(split)]
    for array in ([] if dataset.graph.y is None else dataset.graph.y, *splits):
        numbers = np.asarray(array, dtype=np.int64)
        digest.update(f"{numbers.size};".encode() + numbers.tobytes())
    return digest.hexdigest()
