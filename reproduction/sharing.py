"""Train once for several trials that evaluate the same embedding of a graph in different ways.

The same embedding is evaluated on random splits, on public splits and by other protocols. Trials that share one are
measured one after another by the same process, which caches the last embedding.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from dataclasses import dataclass

import scipy.sparse as sp

from graphprox._utils.arrays import FloatArray
from graphprox._utils.memory import peak_memory
from graphprox.datasets.dataset import Dataset
from graphprox.methods import METHODS, NodeClassifier
from reproduction.experiment import Trial

SHARING_TASKS = ("classification", "map", "groups")  # those that embed the whole graph once


@dataclass(frozen=True, eq=False)
class TimedEmbedding:
    """An embedding and what it cost.

    Parameters
    ----------
    vectors : ndarray or csr_array of shape (num_nodes, n_components)
    seconds, processor_seconds : float
        Wall-clock time and processor time.
    peak_memory : int or None
        In bytes.
    """

    vectors: FloatArray | sp.csr_array
    seconds: float
    processor_seconds: float
    peak_memory: int | None


_last: dict[str, TimedEmbedding] = {}  # at most one


def embed_once(trial: Trial, dataset: Dataset) -> TimedEmbedding:
    """Return the embedding of a trial, computing it unless it is the last one computed."""
    key = f"{id(dataset.graph)} {sharing_key(trial)}"
    if key not in _last:
        _last.clear()  # before the next one is computed, whose memory is measured
        start, processor_start = time.perf_counter(), time.process_time()
        vectors = trial.make_embedder().fit_transform(dataset.graph)
        seconds, processor_seconds = time.perf_counter() - start, time.process_time() - processor_start
        _last[key] = TimedEmbedding(vectors, seconds, processor_seconds, peak_memory())
    return _last[key]


def sharing_key(trial: Trial) -> str:
    """Return a key that is equal for trials of the same embedding only."""
    if trial.experiment.task not in SHARING_TASKS or issubclass(METHODS[trial.row.method], NodeClassifier):
        return json.dumps([trial.experiment.name, *trial.key])
    content = {"dataset": trial.dataset, "method": trial.row.method, "settings": dict(trial.recipe)}
    return json.dumps({**content, "seed": trial.seed}, sort_keys=True, default=str)


def group_trials(trials: Iterable[Trial]) -> list[list[Trial]]:
    """Group trials that share an embedding, in the order of the first of each group."""
    groups: dict[str, list[Trial]] = {}
    for trial in trials:
        groups.setdefault(sharing_key(trial), []).append(trial)
    return list(groups.values())
