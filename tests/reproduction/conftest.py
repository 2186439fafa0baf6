"""A small experiment on the synthetic graph, records with made-up figures, and the program in this process."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pytest

from graphprox.cli.app import run_program
from reproduction.__main__ import app
from reproduction.experiment import Experiment, Trial
from reproduction.records import Record, append_record
from reproduction.report.cells import Findings, gather
from reproduction.report.paper import Paper

SMALL = """
title = "A small experiment"
datasets = ["synthetic"]
rows = ["raw", "smoothed", "small"]
seeds = 2
splits = 3

[variants.small]
title = "FT-GCL, small"
method = "ft-gcl"
set = { epochs = 3, "encoder.n_components" = 8 }
"""
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


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """The path of an experiment of four quick trials."""
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    return path


@pytest.fixture
def run(monkeypatch, capsys):
    """Run the program; returns exit code, stdout and stderr."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["reproduction", *map(str, arguments)])
        with pytest.raises(SystemExit) as stopped:
            run_program(app)
        printed = capsys.readouterr()
        return stopped.value.code or 0, printed.out, printed.err

    return run


class InlineExecutor:
    """Runs what is submitted at once, in this process."""

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Run a function."""
        future: Future[Any] = Future()
        try:
            future.set_result(function(*arguments))
        except Exception as error:
            future.set_exception(error)
        return future

    def shutdown(self, *_: Any, **__: Any) -> None:
        """Do nothing."""


@pytest.fixture
def in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run trials in this process, as starting others takes seconds."""
    monkeypatch.setattr("reproduction.runner.ProcessPoolExecutor", InlineExecutor)


@pytest.fixture(scope="module")
def fast_figures() -> Iterator[None]:
    """Write figures as empty files, as rendering takes seconds."""

    def save_nothing(_: object, folder: Path, name: str) -> list[Path]:
        paths = [folder / f"{name}.png", folder / f"{name}.svg"]
        for path in paths:
            path.touch()
        return paths

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("reproduction.report.writing.save_figure", save_nothing)
        yield


# -- records without training -----------------------------------------------------------------------------------------


def figures_of(trial: Trial) -> Figures:
    """Return plausible, deterministic figures of a trial."""
    return FIGURES[trial.experiment.task](trial, np.random.default_rng(crc32(str(trial.key).encode())))


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


def make_record(trial: Trial, figures: Figures, **changes: Any) -> Record:
    """Return a valid record of a trial with the given figures."""
    fields = {
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
    }
    return Record(**{**fields, **changes})


@pytest.fixture(scope="session")
def new_record() -> Callable[..., Record]:
    """Return a function that makes the record of a seed of a small experiment."""
    experiment = Experiment(name="small", title="Small", datasets=["synthetic"], rows=["dgi"], seeds=2)

    def new_record(seed: int, **changes: Any) -> Record:
        trial = experiment.trials()[seed]
        return make_record(trial, **{"figures": figures_of(trial), **changes})

    return new_record


class Records:
    """A folder of records that are made up without running trials."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.folder = folder

    def keep(
        self, experiment: Experiment, figures: Callable[[Trial], Figures | None] = figures_of, **changes: Any
    ) -> Findings:
        """Append a record of every trial whose figures are not None, and gather the records of the experiment."""
        for trial in experiment.trials():
            if (found := figures(trial)) is not None:
                append_record(self.folder, experiment.name, make_record(trial, found, **changes))
        return gather(self.folder, experiment)


@pytest.fixture
def records(tmp_path: Path) -> Records:
    """An empty folder of records."""
    return Records(tmp_path / "records")


@pytest.fixture(scope="session")
def paper() -> Paper:
    """A paper of two small tables."""
    return PAPER


@pytest.fixture(scope="session")
def make() -> Callable[..., Experiment]:
    """Make an experiment of two rows on two data sets, with changes."""

    def make(**changes: Any) -> Experiment:
        fields = {"name": "small", "title": "A small one", "datasets": ["Cora", "CiteSeer"], "rows": ["raw", "ft-gcl"]}
        return Experiment(**{**fields, "metrics": ["accuracy"], "seeds": 2, "splits": 5, "paper": "random", **changes})

    return make


@pytest.fixture(scope="session")
def of_each_kind(make: Callable[..., Experiment]) -> list[Experiment]:
    """An experiment for each way to show one."""
    views = {"views": {"method": "raw", "title": "views"}}
    grid = {"encoder.n_components": [8, 16], "head.out_channels": [4, 8, 16]}
    contrast = {"paper": None, "rows": ["grace", "ft-grace"]}
    shares = ["graph", "feature", "topology", "near walks"]
    descriptors = {"rows": ["views"], "variants": views}
    return [
        make(name="table", order=1),
        make(name="ablation", order=2, rows=["ft-gcl", "f-gcl"], metrics=["val_accuracy"], paper=None),
        make(name="links", order=3, task="links", metrics=["auc", "ap"], paper=None),
        make(name="bars", order=4, show="bars", **contrast),
        make(name="curves", order=5, show="curves", task="curve", marks=[0, 5, 20], **contrast),
        make(name="heatmap", order=6, show="heatmap", rows=[], grid=grid, grid_row={"method": "ft-gcl"}, paper=None),
        make(name="map", order=7, show="map", task="map", seeds=1, paper=None),
        make(
            name="homophily",
            order=8,
            show="homophily",
            task="homophily",
            paper="homophily",
            datasets=["Texas", "Actor"],
            metrics=shares,
            **descriptors,
        ),
        make(name="barbell", order=9, show="barbell", task="barbell", paper=None, datasets=["barbell"], **descriptors),
    ]


@pytest.fixture(scope="session")
def kept(of_each_kind: list[Experiment], tmp_path_factory: pytest.TempPathFactory) -> Records:
    """A record of each trial of an experiment of each kind, for all tests: only to be read, or copied."""
    records = Records(tmp_path_factory.mktemp("kept") / "records")
    for experiment in of_each_kind:
        records.keep(experiment)
    return records
