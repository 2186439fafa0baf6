"""graphprox datasets: the named data sets."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.table import Table

from graphprox._utils.strict_json import dump_json
from graphprox.cli.graph_source import DataOption
from graphprox.cli.options import JsonOption
from graphprox.datasets import CATALOG, CatalogEntry
from graphprox.datasets.source import find_raw_folder


def list_datasets(data: DataOption = None, as_json: JsonOption = False) -> None:
    """List the named data sets, and whether their files are available.

    Besides these, `synthetic` is generated (`synthetic:nodes=1000,noise=0.5` with parameters), and any data set of PyG
    is `pyg:CLASS:NAME`.

    Examples:

    - `graphprox datasets --data DIR`
    - `graphprox datasets --json`
    """
    rows = [_row(entry, data) for entry in CATALOG.values()]
    if as_json:
        print(dump_json(rows, indent=2))
        return
    console = Console(highlight=False)
    names = _COLUMNS if console.width < _WIDE else (*_COLUMNS, "about")
    # Without collapsed padding, the longest name would be cut in a terminal of 80 columns.
    table = Table(box=None, pad_edge=False, collapse_padding=True, header_style="bold")
    for name in names:
        table.add_column(name.replace("_", " "), justify="right" if name in _NUMBERS else "left", no_wrap=True)
    for row in rows:
        table.add_row(*(_format_cell(row[name]) for name in names))
    console.print(table)
    console.print("\n[dim]synthetic is generated; pyg:CLASS:NAME is any data set of PyG.[/]")


_NUMBERS = ("nodes", "edges", "features", "classes")
_COLUMNS = ("name", *_NUMBERS, "available", "splits")
_WIDE = 160  # columns of a terminal with room for descriptions


def _row(entry: CatalogEntry, data: Path | None) -> dict[str, object]:
    return {
        "name": entry.name,
        "nodes": entry.nodes,
        "edges": entry.edges,
        "features": entry.features,
        "classes": entry.classes,
        "splits": entry.splits,
        "available": find_raw_folder(entry, data) is not None,
        "about": entry.about,
        "source": entry.source or f"torch_geometric.datasets.{entry.loader[0]}",
    }


def _format_cell(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else str(value)
