"""Experiment: a table or a figure as data, and the trials that it takes.

What becomes of it:

    experiments/NAME.toml ─► Experiment ─► Trial ─► Record ─► table, figure, page
"""

from __future__ import annotations

import hashlib
import itertools
import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from graphprox.errors import ParameterError, ReadError
from graphprox.io.files import readable, reason
from graphprox.methods.embedders import Maker
from graphprox.methods.registry import METHODS, method_for
from graphprox.training.tables import did_you_mean, shown

ARITHMETIC = 1  # counts up when a change to the code moves figures on purpose, so that older records no longer hold

Task = Literal["classification", "links", "curve", "map", "homophily", "barbell"]
Show = Literal["table", "bars", "curves", "heatmap", "map", "homophily", "barbell"]
Names = Annotated[tuple[str, ...], Field(min_length=1)]
Size = Annotated[int, Field(ge=1)]
Number = Annotated[int, Field(ge=0)]


class Row(BaseModel):
    """A row of a table: a method, and what is changed of its settings.

    In ``preset``, "{dataset}" stands for the data set's name. ``seeds`` may be other than the experiment's, for all
    data sets or for those it names; ``without`` are data sets that it is not run on, and why. ``reported_as`` is what
    the paper calls it, its title unless told.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    method: str
    title: str = ""
    preset: str = "auto"
    set: Mapping[str, Any] = {}
    seeds: Size | Mapping[str, Size] | None = None
    reported_as: str = ""
    without: Mapping[str, str] = {}

    def maker(self, dataset: str) -> Maker:
        """What makes its embeddings of a data set, or tells its classes."""
        preset = self.preset.replace("{dataset}", dataset)
        return method_for(self.method, dataset=dataset, preset=preset, overrides=self.set)

    def trainings(self, dataset: str) -> int | None:
        """How many it has on a data set, where that is not what the experiment says."""
        return self.seeds.get(dataset) if isinstance(self.seeds, Mapping) else self.seeds


class Experiment(BaseModel):
    """What is measured: which rows on which data sets, how often, and how it is shown.

    ``rows`` are names of methods, or of tables in ``variants``; ``grid`` adds a row for each combination of settings.
    ``paper`` is the table of the paper's figures; ``reported_as`` names data sets as it does, "" for one it has not.
    ``not_run`` says why a data set has no records; ``reference`` is the row that others are tested against.

    >>> rows = ["raw", "ft-gcl"]
    >>> experiment = Experiment(name="small", title="A small one", datasets=["synthetic"], rows=rows, seeds=2)
    >>> [str(trial.path) for trial in experiment.trials()]
    ['small/synthetic/raw/0.json', 'small/synthetic/ft-gcl/0.json', 'small/synthetic/ft-gcl/1.json']
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    title: str
    about: str = ""
    order: int = 0
    task: Task = "classification"
    show: Show = "table"
    protocol: Literal["random", "public", "compat", "descent"] = "random"
    datasets: Names
    rows: tuple[str, ...] = ()
    variants: Mapping[str, Row] = {}
    grid: Mapping[str, tuple[Any, ...]] = {}
    grid_row: Row | None = None
    metrics: Names = ("accuracy", "macro_f1")
    seeds: Size = 10
    first_seed: Number = 0
    splits: Size = 10
    first_split: Number = 0
    marks: tuple[Number, ...] = ()
    reference: str = "ft-gcl"
    paper: str | None = None
    reported_as: Mapping[str, str] = {}
    not_run: Mapping[str, str] = {}

    @model_validator(mode="after")
    def _check_rows(self) -> Experiment:
        for name in self.rows:
            if name not in self.variants and name not in METHODS:
                known = [*METHODS, *self.variants]
                raise ParameterError(f"rows must name methods or variants; got {name!r}: {did_you_mean(name, known)}")
        for name, row in self.variants.items():
            counted = row.seeds if isinstance(row.seeds, Mapping) else {}
            for dataset in (*counted, *row.without):
                self._check_choice(f"a data set of variants.{name}", dataset, self.datasets)
        if not self.all_rows:
            raise ParameterError("an experiment must have rows, or a grid; got neither")
        return self

    @property
    def all_rows(self) -> dict[str, Row]:
        """Every row by the name that its records go by, with a title for people."""
        named = {name: self.variants.get(name, Row(method=name)) for name in self.rows}
        if self.grid and self.grid_row is not None:
            for values in itertools.product(*self.grid.values()):
                changes = dict(zip(self.grid, values, strict=True))
                name = ",".join(f"{field}={value}" for field, value in changes.items())
                named[name] = self.grid_row.model_copy(update={"set": {**self.grid_row.set, **changes}, "title": name})
        return {
            name: row if row.title else row.model_copy(update={"title": METHODS[row.method].about.title})
            for name, row in named.items()
        }

    def trials(self, *, only: str | None = None, row: str | None = None, seeds: int | None = None) -> list[Trial]:
        """All that has to be measured: data set by data set, row by row, seed by seed."""
        self._check_choice("only", only, self.datasets)
        self._check_choice("row", row, self.all_rows)
        return [
            trial
            for dataset in self.datasets
            if only in (None, dataset)
            for name, each in self.all_rows.items()
            if row in (None, name) and dataset not in each.without
            for trial in self._of_row(dataset, name, each, seeds)
        ]

    def _of_row(self, dataset: str, name: str, row: Row, seeds: int | None) -> Iterator[Trial]:
        drawn = self.task in ("homophily", "map") or row.maker(dataset).drawn
        count = (row.trainings(dataset) or self.seeds) if drawn else 1
        for seed in range(min(count, seeds or count)):
            yield Trial(self, dataset, name, row, self.first_seed + seed)

    def _check_choice(self, option: str, given: str | None, known: Any) -> None:
        if given is not None and given not in known:
            raise ParameterError(f"{option} must be of {self.name}; got {given!r}: {did_you_mean(given, known)}")

    @classmethod
    def read(cls, path: str | Path) -> Experiment:
        """The experiment in a TOML file, whose name it has."""
        try:
            fields = tomllib.loads(readable(path).read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            raise ReadError(f"{path} must be TOML; it cannot be read as such: {reason(error)}") from None
        try:
            return cls(name=Path(path).stem, **fields)
        except (ParameterError, TypeError) as error:
            raise ReadError(f"in {path}, {error}") from None
        except ValidationError as error:
            raise ReadError(f"in {path}, {_sentence(error)}") from None


def trials_of(
    experiments: Sequence[Experiment], *, only: str | None = None, row: str | None = None, seeds: int | None = None
) -> list[Trial]:
    """The trials of several experiments; one that has no such data set or row is left out, if another has."""
    fitting = [
        each
        for each in experiments
        if (only is None or only in each.datasets) and (row is None or row in each.all_rows)
    ]
    # Where none fits, the first says what it has.
    return [trial for each in fitting or experiments[:1] for trial in each.trials(only=only, row=row, seeds=seeds)]


def _sentence(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    cause = first.get("ctx", {}).get("error")
    if isinstance(cause, ParameterError):
        return str(cause)
    place = ".".join(map(str, first["loc"])) or "the experiment"
    return f"{place} is not as it must be: {first['msg'][0].lower()}{first['msg'][1:]}; got {shown(first['input'])}"


def _folder(name: str) -> str:
    """A name as that of one folder: nothing in it leads elsewhere.

    >>> _folder("Cora"), _folder("../graphs/mine.npz")
    ('Cora', 'graphs-mine.npz')
    """
    return re.sub(r"[/\\]+", "-", name).lstrip(".-") or "-"


@dataclass(frozen=True)
class Trial:
    """One thing to measure: a row of an experiment on one data set, from one seed, over all its splits."""

    experiment: Experiment
    dataset: str
    row_name: str
    row: Row
    seed: int

    @property
    def path(self) -> Path:
        """Where its record lies in the folder of results; a data set may be a file of any folder, and stays inside."""
        return Path(self.experiment.name, _folder(self.dataset), _folder(self.row_name), f"{self.seed}.json")

    @property
    def maker(self) -> Maker:
        """What makes its embedding, or tells its classes."""
        return self.row.maker(self.dataset)

    @property
    def split_seeds(self) -> range:
        """The seeds of its splits, or for public ones their numbers."""
        return range(self.experiment.first_split, self.experiment.first_split + self.experiment.splits)

    def settings(self) -> dict[str, Any]:
        """All that its figures depend on beside the graph."""
        task = self.experiment.task
        of_task: dict[str, Any] = {"task": task}
        if task in ("classification", "curve"):
            of_task["protocol"] = self.experiment.protocol
        if task in ("classification", "curve", "links"):
            of_task["splits"] = list(self.split_seeds)
        if task == "curve":
            of_task["marks"] = list(self.experiment.marks)
        if task not in ("homophily", "barbell"):
            of_task |= {"method": self.row.method, "recipe": self.maker.settings}
        return {**of_task, "dataset": self.dataset, "seed": self.seed}

    def fingerprint(self, graph: str) -> str:
        """A hash of all that its figures depend on, the checksum of the graph among it."""
        everything = {**self.settings(), "graph": graph, "arithmetic": ARITHMETIC}
        return hashlib.sha256(json.dumps(everything, sort_keys=True, default=str).encode()).hexdigest()

    @property
    def command(self) -> str:
        """What measures it again."""
        name, row = self.experiment.name, self.row_name
        return f"graphprox run experiments/{name}.toml --only {self.dataset} --row {row}"
