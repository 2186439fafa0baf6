"""Shard a graph: from tables that need not fit into memory to a graph folder."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from graphprox.errors import GraphError, ParameterError, ReadError
from graphprox.io.attributes import SVMLIGHT_ENDINGS, read_features, read_labels
from graphprox.io.folder.claims import WORK, claim_graph_folder, publish
from graphprox.io.folder.description import FORMAT, is_graph_folder, read_description
from graphprox.io.folder.graph_folder import GraphFolder
from graphprox.io.graph_reader import check_named_tables
from graphprox.io.sharding.build import Tables, build_parts
from graphprox.io.sharding.feature_source import FeatureSource, MatrixSource
from graphprox.io.sharding.feature_table import TableSource
from graphprox.io.sharding.label_stage import LabelArray, LabelSource, LabelTable
from graphprox.io.sharding.open_table import open_table
from graphprox.io.sharding.workspace import BlockSizes
from graphprox.io.storage.files import ending
from graphprox.io.storage.memory_maps import check_memory_maps
from graphprox.io.storage.verified import checksum_of_description
from graphprox.io.tables.column_choice import NO_NAMES, ColumnNames
from graphprox.io.tables.edge_columns import choose_edge_columns
from graphprox.io.tables.node_columns import choose_feature_columns, choose_label_columns
from graphprox.io.tables.table import PARQUET_ENDINGS, TEXT_ENDINGS

_MATRIX_ENDINGS = (".npz", ".npy", *SVMLIGHT_ENDINGS)


@dataclass(frozen=True)
class GraphFiles:
    """Files of a graph, and how they are read; see `read_graph`."""

    edges: Path
    features: Path | None = None
    labels: Path | None = None
    header: bool | None = None
    names: ColumnNames = NO_NAMES
    ids: bool = True


def shard_graph(
    edges: str | Path,
    out: str | Path,
    *,
    parts: int = 1,
    features: str | Path | None = None,
    labels: str | Path | None = None,
    directed: bool = False,
    header: bool | None = None,
    source: str | int | None = None,
    target: str | int | None = None,
    weight: str | int | None = None,
    id: str | int | None = None,  # noqa: A002 - as the column is named
    label: str | int | None = None,
    ids: bool | None = None,
    overwrite: bool = False,
    resume: bool = False,
    sizes: BlockSizes = BlockSizes(),  # noqa: B008 - a constant
) -> GraphFolder:
    r"""Read a graph that need not fit into memory, and write it as a graph folder.

    Parameters
    ----------
    edges : str or Path
        An edge list in CSV, TSV, text (which may be gzipped) or Parquet, or a folder of Parquet files.
    out : str or Path
        The graph folder: a folder that does not exist, is empty, or has an older graph.
    parts : int, default=1
        Number of parts of consecutive nodes.
    features, labels, directed, header, source, target, weight, id, label, ids
        As for `read_graph`; features and labels may be folders of Parquet files, too.
    overwrite : bool, default=False
        Whether an older graph in the folder is replaced.
    resume : bool, default=False
        Whether an earlier run with the same files and options, which was stopped or killed, is continued.
    sizes : BlockSizes, optional
        How much is in memory at a time.

    Returns
    -------
    GraphFolder
        The graph that `read_graph` returns for these files, with the same order of nodes.

    Raises
    ------
    ReadError
        If a file cannot be read.
    WriteError
        If the folder has something else, or cannot be written to.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as place:
    ...     path = Path(place, "edges.csv")
    ...     _ = path.write_text("source,target\nann,bob\nbob,eve\n")
    ...     folder = shard_graph(path, Path(place, "G"), parts=2)
    ...     [(part.rows, part.ids.tolist()) for part in folder.parts]
    [(range(0, 1), ['ann']), (range(1, 3), ['bob', 'eve'])]
    """
    files = GraphFiles(
        Path(edges),
        None if features is None else Path(features),
        None if labels is None else Path(labels),
        header,
        ColumnNames(source, target, weight, id, label),
        ids is not False,
    )
    check_named_tables(files.names, features, labels, ids)
    if parts < 1:
        raise ParameterError(f"the number of parts must be a positive integer; got {parts}")
    tables = open_tables(files)
    run = _describe_run(files, tables, parts=parts, directed=directed, sizes=sizes)
    folder, digest = Path(out), checksum_of_description(run)
    if resume and not (folder / WORK).is_dir():
        if is_graph_folder(folder) and read_description(folder).run == digest:
            return GraphFolder.open(folder)  # which the earlier run has finished
        resume = False
    with claim_graph_folder(folder, overwrite=overwrite, resume=resume) as work:
        check_memory_maps(work)
        try:
            about, written = build_parts(
                work, tables, run, num_parts=parts, directed=directed, sizes=sizes, resume=resume
            )
        except (ReadError, GraphError, ParameterError):
            shutil.rmtree(work)  # these files cannot be sharded
            raise
        about = about.model_copy(update={"run": digest})
        publish(folder, work, about, written)
    return GraphFolder(folder, about)


def _describe_run(files: GraphFiles, tables: Tables, **settings: Any) -> Mapping[str, Any]:
    """Return what the result of a run depends on."""
    sources = {"edges": tables.edges.files}
    if tables.features is not None:
        sources["features"] = tables.features.files
    if tables.labels is not None:
        sources["labels"] = tables.labels.files
    return {
        **{role: _describe_files(paths) for role, paths in sources.items()},
        **{name: str(value) for name, value in asdict(files).items() if name not in ("edges", "features", "labels")},
        **{name: str(value) for name, value in settings.items()},
        "format": FORMAT,
    }


def _describe_files(paths: Iterable[Path]) -> list[list[Any]]:
    found = [(path.name, path.stat()) for path in paths]
    return [[name, status.st_size, status.st_mtime_ns] for name, status in found]


# -- tables ---------------------------------------------------------------------------------------------------------


def open_tables(files: GraphFiles) -> Tables:
    """Open the tables of a graph, and choose their columns.

    Parameters
    ----------
    files : GraphFiles

    Returns
    -------
    Tables
    """
    names = files.names
    edges = open_table(
        files.edges,
        ids=2,
        choose=partial(choose_edge_columns, names=names),
        header=files.header,
        named=names.given("source", "target", "weight"),
    )
    names = replace(names, ends=() if edges.names is None else edges.names[:2])
    one_table = files.features is not None and files.labels is not None and _are_same(files.features, files.labels)
    labels, label = (None, None) if files.labels is None else _open_labels(files.labels, files, names)
    features = None
    if files.features is not None:
        features = _open_features(files.features, files, names, labels=one_table, label=label)
    return Tables(edges, features, labels)


def _are_same(first: Path, second: Path) -> bool:
    return first.exists() and second.exists() and first.samefile(second)


def _open_labels(path: Path, files: GraphFiles, names: ColumnNames) -> tuple[LabelSource, str | None]:
    """Return labels, and the name of their column."""
    if not _is_table(path):
        return LabelArray(read_labels(path, header=files.header, names=names, ids=files.ids), path), None
    stream = open_table(
        path,
        ids=int(files.ids),
        choose=partial(choose_label_columns, names=names, ids=files.ids),
        header=files.header,
        named=names.given("id", "label"),
    )
    return LabelTable(stream, files.ids), None if stream.names is None else stream.names[-1]


def _open_features(
    path: Path, files: GraphFiles, names: ColumnNames, *, labels: bool, label: str | None
) -> FeatureSource:
    if not _is_table(path):
        return MatrixSource(read_features(path, header=files.header, names=names, ids=files.ids), path)
    choose = partial(choose_feature_columns, names=names, ids=files.ids, labels=labels, label=label)
    stream = open_table(
        path, ids=int(files.ids), choose=choose, header=files.header, named=names.given("id"), features=True
    )
    return TableSource(stream, has_ids=files.ids)


def is_streamed(path: Path) -> bool:
    """Return whether a graph is read in blocks: from a table of edges, or a folder of such tables.

    Parameters
    ----------
    path : Path

    Returns
    -------
    bool
    """
    if path.is_dir():
        return not is_graph_folder(path)
    return ending(path) in TEXT_ENDINGS + PARQUET_ENDINGS


def _is_table(path: Path) -> bool:
    return path.is_dir() or ending(path) not in _MATRIX_ENDINGS
