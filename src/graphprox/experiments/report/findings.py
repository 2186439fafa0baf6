"""Findings: an experiment, and what there is of it in the folder of results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from graphprox.errors import ReadError
from graphprox.experiments.records import Record, read_record
from graphprox.experiments.spec import Experiment
from graphprox.training.tables import did_you_mean

PAPER, PUBLISHED = "paper", "published"  # lie among the experiments, and are none
Place = tuple[str, str]  # a data set and the name of a row


@dataclass(frozen=True, eq=False)
class Findings:
    """The records of an experiment that hold, by data set and row, of how many there should be.

    ``commands`` measure them again. ``unused`` are the other records in its folder: measured with settings that have
    changed since, or of rows that it no longer has.
    """

    experiment: Experiment
    records: Mapping[Place, tuple[Record, ...]]
    wanted: Mapping[Place, int]
    commands: Mapping[Place, str]
    unused: tuple[Path, ...]

    @property
    def all_records(self) -> list[Record]:
        """Every record that holds."""
        return [record for records in self.records.values() for record in records]

    @property
    def datasets(self) -> tuple[str, ...]:
        """The data sets that are shown: those to measure, and those of which it is said why they are not."""
        others = [name for name in self.experiment.not_run if name not in self.experiment.datasets]
        return (*self.experiment.datasets, *others)

    def of(self, dataset: str, row: str) -> tuple[Record, ...]:
        """The records of a row on a data set, seed by seed."""
        return self.records.get((dataset, row), ())

    def is_run(self, dataset: str) -> bool:
        """Whether a data set has any record."""
        return any(of == dataset for of, _ in self.records)

    def why_not_run(self, dataset: str) -> str:
        """That a data set was not run, and why, if the experiment says so."""
        why = self.experiment.not_run.get(dataset)
        return f"not run: {why}" if why else "not run"


def gather(results: Path, experiment: Experiment) -> Findings:
    """Read what there is of an experiment."""
    records: dict[Place, list[Record]] = {}
    wanted, commands, used = Counter[Place](), dict[Place, str](), set[Path]()
    for trial in experiment.trials():
        place = trial.dataset, trial.row_name
        wanted[place] += 1
        commands[place] = trial.command
        if (record := read_record(results, trial)) is not None:
            records.setdefault(place, []).append(record)
            used.add(trial.path)
    lying = {path.relative_to(results) for path in (results / experiment.name).rglob("*.json")}
    held = {place: tuple(of_place) for place, of_place in records.items()}
    return Findings(experiment, held, wanted, commands, tuple(sorted(lying - used)))


def read_experiments(folder: Path) -> list[Experiment]:
    """Every experiment in a folder, in its order."""
    paths = _experiment_files(folder)
    return sorted((Experiment.read(path) for path in paths), key=lambda each: (each.order, each.name))


def read_experiment(folder: Path, name: str) -> Experiment:
    """The experiment of a name."""
    known = [path.stem for path in _experiment_files(folder)]
    if name not in known:
        raise ReadError(f"an experiment must be a file of {folder}; got {name!r}: {did_you_mean(name, known)}")
    return Experiment.read(folder / f"{name}.toml")


def _experiment_files(folder: Path) -> list[Path]:
    paths: Iterable[Path] = folder.glob("*.toml")
    found = sorted(path for path in paths if path.stem not in (PAPER, PUBLISHED))
    if not found:
        raise ReadError(f"{folder} must be a folder of experiments, NAME.toml each; it has none: name another")
    return found
