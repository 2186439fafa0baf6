"""Records as a run would leave them, with figures drawn from a hash: nothing is trained."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pytest

from graphprox.experiments.records import Record
from graphprox.experiments.report.findings import Findings, gather
from graphprox.experiments.report.paper import Paper
from graphprox.experiments.spec import Experiment, Trial

Figures = dict[str, Any]
VERSIONS = {"python": "3.11.9", "graphprox": "0.1.0", "torch": "2.13.0"}
PAPER = Paper(
    {
        "random": {
            "FT-GCL": {"Cora": {"accuracy": [84.07, 0.58]}, "CiteSeer": {"accuracy": [72.52, 1.17]}},
            "DGI": {"Cora": {"accuracy": [83.61, 0.7]}, "CiteSeer": {"accuracy": [70.24]}},
        },
        "homophily": {"Texas": {"graph": 0.108, "feature": 0.657, "topology": 0.53}},
    }
)


def figures_of(trial: Trial) -> Figures:
    """Figures of a likely size for whatever the trial measures; the same ones each time."""
    return FIGURES[trial.experiment.task](trial, np.random.default_rng(crc32(str(trial.path).encode())))


def _scores(trial: Trial, rng: np.random.Generator) -> Figures:
    splits = len(trial.split_seeds)
    of_split = np.random.default_rng(crc32(trial.dataset.encode())).normal(0.8, 0.01, splits)
    of_row = 0.01 * (crc32(trial.row_name.encode()) % 7)
    return {name: (of_split - of_row + rng.normal(0, 0.004, splits)).tolist() for name in trial.experiment.metrics}


def _curve(trial: Trial, rng: np.random.Generator) -> Figures:
    marks, splits = sorted(trial.experiment.marks), len(trial.split_seeds)
    scale = 3 + crc32(trial.row_name.encode()) % 9
    accuracy = [(0.84 - 0.3 / (1 + mark / 5) + rng.normal(0, 0.01, splits)).tolist() for mark in marks]
    loss = scale * (1 + np.exp(-np.arange(marks[-1]) / 20)) + rng.normal(0, 0.05, marks[-1])
    return {"marks": marks, "loss": loss.tolist(), "accuracy": accuracy}


def _map(trial: Trial, rng: np.random.Generator) -> Figures:
    names = ("Case Based", "Genetic Algorithms", "Neural Networks", "Probabilistic", "Learning", "Rules", "Theory")
    clouds = (30 * rng.normal(size=2) + 8 * rng.normal(size=(100, 2)) for _ in names)
    return {"points": dict(zip(names, (cloud.round(3).tolist() for cloud in clouds), strict=True))}


def _homophily(trial: Trial, rng: np.random.Generator) -> Figures:
    views = {name: float(rng.uniform(0.3, 0.6)) for name in trial.experiment.metrics if name != "graph"}
    return {"graph": 0.108, **views}


def _barbell(trial: Trial, rng: np.random.Generator) -> Figures:
    classes = [0, 0, 0, 0, 0, 1, 2, 2, 1, 0, 0, 0, 0, 0]
    places = [[-0.3, 0.1], [0.4, 0.2], [0.1, -0.5]]
    return {"classes": classes, "plane": [places[each] for each in classes]}


FIGURES: dict[str, Callable[[Trial, np.random.Generator], Figures]] = {
    "classification": _scores,
    "links": _scores,
    "curve": _curve,
    "map": _map,
    "homophily": _homophily,
    "barbell": _barbell,
}


def record_of(trial: Trial, figures: Figures, **changes: Any) -> Record:
    """The record of a trial that found these figures."""
    fields = {
        "experiment": trial.experiment.name,
        "dataset": trial.dataset,
        "row": trial.row_name,
        "seed": trial.seed,
        "figures": figures,
        "settings": trial.settings(),
        "graph": "a graph",
        "depends_on": trial.fingerprint("a graph"),
        "versions": VERSIONS,
        "seconds": {"embed": 2.0 + trial.seed, "evaluate": 0.5},
        "peak_memory": 812_000_000 + trial.seed,
        "threads": 1,
        "command": trial.command,
    }
    return Record(**{**fields, **changes})


class Results:
    """A folder of results that is filled by hand."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def keep(
        self, experiment: Experiment, figures: Callable[[Trial], Figures | None] = figures_of, **changes: Any
    ) -> Findings:
        """Keep a record of every trial whose figures are not None, and gather what there is."""
        for trial in experiment.trials():
            if (found := figures(trial)) is not None:
                record_of(trial, found, **changes).write(self.folder, trial)
        return gather(self.folder, experiment)


@pytest.fixture
def results(tmp_path: Path) -> Results:
    """An empty folder of results."""
    return Results(tmp_path / "results")


@pytest.fixture
def paper() -> Paper:
    """A small paper."""
    return PAPER


@pytest.fixture
def make() -> Callable[..., Experiment]:
    """An experiment of two rows on two data sets, or whatever it is changed to."""

    def make(**changes: Any) -> Experiment:
        fields = {"name": "small", "title": "A small one", "datasets": ["Cora", "CiteSeer"], "rows": ["raw", "ft-gcl"]}
        return Experiment(**{**fields, "metrics": ["accuracy"], "seeds": 2, "splits": 5, "paper": "random", **changes})

    return make


@pytest.fixture
def of_each_kind(make: Callable[..., Experiment]) -> list[Experiment]:
    """An experiment for each way in which one can be shown."""
    views = {"views": {"method": "raw", "title": "views"}}
    grid = {"encoder.width": [8, 16], "head.width": [4, 8, 16]}
    alone = {"paper": None, "rows": ["grace", "ft-grace"]}
    shares = ["graph", "feature", "topology", "near walks"]
    return [
        make(name="table", order=1),
        make(name="ablation", order=2, rows=["ft-gcl", "f-gcl"], metrics=["validation_accuracy"], paper=None),
        make(name="links", order=3, task="links", metrics=["auc", "ap"], paper=None),
        make(name="bars", order=4, show="bars", **alone),
        make(name="curves", order=5, show="curves", task="curve", marks=[0, 5, 20], **alone),
        make(name="heatmap", order=6, show="heatmap", rows=[], grid=grid, grid_row={"method": "ft-gcl"}, paper=None),
        make(name="map", order=7, show="map", task="map", seeds=1, paper=None),
        make(
            name="homophily",
            order=8,
            show="homophily",
            task="homophily",
            datasets=["Texas", "Actor"],
            rows=["views"],
            variants=views,
            metrics=shares,
            paper="homophily",
        ),
        make(
            name="barbell",
            order=9,
            show="barbell",
            task="barbell",
            datasets=["barbell"],
            rows=["views"],
            variants=views,
            paper=None,
        ),
    ]
