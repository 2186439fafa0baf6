"""graphprox curve: validation accuracy by the number of epochs."""

from __future__ import annotations

import dataclasses
from typing import Annotated

import typer

from graphprox._utils.defaults import AUTO, DEFAULT_TRAINED_METHOD
from graphprox._utils.strict_json import dump_json
from graphprox.cli.graph_source import GraphSource, reads_graph
from graphprox.cli.options import (
    FirstSplitOption,
    JsonOption,
    MethodOption,
    PresetOption,
    SeedOption,
    SetOption,
    SplitsOption,
    TrainOption,
    ValOption,
    collect_settings,
)
from graphprox.errors import ParameterError


@reads_graph()
def show_curve(
    source: GraphSource,
    epochs: Annotated[
        str, typer.Option("--epochs", metavar="N,N,...", help="Numbers of epochs after which to evaluate.")
    ] = "0,10,20,30,50,70,100,150,200",
    method: MethodOption = DEFAULT_TRAINED_METHOD,
    preset: PresetOption = AUTO,
    changes: SetOption = None,
    seed: SeedOption = 0,
    splits: SplitsOption = 5,
    first_split: FirstSplitOption = 1000,
    train: TrainOption = 0.1,
    val: ValOption = 0.1,
    as_json: JsonOption = False,
) -> None:
    """Print the validation accuracy by the number of epochs in one training run of FT-GCL or its family.

    A logistic regression is trained on 10 % of the nodes and evaluated on another 10 %; the other 80 % are not used.
    Splits begin at seed 1000, so that settings are not selected on the splits used for results. For other methods,
    use `graphprox tune GRAPH --method NAME --over epochs=50,100,200`.

    Examples:

    - `graphprox curve Cora --data DIR`
    - `graphprox curve synthetic --epochs 0,50,100 --set encoder=sage --json`
    - `graphprox curve Texas --train 0.48 --val 0.32 --splits 20`
    """
    from graphprox.ftgcl.base import ContrastiveEmbedder
    from graphprox.methods.factory import make_embedder
    from graphprox.model_selection import selection_splits, training_curve

    settings = collect_settings(changes)
    estimator = make_embedder(method, preset=preset, dataset=source.name, **settings, random_state=seed)
    if not isinstance(estimator, ContrastiveEmbedder):
        raise ParameterError(
            f"--method must be FT-GCL or one of its family; got {method!r}: use graphprox tune {source.name} "
            f"--method {method} --over epochs=50,100,200"
        )
    numbers = _parse_epochs(epochs)
    graph = source.load().graph
    selected = selection_splits(graph, splits, random_state=first_split, train=train, val=val)
    for point in training_curve(graph, estimator, numbers, selected):
        if as_json:
            print(dump_json(dataclasses.asdict(point)), flush=True)
        else:
            loss = "" if point.loss is None else f"  loss {point.loss:.4f}"
            print(f"{point.epochs:6}  {100 * point.accuracy:.2f} ± {100 * point.std:.2f} %{loss}", flush=True)


def _parse_epochs(text: str) -> list[int]:
    try:
        numbers = [int(part) for part in text.split(",")]
    except ValueError:
        numbers = [-1]
    if min(numbers) < 0:
        raise ParameterError(f"--epochs must be non-negative integers separated by commas; got {text!r}")
    return numbers
