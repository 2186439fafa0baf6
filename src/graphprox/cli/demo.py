"""graphprox demo: the method on the built-in graph, in a minute."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from graphprox.cli.options import SeedOption
from graphprox.cli.outputs import figures, writes
from graphprox.cli.progress_display import progress_bars
from graphprox.io.storage.files import make_writable_folder

PRESET = "synthetic"
NO_FIGURE = "a figure needs matplotlib: pip install 'graphprox[plots]'"


@writes({"out": figures("demo")})
def run_demo(
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder for the figure.")] = Path("demo"),
    seed: SeedOption = 0,
) -> None:
    """Embed the built-in graph by one proximity and by several, and compare how well its classes separate.

    Prints the accuracy of a logistic regression on each embedding (mean and standard deviation over ten splits, 10 %
    of the nodes to train on), and plots each by t-SNE if matplotlib is installed. Labels are not used in training.

    Examples:

    - `graphprox demo`
    - `graphprox demo --out figures --seed 3`
    """
    from graphprox.datasets import synthetic
    from graphprox.model_selection.demonstration import EMBEDDINGS, demo_rows, plot_embeddings

    folder = make_writable_folder(out)
    graph = synthetic()
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("embedding", "uses", "accuracy", "seconds"):
        table.add_column(name, justify="left" if name in ("embedding", "uses") else "right", no_wrap=True)
    rows = []
    with progress_bars("demo") as show:
        show("embeddings", 0, len(EMBEDDINGS))
        start = time.perf_counter()
        for row in demo_rows(graph, preset=PRESET, random_state=seed):
            rows.append(row)
            accuracy = f"{100 * row.accuracy:.1f} ± {100 * row.std:.1f} %"
            table.add_row(row.name, row.uses, accuracy, f"{time.perf_counter() - start:.1f}")
            show("embeddings", len(rows), len(EMBEDDINGS), note=f", {row.name}")
            start = time.perf_counter()
    Console(highlight=False, emoji=False).print(table)
    if not has_matplotlib():
        print(NO_FIGURE)
        return
    print(*plot_embeddings(folder, graph, rows, random_state=seed), sep="\n")


def has_matplotlib() -> bool:
    """Return whether matplotlib is installed, which is an optional dependency."""
    from importlib.util import find_spec

    return find_spec("matplotlib") is not None
