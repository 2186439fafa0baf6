"""graphprox info: statistics of a graph."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from graphprox._utils.strict_json import dump_json
from graphprox.cli.options import GraphSource, JsonOption, reads_graph
from graphprox.cli.outputs import one_file, writes
from graphprox.datasets import Dataset
from graphprox.graph.stats import Statistics, statistics
from graphprox.io.storage.files import atomic_write


@reads_graph()
@writes({"out": one_file}, creates_parents=False)
def show_info(
    source: GraphSource,
    as_json: JsonOption = False,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="Also write the statistics to a JSON file.", show_default=False),
    ] = None,
) -> None:
    """Show statistics of a graph: size, features, classes, degrees, homophily.

    Examples:

    - `graphprox info synthetic`
    - `graphprox info Cora --data DIR --json`
    - `graphprox info edges.csv.gz --features words.npz --labels topics.csv`
    - `graphprox info pyg:Amazon:Computers`
    """
    dataset = source.load()
    found = statistics(dataset.graph)
    text = dump_json(to_dict(dataset, found), indent=2)
    if out is not None:
        with atomic_write(out) as (staged,):
            staged.write_text(text + "\n")
    if as_json:
        print(text)
    else:
        Console(highlight=False, emoji=False, markup=False).print(_table(dataset, found))


def to_dict(dataset: Dataset, found: Statistics) -> dict[str, object]:
    """Return the statistics by name, with the number of public splits of each protocol."""
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
    unlabeled = f"; {found.unlabeled:,} nodes without" if found.unlabeled else ""
    return f"{found.classes} ({shown}{', ...' * (len(sizes) > 20)}{unlabeled})"


def sparkline(counts: list[int]) -> str:
    """Format counts as a sparkline in which every nonzero count is visible.

    Examples
    --------
    >>> sparkline([0, 1, 400, 800])
    ' ▁▄█'
    """
    bars = " ▁▂▃▄▅▆▇█"
    max_count = max(max(counts), 1)
    return "".join(bars[-(-8 * count // max_count)] for count in counts)
