"""graphprox paper: tables and figures of the FT-GCL paper, by one command each."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from graphprox.cli.options import DataOption, JsonOption, SeedOption, VerboseOption
from graphprox.cli.progress import shown_progress
from graphprox.io.files import writable_folder

paper = typer.Typer(no_args_is_help=True, help="Tables and figures of the FT-GCL paper, by one command each.")


@paper.command()
def homophily(
    data: DataOption = None,
    seeds: Annotated[int, typer.Option("--seeds", min=1, help="How many seeds to measure the spread over.")] = 10,
    as_json: JsonOption = False,
    verbose: VerboseOption = False,  # noqa: ARG001 - main looks at it
) -> None:
    """Print the edge homophily of the disassortative graphs and of their views, beside the paper's.

    Examples:

    - `graphprox paper homophily --data DIR`
    - `graphprox paper homophily --data DIR --seeds 3 --json`
    """
    from graphprox.experiments.homophily import COLUMNS, K, homophily_rows

    with shown_progress("homophily") as progress:
        rows = homophily_rows(data=data, seeds=range(seeds), progress=progress)
    if as_json:
        print(json.dumps([dataclasses.asdict(row) for row in rows], indent=2))
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("", "graph", *COLUMNS):
        table.add_column(name, no_wrap=True)
    for row in rows:
        table.add_row(row.name, f"{row.graph:.3f}", *(_spread(*row.mean_and_spread(column)) for column in COLUMNS))
        if row.reported:
            table.add_row("  as reported", *(f"{value:.3f}" for value in row.reported), style="dim")
    console = Console(highlight=False)
    console.print(table)
    console.print(
        f"\n[dim]k = {K}; mean ± deviation over {seeds} seeds. Near walks: p = 0.01, q = 8, no iteration of WL.[/]"
    )


def _spread(mean: float, deviation: float) -> str:
    return f"{mean:.3f}±{deviation:.3f}"


@paper.command()
def barbell(
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder for the figure.", show_default=False)],
    seed: SeedOption = 0,
    verbose: VerboseOption = False,  # noqa: ARG001 - main looks at it
) -> None:
    """Draw the barbell graph and its topology space, where nodes of equal structure coincide, as PNG and SVG.

    Examples:

    - `graphprox paper barbell --out figures`
    """
    from graphprox.experiments.barbell import draw_barbell

    for path in draw_barbell(writable_folder(out), seed=seed):
        print(path)
