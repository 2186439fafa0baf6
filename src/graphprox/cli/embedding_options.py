"""Options for the file or table that an embedding is written to."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from graphprox.io.embedding_folder.part_tables import Layout
from graphprox.io.embedding_writer import to_output_path

OutOption = Annotated[
    Path,
    typer.Option(
        "--out",
        metavar="FILE|DIR",
        parser=to_output_path,
        help="File for the embedding: .parquet, .npz, .npy, .csv, .txt (word2vec), .tsv (TensorBoard projector) or "
        ".duckdb (a table of a database). A name without an ending, such as vectors/, is a folder of Parquet files.",
        show_default=False,
    ),
]
LayoutOption = Annotated[
    Layout | None,
    typer.Option(
        "--layout",
        help="Columns of Parquet files: id and a list, vector; or id and one per component. [default: list]",
        show_default=False,
    ),
]
TableOption = Annotated[
    str | None,
    typer.Option(
        "--table", metavar="NAME", help="Table of a .duckdb file to write. [default: vectors]", show_default=False
    ),
]
WorkFolderOption = Annotated[
    Path | None,
    typer.Option(
        "--work-dir",
        metavar="DIR",
        help="Folder of temporary files, for rows that memory does not hold. [default: that of --out]",
        show_default=False,
    ),
]
ForceOutputOption = Annotated[bool, typer.Option("--force", help="Replace an older table or embedding folder.")]
DeviceOption = Annotated[str, typer.Option("--device", metavar="NAME", help="auto, cpu, cuda or mps.")]
