"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from graphprox.datasets import CATALOGUE


def _names(incomplete: str) -> list[str]:
    """Data sets that a word may become, for the shell's completion; files are completed by the shell itself."""
    return [name for name in [*CATALOGUE, "synthetic"] if name.lower().startswith(incomplete.lower())]


GraphArgument = Annotated[
    str,
    typer.Argument(
        metavar="GRAPH",
        help="A data set's name, pyg:CLASS:NAME for any other of PyG's, or a file.",
        autocompletion=_names,
        show_default=False,
    ),
]
DataOption = Annotated[
    Path | None,
    typer.Option(
        "--data",
        metavar="DIR",
        envvar="GRAPHPROX_DATA",
        help="Directory of data sets; it is only read. Without it they are downloaded.",
        show_default=False,
    ),
]
FeaturesOption = Annotated[
    Path | None,
    typer.Option(
        "--features",
        metavar="FILE",
        help="Features of a graph from a file: CSV, TSV, Parquet, NPZ, NPY or svmlight, joined by id.",
        show_default=False,
    ),
]
LabelsOption = Annotated[
    Path | None,
    typer.Option(
        "--labels",
        metavar="FILE",
        help="Labels of a graph from a file, in the same formats.",
        show_default=False,
    ),
]
DirectedOption = Annotated[
    bool | None,
    typer.Option(
        "--directed/--undirected",
        help="Whether edges of a file go one way; undirected unless the file says otherwise.",
        show_default=False,
    ),
]
HeaderOption = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Whether the first row of a text file names the columns; told from the rows where it can be.",
        show_default=False,
    ),
]
MethodOption = Annotated[str, typer.Option("--method", help="One of those that `graphprox methods` lists.")]
PresetOption = Annotated[
    str, typer.Option("--preset", help="Settings for a data set; auto goes by the graph's name, or is default.")
]
ChangeOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="NAME=VALUE", help="Change one setting: --set encoder.width=256.", show_default=False
    ),
]
CacheOption = Annotated[bool, typer.Option("--cache/--no-cache", help="Whether to use rankings made before.")]
SeedOption = Annotated[
    int, typer.Option("--seed", min=0, help="What chance draws from: the same seed, the same bytes.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
VerboseOption = Annotated[bool, typer.Option("--verbose", help="Show the traceback of an error.")]
# What settings are chosen on: splits that nothing is reported on.
FirstSplitOption = Annotated[int, typer.Option("--first-split", min=0, help="The seed of the first of them.")]
TrainOption = Annotated[float, typer.Option("--train", help="The share of nodes to learn from.")]
ValidationOption = Annotated[float, typer.Option("--validation", help="The share of nodes to count on.")]
