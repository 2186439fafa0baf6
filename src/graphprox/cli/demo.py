"""graphprox demo: what the method is for, in a minute."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from graphprox.cli.options import SeedOption, VerboseOption
from graphprox.cli.progress import shown_progress
from graphprox.io.files import writable_folder

PRESET = "synthetic"
EMBEDDINGS = 5


def demo(
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder for the picture.")] = Path("demo"),
    seed: SeedOption = 0,
    verbose: VerboseOption = False,  # noqa: ARG001 - main looks at it
) -> None:
    """Embed the built-in graph by one proximity and by all of them, and show how well its classes can be told.

    Prints the accuracy of a logistic regression on each embedding (mean and deviation over ten splits, 10 % of the
    nodes to learn from), and draws each by t-SNE. Training sees no label.

    Examples:

    - `graphprox demo`
    - `graphprox demo --out pictures --seed 3`
    """
    folder = writable_folder(out)

    from graphprox.datasets import synthetic
    from graphprox.experiments.demo import draw, rows

    graph = synthetic()
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("embedding", "sees", "accuracy", "seconds"):
        table.add_column(name, justify="left" if name in ("embedding", "sees") else "right", no_wrap=True)
    shown = []
    with shown_progress("demo") as show:
        show("embeddings", 0, EMBEDDINGS)
        began = time.perf_counter()
        for row in rows(graph, preset=PRESET, seed=seed):
            shown.append(row)
            accuracy = f"{100 * row.accuracy:.1f} ± {100 * row.deviation:.1f} %"
            table.add_row(row.name, row.sees, accuracy, f"{time.perf_counter() - began:.1f}")
            show("embeddings", len(shown), EMBEDDINGS, note=f", {row.name}")
            began = time.perf_counter()
        paths = draw(folder, graph, shown, seed=seed)
    Console(highlight=False, emoji=False).print(table)
    print(*paths, sep="\n")
