"""Experiments as TOML files, and the trials they consist of."""

from __future__ import annotations

import hashlib
import itertools
import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    NonNegativeInt,
    PositiveInt,
    ValidationError,
    model_validator,
)

from graphprox._utils.defaults import AUTO, ProtocolName
from graphprox._utils.suggestions import did_you_mean, shorten_repr
from graphprox._utils.toml import to_plain
from graphprox.errors import ParameterError, ReadError
from graphprox.io.storage.files import check_readable, reason
from graphprox.methods import METHODS, GraphEmbedder, GraphMethod
from graphprox.methods import method as make_method

ARITHMETIC = 1  # increased when a change of the code changes figures on purpose, which invalidates older records
METHOD_ARITHMETIC = {"auto": 2, "dgi": 1, "graphmae": 1}  # added to it, for changes of a single method
PAPER, PUBLISHED = "paper", "published"  # TOML files of reported figures in the folder of experiments

Task = Literal["classification", "links", "groups", "curve", "map", "homophily", "barbell"]
Show = Literal["table", "bars", "curves", "heatmap", "map", "homophily", "barbell"]
Names = Annotated[tuple[str, ...], Field(min_length=1)]
TrialKey: TypeAlias = tuple[str, str, int]  # data set, row and seed: unique within an experiment


class ExperimentRow(BaseModel):
    """A row of a table: a method and the settings that differ from its preset.

    Parameters
    ----------
    method : str
        Name of the method.
    title : str, default=""
        Title in tables; the method's own title if empty.
    preset : str, default=""
        Name of a preset; ``{dataset}`` is replaced by the name of the data set. The experiment's if empty.
    set : mapping
        Settings that override those of the preset.
    seeds : int or mapping, optional
        Number of training runs if it differs from the experiment's, for all data sets or by data set.
    reported_as : str, default=""
        Name of the row in the paper; its title if empty.
    without : mapping
        Data sets that the row is not run on, and why.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    method: str
    title: str = ""
    preset: str = ""
    set: Mapping[str, Any] = {}
    seeds: PositiveInt | Mapping[str, PositiveInt] | None = None
    reported_as: str = ""
    without: Mapping[str, str] = {}

    def num_seeds(self, dataset: str) -> int | None:
        """Return the number of training runs on a data set, or None for the experiment's."""
        return self.seeds.get(dataset) if isinstance(self.seeds, Mapping) else self.seeds


