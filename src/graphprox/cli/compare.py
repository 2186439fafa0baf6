"""graphprox compare: methods side by side on one graph."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from graphprox.cli.options import (
    DataOption,
    DirectedOption,
    FeaturesOption,
    GraphArgument,
    HeaderOption,
    JsonOption,
    LabelsOption,
    SeedOption,
    VerboseOption,
)
from graphprox.cli.progress import shown_progress
from graphprox.errors import ParameterError
from graphprox.io.files import writable_folder
from graphprox.loading import load

if TYPE_CHECKING:
    from graphprox.experiments.comparison import Outcome


def compare(
    graph: GraphArgument,
    methods: Annotated[
        str,
        typer.Option(
            "--methods",
            metavar="NAMES",
            help="Methods with commas between them, all, or usual: a few of each kind. graphprox methods lists them.",
        ),
    ] = "usual",
    protocol: Annotated[
        str, typer.Option("--protocol", metavar="random|public|compat|descent", help="Which splits of the nodes.")
    ] = "random",
    splits: Annotated[int, typer.Option("--splits", min=1, help="How many random splits.")] = 10,
    seed: SeedOption = 0,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder for the picture.")] = Path("compare"),
    features: FeaturesOption = None,
    labels: LabelsOption = None,
    directed: DirectedOption = None,
    header: HeaderOption = None,
    data: DataOption = None,
    as_json: JsonOption = False,
    verbose: VerboseOption = False,  # noqa: ARG001 - main looks at it
) -> None:
    """Embed a graph by several methods, and show quality (where there are labels), seconds and memory side by side.

    Quality is the accuracy of a logistic regression on test nodes; methods that learn classes by themselves are trained
    anew on each split. One training each, with the settings for the data set where there are some. Each row is printed
    as it is done; a method that fails is told, and the others go on.

    Examples:

    - `graphprox compare synthetic`
    - `graphprox compare Cora --data DIR --methods dgi,grace,ft-gcl --splits 3`
    - `graphprox compare edges.csv --features words.npz --labels classes.csv --methods all --out pictures`
    """
    folder = writable_folder(out)

    from graphprox.evaluation.protocols import PROTOCOLS
    from graphprox.experiments.comparison import USUAL, chosen_methods, compare, draw
    from graphprox.training.tables import did_you_mean

    if protocol not in PROTOCOLS:
        hint = did_you_mean(protocol, PROTOCOLS)
        raise ParameterError(f"--protocol must be one of {', '.join(PROTOCOLS)}; got {protocol!r}: {hint}")
    wanted = list(USUAL) if methods == "usual" else [name.strip() for name in methods.split(",")]
    chosen_methods(wanted, labelled=True)  # a wrong name is told before anything is read
    loaded = load(graph, data=data, features=features, labels=labels, directed=directed, header=header)
    outcomes: list[Outcome] = []
    console = Console(highlight=False, emoji=False, markup=False, soft_wrap=True)
    with shown_progress(graph) as show:
        for outcome in compare(loaded, wanted, protocol=protocol, splits=splits, seed=seed, progress=show):
            outcomes.append(outcome)
            if outcome.failure:
                Console(stderr=True, markup=False, soft_wrap=True).print(f"{outcome.title}: {outcome.failure}")
    paths = draw(folder, outcomes, loaded.name)
    if as_json:
        said = {
            "graph": loaded.name,
            "seed": seed,
            "methods": list(map(asdict, outcomes)),
            "files": list(map(str, paths)),
        }
        print(json.dumps(said, indent=2))
        return
    console.print(_table(outcomes))
    print(*paths, sep="\n")


def _table(outcomes: list[Outcome]) -> Table:
    labelled = any(each.accuracy is not None for each in outcomes)
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("method", no_wrap=True)
    for column in [*(["accuracy", "macro-F1"] if labelled else []), "seconds", "memory"]:
        table.add_column(column, justify="right", no_wrap=True)
    for each in sorted(outcomes, key=lambda each: -(each.accuracy or 0)):
        quality = [_percent(each.accuracy, each.deviation), _percent(each.macro_f1, None)] if labelled else []
        table.add_row(each.title, *quality, *_cost(each))
    return table


def _percent(mean: float | None, deviation: float | None) -> str:
    if mean is None:
        return "–"
    return f"{100 * mean:.1f}" + ("" if deviation is None else f" ± {100 * deviation:.1f}") + " %"


def _cost(outcome: Outcome) -> tuple[str, str]:
    seconds = "failed" if outcome.seconds is None else f"{outcome.seconds:.1f}"
    return seconds, "–" if outcome.peak_memory is None else f"{outcome.peak_memory / 1e6:,.0f} MB"
