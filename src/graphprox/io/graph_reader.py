"""Reader of graphs from files."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from graphprox.errors import (
    AssumedInputWarning,
    IgnoredInputWarning,
    ParameterError,
    ReadError,
    StructuralFeaturesWarning,
)
from graphprox.graph.graph import Graph
from graphprox.io.attributes import read_features, read_labels
from graphprox.io.edge_lists import read_edge_list
from graphprox.io.folder.claims import check_finished
from graphprox.io.folder.description import is_graph_folder
from graphprox.io.folder.graph_folder import GraphFolder
from graphprox.io.graph_files import read_graphml, read_npz, read_torch
from graphprox.io.joins import build_graph, collect_columns, join_features, join_labels
from graphprox.io.storage.files import check_readable, ending
from graphprox.io.tables.column_choice import KINDS_ARE_FITTED, KINDS_NEED_FEATURES, ColumnNames, TableColumn
from graphprox.io.tables.encodings import check_encoding
from graphprox.io.tables.table import PARQUET_ENDINGS, TEXT_ENDINGS
from graphprox.preprocessing.columns import check_kinds
from graphprox.preprocessing.table_encoder import TableEncoder

_FOLDER = "folder"  # kind of a graph folder, which has no ending
_GRAPH_ENDINGS = (".npz", ".graphml", ".pt", ".pth", _FOLDER)


def read_graph(
    path: str | Path,
    *,
    features: str | Path | None = None,
    labels: str | Path | None = None,
    directed: bool | None = None,
    header: bool | None = None,
    encoding: str | None = None,
    encoder: TableEncoder | None = None,
    source: str | int | None = None,
    target: str | int | None = None,
    weight: str | int | None = None,
    id: str | int | None = None,  # noqa: A002 - as the column is named
    label: str | int | None = None,
    kinds: Mapping[str | int, str] | None = None,
    ids: bool | None = None,
) -> Graph:
    r"""Read a graph from files, in the format selected by the file's ending.

    Parameters
    ----------
    path : str or Path
        An edge list in CSV, TSV, text (which may be gzipped) or Parquet, with two columns of ids and optionally
        weights; or a complete graph in npz, GraphML or PyG's ``.pt``; or a graph folder, whose arrays are memory maps.
    features : str or Path, default=None
        Features of the nodes in CSV, TSV, Parquet, npz, npy or svmlight, joined by id. The nodes of an edge list are
        then in the order of the features, followed by those without a row, which have missing values; they are in the
        order of their ids if there are no features. A graph without features gets structural ones, with a
        `StructuralFeaturesWarning`.
    labels : str or Path, default=None
        Labels of the nodes in the same formats, joined by id. They may be a column of the same table as the features,
        and are no feature then; a column of the same name in another table of features is none either.
    directed : bool, default=None
        Whether edges have a direction. If None, as stored in a GraphML or PyG file, and False for other formats.
    header : bool, default=None
        Whether the first row of a text file is a header; detected if None.
    encoding : str, default=None
        Encoding of text files, such as ``"cp1252"``. If None, UTF-8, UTF-16 if there is a byte order mark, or else
        Windows-1252, with a warning.
    encoder : TableEncoder, default=None
        What the columns of a table of features contain, as a fitted embedder knows it. Found out by default.
    source, target : str or int, default=None
        Columns of the edge list that contain the ends of each edge, by name or by number from 1. If None, columns with
        names such as ``source`` and ``target``, ``from`` and ``to``, or else the first two.
    weight : str or int, default=None
        Column of the edge list that contains weights; for GraphML, an edge attribute. If None, a column named
        ``weight``, or the third one if there is no header.
    id : str or int, default=None
        Column of features and labels that contains node ids. If None, a column with a name such as ``id`` or
        ``user_id``, or else the first.
    label : str or int, default=None
        Column of the labels that contains the class; for GraphML, a node attribute. If None, the only column besides
        the ids, or one with a name such as ``label`` or ``class``.
    kinds : mapping of str or int to str, default=None
        What columns of a table of features contain, by name or by number from 1, where cells do not show it:
        ``"number"``, ``"category"`` (as numeric codes are), ``"boolean"`` or ``"date"``; ``"ignored"`` leaves a column
        out. For GraphML, kinds of node attributes.
    ids : bool, default=None
        Whether tables of features and labels have a column of ids, as by default. If False, row i belongs to node i,
        and the ending of a text file does not matter.

    Returns
    -------
    Graph

    Raises
    ------
    ReadError
        If a file cannot be read.
    ParameterError
        If a column does not exist.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     edges, features = Path(folder, "edges.csv"), Path(folder, "features.csv")
    ...     _ = edges.write_text("source,target,weight\nann,bob,2\nbob,eve,1\n")
    ...     _ = features.write_text("id,age,height\nann,31,1.7\nbob,25,1.8\neve,52,1.6\n")
    ...     read_graph(edges, features=features)
    Graph(3 nodes, 2 edges, 2 features, weighted)
    """
    names = ColumnNames(source, target, weight, id, label, kinds=kinds or {})
    options: dict[str, Any] = {"directed": directed, "header": header, "encoding": encoding}
    return read_files(Path(path), features, labels, names, **options, encoder=encoder, ids=ids)[0]


def read_files(
    path: Path,
    features: str | Path | None,
    labels: str | Path | None,
    names: ColumnNames,
    *,
    directed: bool | None,
    header: bool | None,
    encoding: str | None,
    encoder: TableEncoder | None,
    ids: bool | None,
) -> tuple[Graph, tuple[TableColumn, ...]]:
    """Read a graph from files, as `read_graph` does, and say what the columns of tables were taken for.

    Parameters
    ----------
    path, features, labels, directed, header, encoding, encoder, ids
        As for `read_graph`.
    names : ColumnNames
        Columns that the user named.

    Returns
    -------
    graph : Graph
    columns : tuple of TableColumn
    """
    kind = _FOLDER if is_graph_folder(path) else ending(path)
    check_kinds(names.kinds)
    _check_complete(path, kind, names)
    check_named_tables(names, features, labels, ids, has_labels=kind == ".graphml", has_attributes=kind == ".graphml")
    if names.kinds and encoder is not None:
        raise ParameterError(KINDS_ARE_FITTED)
    encoding = check_encoding(encoding)
    is_table = kind in TEXT_ENDINGS + PARQUET_ENDINGS
    edges = read_edge_list(path, header=header, encoding=encoding, names=names) if is_table else None
    if edges is not None:
        names = replace(names, ends=edges.names)
    options: dict[str, Any] = {"header": header, "encoding": encoding, "names": names, "ids": ids is not False}
    one_table = features is not None and labels is not None and _are_same_file(features, labels)
    node_features, node_labels = None, None
    if labels is not None:
        with warnings.catch_warnings():
            if one_table:  # other columns are features, and what is assumed is stated of them
                warnings.simplefilter("ignore", IgnoredInputWarning)
                warnings.simplefilter("ignore", AssumedInputWarning)
            node_labels = read_labels(Path(labels), **options)
    if features is not None:
        label = None if node_labels is None else node_labels.column
        node_features = read_features(Path(features), encoder=encoder, labels=one_table, label=label, **options)
    taken = collect_columns(edges, node_features, node_labels, one_table=one_table)
    if kind in _GRAPH_ENDINGS:
        with warnings.catch_warnings():
            if node_features is not None:
                warnings.simplefilter("ignore", StructuralFeaturesWarning)
            own = names if features is None else replace(names, kinds={})
            graph, attributes = _read_complete(path, kind, directed, own)
            taken = (*(each for each in attributes if features is None or each.role != "feature"), *taken)
    elif edges is not None:
        graph = build_graph(edges, node_features, directed=bool(directed), names=(path, str(features)), encoder=encoder)
        node_features = None
    else:
        check_finished(path)
        check_readable(path)
        known = ", ".join(TEXT_ENDINGS[:4] + PARQUET_ENDINGS[:1] + _GRAPH_ENDINGS[:-1])
        raise ReadError(f"the ending of a graph file must be one of {known}; got {path.name!r}")
    if node_features is not None:
        graph = join_features(graph, node_features, (path, str(features)), encoder)
    if node_labels is not None:
        graph = join_labels(graph, node_labels, str(labels))
    if graph.num_entries == 0:
        raise ReadError(f"a graph must have at least one edge; {path} has none")
    return graph, taken


def _are_same_file(first: str | Path, second: str | Path) -> bool:
    """Check whether two paths lead to one file, written differently or by a link."""
    return Path(first).exists() and Path(second).exists() and Path(first).samefile(second)


def _check_complete(path: Path, kind: str, names: ColumnNames) -> None:
    """Raise an error if a column of edges is named, and the graph is not a table of edges."""
    if kind in _GRAPH_ENDINGS:
        roles = ("source", "target") if kind == ".graphml" else ("source", "target", "weight")
        given = [role for role in roles if getattr(names, role) is not None]
        if given:
            raise ParameterError(f"{given[0]} can only be given with a table of edges; {path} is a complete graph")


def check_named_tables(
    names: ColumnNames,
    features: object,
    labels: object,
    ids: bool | None,
    *,
    has_labels: bool = False,
    has_attributes: bool = False,
) -> None:
    """Raise an error if a column is named of a table that is not given.

    Parameters
    ----------
    names : ColumnNames
        Columns that the user named.
    features, labels : str, Path or None
        The tables.
    ids : bool or None
        Whether they have a column of ids.
    has_labels : bool, default=False
        Whether the graph itself has labels that can be named.
    has_attributes : bool, default=False
        Whether the graph itself has attributes that have kinds.

    Raises
    ------
    ParameterError
    """
    if features is None and labels is None and (names.id is not None or ids is not None):
        raise ParameterError(f"{'ids' if names.id is None else 'id'} can only be given with features or labels")
    if names.id is not None and ids is False:
        raise ParameterError(f"id must not be given if rows have no ids; got {names.id!r} and ids=False")
    if names.label is not None and labels is None and not has_labels:
        raise ParameterError(f"label can only be given with a table of labels; got {names.label!r} and no labels")
    if names.kinds and features is None and not has_attributes:
        raise ParameterError(KINDS_NEED_FEATURES)


def _read_complete(
    path: Path, kind: str, directed: bool | None, names: ColumnNames
) -> tuple[Graph, tuple[TableColumn, ...]]:
    if kind == ".npz":
        return read_npz(path, directed=bool(directed)), ()
    if kind == ".graphml":
        label, weight = (None if name is None else str(name) for name in (names.label, names.weight))
        kinds = {str(name): each for name, each in names.kinds.items()}
        graph, attributes = read_graphml(path, label=label, weight=weight, kinds=kinds)
        return graph.to_undirected() if directed is False and graph.directed else graph, attributes
    if kind == _FOLDER:
        return _read_folder(path, directed), ()
    return read_torch(path, directed=directed), ()


def _read_folder(path: Path, directed: bool | None) -> Graph:
    folder = GraphFolder.open(path)
    if directed and not folder.directed:
        raise ParameterError(
            f"directed must be left out for a graph folder of an undirected graph; {path} is one: shard the graph "
            "again as a directed one"
        )
    graph = folder.to_graph()
    return graph.to_undirected() if directed is False and graph.directed else graph