class Experiment(BaseModel):
    """A table or a figure: which rows are measured on which data sets, how often, and how they are shown.

    Parameters
    ----------
    name : str
        Name of the file without its suffix.
    title, about : str
        Heading and introduction on the page.
    order : int, default=0
        Position on the page.
    task, protocol : str
        What is measured, and by which protocol nodes are classified.
    show : str, default="table"
        How the results are shown.
    datasets, rows : sequence of str
        Data sets, and names of methods or of ``variants``.
    variants : mapping of str to ExperimentRow
        Rows with their own settings.
    preset : str, default="auto"
        Preset of the rows that do not give their own; ``"default"`` for methods as they are, without tuning.
    grid, grid_row : mapping, ExperimentRow
        Adds a row for each combination of settings.
    metrics : sequence of str
        Figures to record.
    seeds, first_seed, splits, first_split : int
        Number of training runs and of splits, and the first random seed of each.
    marks : sequence of int
        Numbers of epochs after which a training curve is evaluated.
    reference : str, default="ft-gcl"
        Row that the others are tested against.
    paper : str, optional
        Table of ``paper.toml`` with the paper's figures.
    reported_as : mapping of str to str
        The paper's names of data sets; empty for one that the paper does not have.
    not_run : mapping of str to str
        Data sets without records, and why.

    Examples
    --------
    >>> rows = ["raw", "ft-gcl"]
    >>> experiment = Experiment(name="small", title="A small one", datasets=["synthetic"], rows=rows, seeds=2)
    >>> [trial.key for trial in experiment.trials()]
    [('synthetic', 'raw', 0), ('synthetic', 'ft-gcl', 0), ('synthetic', 'ft-gcl', 1)]
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    title: str
    about: str = ""
    order: int = 0
    task: Task = "classification"
    show: Show = "table"
    protocol: ProtocolName = "random"
    datasets: Names
    rows: tuple[str, ...] = ()
    variants: Mapping[str, ExperimentRow] = {}
    preset: str = AUTO
    grid: Mapping[str, tuple[Any, ...]] = {}
    grid_row: ExperimentRow | None = None
    metrics: Names = ("accuracy", "macro_f1")
    seeds: PositiveInt = 10
    first_seed: NonNegativeInt = 0
    splits: PositiveInt = 10
    first_split: NonNegativeInt = 0
    marks: tuple[NonNegativeInt, ...] = ()
    reference: str = "ft-gcl"
    paper: str | None = None
    reported_as: Mapping[str, str] = {}
    not_run: Mapping[str, str] = {}

    @model_validator(mode="after")
    def _check_rows(self) -> Experiment:
        known = (*METHODS, *self.variants)
        for name in self.rows:
            if name not in known:
                raise ParameterError(f"rows must name methods or variants; got {name!r}: {did_you_mean(name, known)}")
        given = {f"variants.{name}": row for name, row in self.variants.items()}
        for place, row in {**given, **({"grid_row": self.grid_row} if self.grid_row else {})}.items():
            if row.method not in METHODS:
                raise ParameterError(
                    f"the method of {place} must be registered; got {row.method!r}: {did_you_mean(row.method, METHODS)}"
                )
        for name, row in self.variants.items():
            by_dataset = row.seeds if isinstance(row.seeds, Mapping) else {}
            for dataset in (*by_dataset, *row.without):
                self._check_choice(f"a data set of variants.{name}", dataset, self.datasets)
        if not self.all_rows:
            raise ParameterError("an experiment must have rows, or a grid; got neither")
        return self

    @property
    def all_rows(self) -> dict[str, ExperimentRow]:
        """All rows by the name used in records, each with a title and a preset."""
        rows = {name: self.variants.get(name, ExperimentRow(method=name)) for name in self.rows} | self._grid_rows()
        return {name: self._complete(row) for name, row in rows.items()}

    def _complete(self, row: ExperimentRow) -> ExperimentRow:
        """Return a row with the title of its method and the preset of the experiment, unless it has its own."""
        title, preset = row.title or METHODS[row.method].info.title, row.preset or self.preset
        return row.model_copy(update={"title": title, "preset": preset})

    def _grid_rows(self) -> dict[str, ExperimentRow]:
        if not self.grid or self.grid_row is None:
            return {}
        rows = {}
        for values in itertools.product(*self.grid.values()):
            changes = dict(zip(self.grid, values, strict=True))
            name = ",".join(f"{setting}={value}" for setting, value in changes.items())
            rows[name] = self.grid_row.model_copy(update={"set": {**self.grid_row.set, **changes}, "title": name})
        return rows

    def trials(self, *, only: str | None = None, row: str | None = None, seeds: int | None = None) -> list[Trial]:
        """List the trials, ordered by data set, row and seed.

        Parameters
        ----------
        only : str, optional
            The only data set.
        row : str, optional
            The only row.
        seeds : int, optional
            Maximum number of training runs of each row.

        Returns
        -------
        list of Trial

        Raises
        ------
        ParameterError
            If the experiment has no such data set or row.
        """
        rows = self.all_rows
        self._check_choice("only", only, self.datasets)
        self._check_choice("row", row, rows)
        return [
            trial
            for dataset in self.datasets
            if only in (None, dataset)
            for name, each in rows.items()
            if row in (None, name) and dataset not in each.without
            for trial in self._trials_of_row(dataset, name, each, seeds)
        ]

    def _trials_of_row(self, dataset: str, name: str, row: ExperimentRow, seeds: int | None) -> Iterator[Trial]:
        stochastic = self.task in ("homophily", "map") or METHODS[row.method].stochastic
        count = (row.num_seeds(dataset) or self.seeds) if stochastic else 1
        recipe = _recorded_settings(_make_method(row, dataset))  # once, as validating a recipe takes milliseconds
        for seed in range(min(count, seeds or count)):
            yield Trial(self, dataset, name, row, self.first_seed + seed, recipe)

    def _check_choice(self, option: str, given: str | None, known: Iterable[str]) -> None:
        if given is not None and given not in known:
            raise ParameterError(f"{option} must be one of {self.name}; got {given!r}: {did_you_mean(given, known)}")

    @classmethod
    def read(cls, path: str | Path) -> Experiment:
        """Read an experiment from a TOML file.

        Raises
        ------
        ReadError
            If the file is not a valid experiment.
        """
        try:
            fields = tomllib.loads(check_readable(path).read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            raise ReadError(f"{path} must be TOML; it cannot be parsed: {reason(error)}") from None
        try:
            return cls(name=Path(path).stem, **fields)
        except (ParameterError, TypeError) as error:
            raise ReadError(f"in {path}, {error}") from None
        except ValidationError as error:
            raise ReadError(f"in {path}, {_describe(error)}") from None


def _describe(error: ValidationError) -> str:
    """Describe the first problem that pydantic found."""
    first = error.errors(include_url=False)[0]
    cause = first.get("ctx", {}).get("error")
    if isinstance(cause, ParameterError):
        return str(cause)
    place = ".".join(map(str, first["loc"])) or "the experiment"
    return f"{place} is invalid: {first['msg'][0].lower()}{first['msg'][1:]}; got {shorten_repr(first['input'])}"


# -- folders of experiments -------------------------------------------------------------------------------------------


def read_experiments(folder: Path) -> list[Experiment]:
    """Read all experiments of a folder, in the order of the page."""
    experiments = (Experiment.read(path) for path in _experiment_files(folder))
    return sorted(experiments, key=lambda each: (each.order, each.name))


def read_experiment(name: str, folder: Path) -> Experiment:
    """Read an experiment by name from a folder, or by the path of its file."""
    if name.endswith(".toml"):
        return Experiment.read(name)
    known = [path.stem for path in _experiment_files(folder)]
    if name not in known:
        raise ReadError(f"an experiment must be a file of {folder}; got {name!r}: {did_you_mean(name, known)}")
    return Experiment.read(folder / f"{name}.toml")


def _experiment_files(folder: Path) -> list[Path]:
    paths = sorted(path for path in folder.glob("*.toml") if path.stem not in (PAPER, PUBLISHED))
    if not paths:
        raise ReadError(f"{folder} must contain experiments, NAME.toml each; it has none: give another folder")
    return paths


def list_trials(
    experiments: Sequence[Experiment], *, only: str | None = None, row: str | None = None, seeds: int | None = None
) -> list[Trial]:
    """List the trials of several experiments, skipping experiments without the given data set or row."""
    matching = [
        each
        for each in experiments
        if (only is None or only in each.datasets) and (row is None or row in each.all_rows)
    ]
    # If none matches, the first one raises an error that lists its choices.
    return [trial for each in matching or experiments[:1] for trial in each.trials(only=only, row=row, seeds=seeds)]


# -- trials -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Trial:
    """One measurement: a row of an experiment on one data set, from one seed, over all splits.

    Parameters
    ----------
    experiment : Experiment
    dataset : str
    row_name : str
    row : ExperimentRow
    seed : int
    recipe : mapping
        All settings of the method on the data set.
    """

    experiment: Experiment
    dataset: str
    row_name: str
    row: ExperimentRow
    seed: int
    recipe: Mapping[str, Any] = field(repr=False, compare=False)

    @property
    def key(self) -> TrialKey:
        """Data set, row and seed."""
        return self.dataset, self.row_name, self.seed

    @property
    def split_seeds(self) -> range:
        """Random seeds of the splits, or the indices of public ones."""
        return range(self.experiment.first_split, self.experiment.first_split + self.experiment.splits)

    @property
    def command(self) -> str:
        """Command line that runs the trial."""
        return f"python -m reproduction run {self.experiment.name} --only {self.dataset} --row {self.row_name}"

    def make_method(self) -> GraphMethod:
        """Create the method, with its settings for the data set and the seed of the trial."""
        return _make_method(self.row, self.dataset, random_state=self.seed)

    def make_embedder(self) -> GraphEmbedder:
        """Create the method, which must compute embeddings.

        Raises
        ------
        ParameterError
            If it is a classifier.
        """
        method = self.make_method()
        if not isinstance(method, GraphEmbedder):
            raise ParameterError(
                f"the method of the task {self.experiment.task} must compute embeddings; got a classifier: use the "
                "task classification"
            )
        return method

    def settings(self) -> dict[str, Any]:
        """Return everything that the figures depend on, except for the graph."""
        experiment, task = self.experiment, self.experiment.task
        settings: dict[str, Any] = {"task": task}
        if task in ("classification", "curve"):
            settings["protocol"] = experiment.protocol
        if task in ("classification", "curve", "links", "groups"):
            settings["splits"] = list(self.split_seeds)
        if task == "curve":
            settings["marks"] = list(experiment.marks)
        if task not in ("homophily", "barbell"):
            settings |= {"method": self.row.method, "recipe": dict(self.recipe)}
        return {**settings, "dataset": self.dataset, "seed": self.seed}

    def fingerprint(self, graph: str) -> str:
        """Return a SHA-256 of the settings and the checksum of the graph."""
        arithmetic = ARITHMETIC + METHOD_ARITHMETIC.get(self.row.method, 0)
        content = {**self.settings(), "graph": graph, "arithmetic": arithmetic}
        return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()


def _make_method(row: ExperimentRow, dataset: str, *, random_state: int = 0) -> GraphMethod:
    preset = row.preset.replace("{dataset}", dataset)
    return make_method(row.method, dataset=dataset, preset=preset, random_state=random_state, **row.set)


def _recorded_settings(method: GraphMethod) -> dict[str, Any]:
    """Return the settings of a method; those of FT-GCL and its family as the tables of a recipe."""
    from graphprox.ftgcl.base import ContrastiveEmbedder
    from graphprox.ftgcl.overrides import FIXED

    if not isinstance(method, ContrastiveEmbedder):
        return method.settings()
    recipe = {name: value for name, value in to_plain(method.recipe()).items() if name not in FIXED}
    return recipe if method.scale == AUTO else {**recipe, "scale": method.scale}
