"""graphprox info: what a graph looks like."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Annotated

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
    VerboseOption,
)
from graphprox.datasets import Dataset
from graphprox.io.files import written_whole
from graphprox.loading import load
from graphprox.statistics import Statistics, statistics


def info(
    graph: GraphArgument,
    features: FeaturesOption = None,
    labels: LabelsOption = None,
    directed: DirectedOption = None,
    header: HeaderOption = None,
    data: DataOption = None,
    as_json: JsonOption = False,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="Write the figures to a JSON file as well.", show_default=False),
    ] = None,
    verbose: VerboseOption = False,  # noqa: ARG001 - main looks at it
) -> None:
    """Show what a graph looks like: size, features, classes, degrees, homophily.

    Examples:

    - `graphprox info synthetic`
    - `graphprox info Cora --data DIR --json`
    - `graphprox info edges.csv.gz --features words.npz --labels topics.csv`
    - `graphprox info pyg:Amazon:Photo`
    """
    loaded = load(graph, data=data, features=features, labels=labels, directed=directed, header=header)
    found = statistics(loaded.graph)
    text = json.dumps(as_dict(loaded, found), indent=2)
    if out is not None:
        with written_whole(out) as (staged,):
            staged.write_text(text + "\n")
    if as_json:
        print(text)
    else:
        Console(highlight=False, emoji=False, markup=False).print(_table(loaded, found))


def as_dict(dataset: Dataset, found: Statistics) -> dict[str, object]:
    """The figures by name, with the number of public splits of each protocol."""
    splits = {name: len(each) for name, each in dataset.splits.items()}
    return {"name": dataset.name, **dataclasses.asdict(found), "splits": splits}


def _table(dataset: Dataset, found: Statistics) -> Table:
    table = Table(title=dataset.name, title_justify="left", show_header=False, box=None, pad_edge=False)
    table.add_column(style="dim")
    table.add_column()
    for name, value in _rows(dataset, found):
        table.add_row(name, value)
    return table


def _rows(dataset: Dataset, found: Statistics) -> list[tuple[str, str]]:
    kind = f"directed, {found.pairs:,} pairs" if found.directed else "undirected"
    stored = "sparse" if found.sparse_features else "dense"
    quantiles = " ".join(f"{found.degree[name]:g}" for name in ("min", "q25", "median", "q75", "max"))
    rows = [
        ("nodes", f"{found.nodes:,}"),
        ("edges", f"{found.edges:,} ({kind}{', weighted' * found.weighted})"),
        ("features", f"{found.features:,} ({stored}, {found.feature_density:.2%} filled)"),
        ("classes", _classes(found)),
        ("degree", f"{quantiles} (min, quartiles, max), mean {found.degree['mean']:.2f}"),
        ("", f"{sparkline(found.degree_histogram)} (nodes of degree 0, 1, 2-3, 4-7, ...)"),
        ("isolated", f"{found.isolated:,}"),
        ("components", f"{found.components:,}, the largest of {found.largest_component:,} nodes"),
        ("self-loops", f"{found.self_loops:,}"),
        ("duplicates", f"{found.duplicates:,} merged"),
        ("homophily", "needs labels" if found.homophily is None else f"{found.homophily:.3f} of the edges"),
    ]
    if dataset.splits:
        rows.append(("splits", ", ".join(f"{len(each)} {name}" for name, each in dataset.splits.items())))
    return rows


def _classes(found: Statistics) -> str:
    if found.class_sizes is None:
        return "no labels"
    sizes = found.class_sizes.items()
    shown = ", ".join(f"{name}: {count:,}" for name, count in list(sizes)[:20])
    unlabelled = f"; {found.unlabelled:,} nodes without" if found.unlabelled else ""
    return f"{found.classes} ({shown}{', ...' * (len(sizes) > 20)}{unlabelled})"


def sparkline(counts: list[int]) -> str:
    """Counts as bars of eighths; a count that is not zero always shows.

    >>> sparkline([0, 1, 400, 800])
    ' ▁▄█'
    """
    bars = " ▁▂▃▄▅▆▇█"
    most = max(max(counts), 1)
    return "".join(bars[-(-8 * count // most)] for count in counts)
