"""graphprox views: which nodes are near each node, written to files, and what such views are like."""

from __future__ import annotations

import dataclasses
import json
import time
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from graphprox.cli.options import (
    CacheOption,
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
from graphprox.graph import Graph
from graphprox.io.files import writable_folder
from graphprox.loading import load
from graphprox.memory import peak_memory

HOMOPHILY_K = 6  # as in the paper's table


def views(
    graph: GraphArgument,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder for the rankings.", show_default=False)],
    k_max: Annotated[int, typer.Option("--k-max", min=1, help="How many neighbours to rank.")] = 10,
    seed: SeedOption = 0,
    every: Annotated[bool, typer.Option("--all", help="Rank the neighbourhood view too.")] = False,
    engine: Annotated[str, typer.Option("--engine", help="What searches; auto chooses by size.")] = "auto",
    cache: CacheOption = True,
    features: FeaturesOption = None,
    labels: LabelsOption = None,
    directed: DirectedOption = None,
    header: HeaderOption = None,
    data: DataOption = None,
    as_json: JsonOption = False,
    verbose: VerboseOption = False,  # noqa: ARG001 - main looks at it
) -> None:
    """Rank the nearest nodes of every node by features and by local structure.

    Writes `feature.npz` and `topology.npz`, each with `neighbors` (nodes x k_max, -1 for none) and `similarities`.

    Examples:

    - `graphprox views Cora --data DIR --out views`
    - `graphprox views edges.csv --features words.npz --out views --k-max 20 --all --json`
    """
    folder = writable_folder(out)
    loaded = load(graph, data=data, features=features, labels=labels, directed=directed, header=header)
    names = ("feature", "topology", "neighbourhood") if every else ("feature", "topology")
    rows = {}
    for name in names:
        rows[name] = _made(loaded.graph, name, folder, k_max=k_max, seed=seed, engine=engine, cache=cache)
    if as_json:
        print(json.dumps(rows, indent=2))
    else:
        Console(highlight=False, emoji=False).print(_table(loaded.name, rows))


def _made(graph: Graph, name: str, folder: Path, **how: Any) -> dict[str, Any]:
    """Rank one view, write it, and tell what it is like."""
    from graphprox.proximity import homophily_at, quality, rank_view

    began = time.perf_counter()
    with shown_progress(name) as progress:
        ranking = rank_view(graph, name, progress=progress, **how)
    seconds = time.perf_counter() - began
    path = folder / f"{name}.npz"
    ranking.save(path)
    peak = peak_memory()
    return {
        "file": str(path),
        **dataclasses.asdict(quality(ranking, graph)),
        "homophily": homophily_at(ranking, graph, k=min(HOMOPHILY_K, ranking.k_max)),
        "engine": ranking.engine,
        "recall": ranking.recall,
        "seconds": round(seconds, 3),
        "peak_memory_mb": None if peak is None else round(peak / 2**20),
    }


# What a row of the table is called, and how its value is written.
_ROWS = {
    "edges": ("edges", "{:,}"),
    "reciprocity": ("listed in turn", "{:.1%}"),
    "largest_in_degree": ("listed most often", "{:,} times"),
    "unlisted": ("listed by nobody", "{:.1%}"),
    "overlap": ("in the graph too", "{:.1%}"),
    "homophily": ("homophily, k = 6", "{:.3f}"),
    "engine": ("search", "{}"),
    "recall": ("recall", "{:.3f}"),
    "seconds": ("seconds", "{:.2f}"),
    "peak_memory_mb": ("peak memory", "{:,} MB"),
}


def _table(title: str, rows: dict[str, dict[str, Any]]) -> Table:
    table = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    table.add_column("")
    for name in rows:
        table.add_column(name)
    for key, (label, form) in _ROWS.items():
        values = [row[key] for row in rows.values()]
        table.add_row(label, *("-" if value is None else form.format(value) for value in values))
    return table
