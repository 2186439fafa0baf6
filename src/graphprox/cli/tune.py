"""graphprox tune: select settings by validation accuracy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated, Any

import typer

from graphprox._utils.defaults import AUTO, DEFAULT_TRAINED_METHOD
from graphprox._utils.progress import report_progress
from graphprox._utils.strict_json import dump_json
from graphprox.cli.graph_source import GraphSource, reads_graph
from graphprox.cli.options import (
    FirstSplitOption,
    JsonOption,
    MethodOption,
    PresetOption,
    ScaleOption,
    SeedOption,
    SetOption,
    SplitsOption,
    TrainOption,
    ValOption,
    collect_settings,
    parse_setting,
)
from graphprox.cli.progress_display import progress_bars
from graphprox.errors import ParameterError


@reads_graph()
def tune_settings(
    source: GraphSource,
    over: Annotated[
        list[str],
        typer.Option("--over", metavar="NAME=VALUE,...", help="A setting and the values to try.", show_default=False),
    ],
    method: MethodOption = DEFAULT_TRAINED_METHOD,
    preset: PresetOption = AUTO,
    changes: SetOption = None,
    scale: ScaleOption = AUTO,
    splits: SplitsOption = 5,
    first_split: FirstSplitOption = 1000,
    train: TrainOption = 0.1,
    val: ValOption = 0.1,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Print the validation accuracy of a method with each of several settings, and the best.

    A logistic regression is trained on 10 % of the nodes and evaluated on another 10 %; semi-supervised methods are
    trained on each split. The other 80 % are not used. Splits begin at seed 1000, so that settings are not selected on
    the splits used for results. With several --over, all combinations are tried.

    Examples:

    - `graphprox tune synthetic --method gcn --over weight_decay=5e-4,5e-5 --over hidden_channels=16,64`
    - `graphprox tune Cora --data DIR --method dgi --over patience=20,50 --splits 3`
    - `graphprox tune edges.csv --features words.npz --labels classes.csv --over n_components=128,256 --set epochs=100`
    """
    from graphprox.model_selection import make_candidates, selection_splits, tune

    fixed = collect_settings(changes, scale=scale)
    # An invalid name is reported before anything is read.
    candidates = make_candidates(method, _parse_grid(over), preset=preset, dataset=source.name, **fixed)
    graph = source.load().graph
    selected = selection_splits(graph, splits, random_state=first_split, train=train, val=val)
    best = None
    with progress_bars(source.name) as show, report_progress(show):
        for result in tune(graph, candidates, selected, random_state=seed):
            best = result if best is None or result.accuracy > best.accuracy else best
            if as_json:
                print(dump_json(asdict(result)), flush=True)
            else:
                accuracy = f"{100 * result.accuracy:.2f} ± {100 * result.std:.2f} %"
                print(f"{accuracy}  {result.seconds:8.1f} s  {_to_options(result.settings)}", flush=True)
    if best is not None and not as_json:
        print(f"best: {_to_options(best.settings)}")


def _parse_grid(texts: list[str]) -> dict[str, list[Any]]:
    """Return the values of each setting; a setting that is named twice has the values of both."""
    grid: dict[str, list[Any]] = {}
    for text in texts:
        name, equals, values = text.partition("=")
        if not (equals and all(part.strip() for part in values.split(","))):
            raise ParameterError(f"--over must be NAME=VALUE,VALUE..., such as n_components=16,64; got {text!r}")
        for part in values.split(","):
            key, value = parse_setting(f"{name}={part}")
            grid.setdefault(key, []).append(value)
    return grid


def _to_options(settings: Mapping[str, Any]) -> str:
    return " ".join(f"--set {name}={value}" for name, value in settings.items())
