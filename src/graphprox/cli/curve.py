"""graphprox curve: how long to train."""

from __future__ import annotations

import dataclasses
import json
from typing import Annotated

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
    PresetOption,
    TrainOption,
    ValidationOption,
    VerboseOption,
)
from graphprox.errors import ParameterError
from graphprox.loading import load


def curve(
    graph: GraphArgument,
    steps: Annotated[str, typer.Option("--steps", help="After which steps to look.")] = "0,10,20,30,50,70,100,150,200",
    method: Annotated[str, typer.Option("--method", help="FT-GCL or one of its kin; tune is for all.")] = "ft-gcl",
    preset: PresetOption = "auto",
    change: ChangeOption = None,
    splits: Annotated[int, typer.Option("--splits", min=1, help="Over how many random splits.")] = 5,
    first_split: FirstSplitOption = 1000,
    train: TrainOption = 0.1,
    validation: ValidationOption = 0.1,
    features: FeaturesOption = None,
    labels: LabelsOption = None,
    directed: DirectedOption = None,
    header: HeaderOption = None,
    data: DataOption = None,
    as_json: JsonOption = False,
    verbose: VerboseOption = False,  # noqa: ARG001 - main looks at it
) -> None:
    """Print the accuracy on validation nodes after more and more steps of one training.

    A logistic regression learns from 10 % of the nodes and is counted on another 10 %; the other 80 % are never looked
    at, and splits begin at seed 1000, so that nothing is chosen by what results are reported on.

    Examples:

    - `graphprox curve Cora --data DIR`
    - `graphprox curve synthetic --steps 0,50,100 --set encoder.kind=sage --json`
    - `graphprox curve Texas --train 0.48 --validation 0.32 --splits 20`
    """
    from graphprox.experiments.curve import curve as marks_of
    from graphprox.experiments.tuning import splits_to_choose_by
    from graphprox.methods.family import recipe_for
    from graphprox.methods.registry import method_named

    if not method_named(method).goes_step_by_step:
        raise ParameterError(
            f"--method must be FT-GCL or one of its kin, whose trainings go step by step; got {method!r}: "
            f"take graphprox tune {graph} --method {method} --over epochs=50,100,200"
        )
    recipe = recipe_for(method, preset=preset, dataset=graph, overrides=change or ())
    marks = _whole_numbers(steps)
    loaded = load(graph, data=data, features=features, labels=labels, directed=directed, header=header).graph
    chosen = splits_to_choose_by(loaded, splits, first=first_split, train=train, validation=validation)
    for mark in marks_of(loaded, recipe, chosen, marks):
        if as_json:
            print(json.dumps(dataclasses.asdict(mark)), flush=True)
        else:
            loss = "" if mark.loss is None else f"  loss {mark.loss:.4f}"
            print(f"{mark.steps:6}  {100 * mark.accuracy:.2f} ± {100 * mark.deviation:.2f} %{loss}", flush=True)


def _whole_numbers(text: str) -> list[int]:
    try:
        numbers = [int(part) for part in text.split(",")]
    except ValueError:
        numbers = [-1]
    if min(numbers) < 0:
        raise ParameterError(f"--steps must be whole numbers with commas between them, such as 0,10,50; got {text!r}")
    return numbers
