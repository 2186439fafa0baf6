"""graphprox views: the nearest nodes of every node by each view, written to files, with statistics."""

from __future__ import annotations

import dataclasses
import time
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from graphprox._utils.amounts import to_megabytes
from graphprox._utils.memory import peak_memory
from graphprox._utils.strict_json import dump_json
from graphprox.cli.graph_source import GraphSource, reads_graph
from graphprox.cli.options import CacheOption, JsonOption, SeedOption
from graphprox.cli.outputs import writes
from graphprox.cli.progress_display import progress_bars
from graphprox.graph.graph import Graph
from graphprox.io.storage.files import make_writable_folder

HOMOPHILY_K = 6  # as in the paper's table, if as many neighbors are ranked


def _view_files(folder: Path) -> list[Path]:
    from graphprox.views import VIEWS

    return [folder / f"{name}.npz" for name in VIEWS.peek()]


@reads_graph()
@writes({"out": _view_files})
def write_views(
    source: GraphSource,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder for the rankings.", show_default=False)],
    k_max: Annotated[int, typer.Option("--k-max", metavar="N", min=1, help="Number of neighbors to rank.")] = 10,
    seed: SeedOption = 0,
    every: Annotated[bool, typer.Option("--all", help="Rank every registered view.")] = False,
    engine: Annotated[
        str, typer.Option("--engine", metavar="NAME", help="Nearest-neighbor search; auto selects it by size.")
    ] = "auto",
    cache: CacheOption = True,
    as_json: JsonOption = False,
) -> None:
    """Rank the nearest nodes of every node by features and by local structure.

    Writes `feature.npz` and `topology.npz`, each with `neighbors` (nodes x k_max, -1 for none) and `similarities`.

    Examples:

    - `graphprox views Cora --data DIR --out views`
    - `graphprox views edges.csv --features words.npz --out views --k-max 20 --all --json`
    """
    from graphprox.views import VIEWS

    folder = make_writable_folder(out)
    dataset = source.load()
    names = sorted(VIEWS) if every else ["feature", "topology"]
    rows = {
        name: _write_view(dataset.graph, name, folder, k_max=k_max, random_state=seed, engine=engine, cache=cache)
        for name in names
    }
    if as_json:
        print(dump_json(rows, indent=2))
    else:
        Console(highlight=False, emoji=False).print(_table(dataset.name, rows, homophily_k=min(HOMOPHILY_K, k_max)))


def _write_view(graph: Graph, name: str, folder: Path, **options: Any) -> dict[str, Any]:
    """Rank one view, write it, and return its statistics."""
    from graphprox.views import homophily_at, rank_view, view_statistics

    start = time.perf_counter()
    with progress_bars(name) as progress:
        ranking = rank_view(graph, name, progress=progress, **options)
    seconds = time.perf_counter() - start
    path = folder / f"{name}.npz"
    ranking.save(path)
    peak = peak_memory()
    return {
        "file": str(path),
        **dataclasses.asdict(view_statistics(ranking, graph)),
        "homophily": homophily_at(ranking, graph, k=min(HOMOPHILY_K, ranking.k_max)),
        "engine": ranking.engine,
        "recall": ranking.recall,
        "seconds": round(seconds, 3),
        "peak_memory_mb": to_megabytes(peak),
    }


# Title and format of each row of the table.
_ROWS = {
    "num_edges": ("edges", "{:,}"),
    "reciprocity": ("reciprocal", "{:.1%}"),
    "max_in_degree": ("largest in-degree", "{:,}"),
    "zero_in_degree": ("in-degree 0", "{:.1%}"),
    "overlap": ("also edges of the graph", "{:.1%}"),
    "homophily": ("homophily, k = {homophily_k}", "{:.3f}"),
    "engine": ("search", "{}"),
    "recall": ("recall", "{:.3f}"),
    "seconds": ("seconds", "{:.2f}"),
    "peak_memory_mb": ("peak memory", "{:,} MB"),
}


def _table(title: str, rows: dict[str, dict[str, Any]], *, homophily_k: int) -> Table:
    table = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    table.add_column("")
    for name in rows:
        table.add_column(name)
    for key, (label, form) in _ROWS.items():
        values = [row[key] for row in rows.values()]
        cells = ("-" if value is None else form.format(value) for value in values)
        table.add_row(label.format(homophily_k=homophily_k), *cells)
    return table
