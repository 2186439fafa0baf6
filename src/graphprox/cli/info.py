"""graphprox info: statistics of a graph."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from graphprox._utils.strict_json import dump_json
from graphprox.cli.graph_source import GraphSource, reads_graph
from graphprox.cli.options import JsonOption
from graphprox.cli.outputs import one_file, writes
from graphprox.datasets import ColumnDescription, Dataset, describe_columns
from graphprox.datasets.column_descriptions import LABEL
from graphprox.graph.stats import Statistics, statistics
from graphprox.io.storage.files import atomic_write

MAX_COLUMNS, MAX_NAME = 40, 40  # that are listed, and characters of each
_KINDS = {"boolean": "yes or no"}
_SEVERAL = {"number": "numbers", "category": "categories", "date": "dates", **_KINDS}


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
    """Show statistics of a graph: size, features, classes, degrees, homophily; and what its columns are taken for.

    Examples:

    - `graphprox info synthetic`
    - `graphprox info Cora --data DIR --json`
    - `graphprox info edges.csv.gz --features words.npz --labels topics.csv`
    - `graphprox info follows.csv --features users.csv --kind zip=category --kind notes=ignored`
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
        return
    console = Console(highlight=False, emoji=False, markup=False)
    console.print(_table(dataset, found))
    if columns := describe_columns(dataset):
        console.print()
        console.print(_column_table(columns))


def to_dict(dataset: Dataset, found: Statistics) -> dict[str, object]:
    """Return the statistics by name, with the number of public splits of each protocol, and the columns of tables."""
    splits = {name: len(each) for name, each in dataset.splits.items()}
    columns = [dataclasses.asdict(each) for each in describe_columns(dataset)]
    return {"name": dataset.name, **dataclasses.asdict(found), "splits": splits, "columns": columns}


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


# -- columns --------------------------------------------------------------------------------------------------------


def _column_table(columns: Sequence[ColumnDescription]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("column", "table", "taken for"):
        table.add_column(name)
    for each in columns[:MAX_COLUMNS]:
        table.add_row(_shorten(each.column), each.table, describe_column(each))
    kinds = (each.kind or each.role for each in columns[MAX_COLUMNS:])
    others = Counter(_SEVERAL.get(kind, kind) for kind in kinds)
    if others:
        counts = ", ".join(f"{count:,} {name}" for name, count in others.most_common())
        table.add_row(f"and {others.total():,} more", "", f"{counts}; --json lists all")
    return table


def _shorten(name: str) -> str:
    shown = name if name.isprintable() else repr(name)
    return shown if len(shown) <= MAX_NAME else f"{shown[: MAX_NAME - 1]}…"


def describe_column(column: ColumnDescription) -> str:
    """Return what a column was taken for, in words.

    Parameters
    ----------
    column : ColumnDescription

    Examples
    --------
    >>> describe_column(ColumnDescription("features", "city", "feature", "category", 4, missing=7, values=3, rare=0))
    'category of 3 values, 7 missing'
    """
    parts = [_KINDS.get(column.kind or "", column.kind or column.role)]
    if column.role == LABEL:
        parts[0] = f"label of {_count(column.values, 'class', 'classes')}"
    elif column.kind == "number" and (column.features or 0) > 1 + bool(column.missing):
        parts[0] = f"{column.features:,} numbers"
    elif column.kind == "category":
        parts[0] = f"category of {_count(column.values, 'value', 'values')}"
    if column.rare:
        parts.append(f"{column.rare:,} rare ones together")
    if column.missing:
        parts.append(f"{column.missing:,} missing")
    if column.reason:
        parts.append(column.reason)
    return ", ".join(parts)


def _count(number: int | None, one: str, several: str) -> str:
    return f"{number or 0:,} {one if number == 1 else several}"


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
