"""graphprox tune: which settings to take."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated, Any

import typer

from graphprox.cli.options import (
    ChangeOption,
    DataOption,
    DirectedOption,
    FeaturesOption,
    FirstSplitOption,
    GraphArgument,
    HeaderOption,
    JsonOption,
    LabelsOption,
    MethodOption,
    PresetOption,
    SeedOption,
    TrainOption,
    ValidationOption,
    VerboseOption,
)
from graphprox.cli.progress import shown_progress
from graphprox.errors import ParameterError
from graphprox.loading import load


def tune(
    graph: GraphArgument,
    over: Annotated[
        list[str],
        typer.Option("--over", metavar="NAME=VALUE,...", help="A setting, and values to try.", show_default=False),
    ],
    method: MethodOption = "ft-gcl",
    preset: PresetOption = "auto",
    change: ChangeOption = None,
    splits: Annotated[int, typer.Option("--splits", min=1, help="Over how many random splits.")] = 5,
    first_split: FirstSplitOption = 1000,
    train: TrainOption = 0.1,
    validation: ValidationOption = 0.1,
    seed: SeedOption = 0,
    features: FeaturesOption = None,
    labels: LabelsOption = None,
    directed: DirectedOption = None,
    header: HeaderOption = None,
    data: DataOption = None,
    as_json: JsonOption = False,
    verbose: VerboseOption = False,  # noqa: ARG001 - main looks at it
) -> None:
    """Print the accuracy on validation nodes with each of several settings of a method, and which is best.

    A logistic regression learns from 10 % of the nodes and is counted on another 10 %; what learns classes by itself is
    trained on each split. The other 80 % decide nothing, and splits begin at seed 1000, so that nothing is chosen by
    what results are reported on. With several --over, all combinations are tried.

    Examples:

    - `graphprox tune synthetic --method gcn --over weight_decay=5e-4,5e-5 --over width=16,64`
    - `graphprox tune Cora --data DIR --method dgi --over patience=20,50 --splits 3`
    - `graphprox tune edges.csv --features words.npz --labels classes.csv --over encoder.width=128,256 --set steps=100`
    """
    from graphprox.experiments.tuning import combinations, splits_to_choose_by
    from graphprox.experiments.tuning import tune as trials_of
    from graphprox.methods.registry import method_for
    from graphprox.training.tables import parsed_override

    fixed = dict(map(parsed_override, change or ()))
    makers = [
        (changes, method_for(method, dataset=graph, preset=preset, overrides={**fixed, **changes}))
        for changes in combinations(_values(over))
    ]  # a wrong name is told before anything is read
    loaded = load(graph, data=data, features=features, labels=labels, directed=directed, header=header).graph
    drawn = splits_to_choose_by(loaded, splits, first=first_split, train=train, validation=validation)
    best = None
    with shown_progress(graph) as show:
        for trial in trials_of(loaded, makers, drawn, seed=seed, progress=show):
            best = trial if best is None or trial.accuracy > best.accuracy else best
            if as_json:
                print(json.dumps(asdict(trial)), flush=True)
            else:
                figures = f"{100 * trial.accuracy:.2f} ± {100 * trial.deviation:.2f} %  {trial.seconds:8.1f} s"
                print(f"{figures}  {_said(trial.settings)}", flush=True)
    if best is not None and not as_json:
        print(f"best: {_said(best.settings)}")


def _values(texts: list[str]) -> dict[str, list[Any]]:
    """The values of each setting; a setting that is named twice has the values of both."""
    from graphprox.training.tables import parsed_override

    values: dict[str, list[Any]] = {}
    for text in texts:
        name, equals, listed = text.partition("=")
        if not (equals and all(part.strip() for part in listed.split(","))):
            raise ParameterError(f"--over must be NAME=VALUE,VALUE..., such as width=16,64; got {text!r}")
        for part in listed.split(","):
            key, value = parsed_override(f"{name}={part}")
            values.setdefault(key, []).append(value)
    return values


def _said(settings: Mapping[str, Any]) -> str:
    return " ".join(f"--set {name}={value}" for name, value in settings.items())
