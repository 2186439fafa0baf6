"""graphprox shard: a graph as a folder of memory maps, in parts."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from graphprox._utils.amounts import format_memory, to_megabytes
from graphprox._utils.memory import peak_memory
from graphprox._utils.progress import report_progress
from graphprox._utils.strict_json import dump_json
from graphprox.cli.graph_source import GraphSource, reads_graph
from graphprox.cli.options import JsonOption
from graphprox.cli.outputs import writes
from graphprox.cli.progress_display import progress_bars
from graphprox.cli.signals import describe_stop, stop_code
from graphprox.datasets.loading import check_file_options
from graphprox.datasets.named import is_dataset_name
from graphprox.errors import GraphproxError
from graphprox.io.folder.graph_folder import GraphFolder
from graphprox.io.sharding.shard_tables import is_streamed, shard_graph
from graphprox.io.sql.queries import is_query

_STREAMED = ("features", "labels", "header", "source", "target", "weight", "id", "label", "ids")


@reads_graph()
@writes({}, folders=["out"])
def write_graph_folder(
    source: GraphSource,
    out: Annotated[Path, typer.Option("--out", metavar="FOLDER", help="Graph folder to write.", show_default=False)],
    parts: Annotated[
        int, typer.Option("--parts", metavar="P", min=1, help="Number of parts of consecutive nodes.")
    ] = 1,
    resume: Annotated[bool, typer.Option("--resume", help="Continue a run that was stopped or killed.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace an older graph in the folder.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Write a graph that need not fit into memory as a graph folder, which all commands read as a graph.

    Edges, features and labels are read in blocks from CSV, TSV or Parquet (a file, or a folder of files), and sorted on
    disk. Each of P parts has the edges, features, labels and ids of consecutive nodes in memory maps, so that a process
    of P reads its own part and no other. Any other GRAPH is read at once.

    A run that was stopped, by whatever, continues with `--resume`, and gives the same bytes.

    Examples:

    - `graphprox shard edges.parquet --features x.parquet --parts 16 --out G`
    - `graphprox shard follows/ --source follower --target followee --directed --out G`
    - `graphprox shard synthetic:nodes=100000 --parts 2 --out G`
    """
    start = time.perf_counter()
    with progress_bars(str(out)) as show, report_progress(show), _explain_interruption(out):
        folder = _shard(source, out, parts=parts, resume=resume, overwrite=force)
    _print_summary(folder, time.perf_counter() - start, as_json=as_json)


def _shard(source: GraphSource, out: Path, *, parts: int, resume: bool, overwrite: bool) -> GraphFolder:
    is_file = not is_dataset_name(source.name) and not is_query(source.name)
    if not is_file or not is_streamed(Path(source.name)):
        return GraphFolder.create(out, source.load().graph, num_parts=parts, overwrite=overwrite or resume)
    check_file_options(
        source.name,
        database=source.database,
        features=source.features,
        labels=source.labels,
        trust_pickles=source.trust_pickles,
    )
    options: dict[str, Any] = {name: getattr(source, name) for name in _STREAMED}
    return shard_graph(
        source.name, out, parts=parts, directed=bool(source.directed), overwrite=overwrite, resume=resume, **options
    )


class _StoppedError(GraphproxError):
    """Sharding was stopped by a signal, and can be continued."""


@contextmanager
def _explain_interruption(out: Path) -> Iterator[None]:
    """Turn an interruption into an error: typer ends the program on a KeyboardInterrupt without a message."""
    try:
        yield
    except KeyboardInterrupt:
        error = _StoppedError(f"{describe_stop()}; {out} is not complete: the same command continues with --resume")
        error.exit_code = stop_code()
        raise error from None


def _print_summary(folder: GraphFolder, seconds: float, *, as_json: bool) -> None:
    size = sum(file.size for part in folder.about.parts for file in part.files.values())
    if as_json:
        summary = {
            "folder": str(folder.path),
            "nodes": folder.num_nodes,
            "entries": folder.num_entries,
            "directed": folder.directed,
            "features": folder.num_features,
            "parts": folder.num_parts,
            "checksum": folder.checksum,
            "disk_mb": to_megabytes(size),
            "seconds": round(seconds, 2),
            "peak_memory_mb": to_megabytes(peak_memory()),
        }
        print(dump_json(summary, indent=2))
        return
    kind = "directed edges" if folder.directed else "entries of undirected edges"
    parts = "1 part" if folder.num_parts == 1 else f"{folder.num_parts:,} parts"
    Console(highlight=False, emoji=False, markup=False, soft_wrap=True).print(
        f"{folder.path}: {folder.num_nodes:,} nodes, {folder.num_entries:,} {kind}, {folder.num_features:,} features, "
        f"{parts}, {format_memory(size)}, {seconds:.1f} s"
    )
