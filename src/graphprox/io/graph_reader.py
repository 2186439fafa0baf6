"""Reader of graphs from files."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from graphprox._utils.arrays import IntArray
from graphprox._utils.stacklevel import find_stacklevel
from graphprox.errors import IgnoredInputWarning, ParameterError, ReadError, StructuralFeaturesWarning
from graphprox.graph.graph import UNKNOWN_LABEL, Graph
from graphprox.io.attributes import NodeFeatures, NodeLabels, read_features, read_labels
from graphprox.io.columns import ColumnNames
from graphprox.io.edge_lists import EdgeList, read_edge_list
from graphprox.io.files import check_readable, ending
from graphprox.io.graph_files import read_graphml, read_npz, read_torch
from graphprox.io.ids import number_nodes, positions, to_node_ids
from graphprox.io.tables import PARQUET_ENDINGS, TEXT_ENDINGS
from graphprox.preprocessing.encoded_table import EncodedTable
from graphprox.preprocessing.table_encoder import TableEncoder

_GRAPH_ENDINGS = (".npz", ".graphml", ".pt", ".pth")


def read_graph(
    path: str | Path,
    *,
    features: str | Path | None = None,
    labels: str | Path | None = None,
    directed: bool | None = None,
    header: bool | None = None,
    encoder: TableEncoder | None = None,
    source: str | int | None = None,
    target: str | int | None = None,
    weight: str | int | None = None,
    id: str | int | None = None,  # noqa: A002 - as the column is named
    label: str | int | None = None,
    ids: bool | None = None,
) -> Graph:
    r"""Read a graph from files, in the format selected by the file's ending.

    Parameters
    ----------
    path : str or Path
        An edge list in CSV, TSV, text (which may be gzipped) or Parquet, with two columns of ids and optionally
        weights; or a complete graph in npz, GraphML or PyG's ``.pt``.
    features : str or Path, default=None
        Features of the nodes in CSV, TSV, Parquet, npz, npy or svmlight, joined by id. The nodes of an edge list are
        then in the order of the features, and otherwise in the order of their ids. A graph without features gets
        structural ones, with a `StructuralFeaturesWarning`.
    labels : str or Path, default=None
        Labels of the nodes in the same formats, joined by id.
    directed : bool, default=None
        Whether edges have a direction. If None, as stored in a GraphML or PyG file, and False for other formats.
    header : bool, default=None
        Whether the first row of a text file is a header; detected if None.
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
    path, kind = Path(path), ending(path)
    names = ColumnNames(source, target, weight, id, label)
    _check_names(path, kind, names, features, labels, ids)
    options: dict[str, Any] = {"header": header, "names": names, "ids": ids is not False}
    node_features = None if features is None else read_features(Path(features), encoder=encoder, **options)
    node_labels = None if labels is None else read_labels(Path(labels), **options)
    if kind in _GRAPH_ENDINGS:
        with warnings.catch_warnings():
            if node_features is not None:
                warnings.simplefilter("ignore", StructuralFeaturesWarning)
            graph = _read_complete(path, kind, directed, names)
    elif kind in TEXT_ENDINGS + PARQUET_ENDINGS:
        edges = read_edge_list(path, header=header, names=names)
        graph = _build_graph(path, edges, node_features, directed=bool(directed))
        del edges
        node_features = None
    else:
        check_readable(path)
        known = ", ".join(TEXT_ENDINGS[:4] + PARQUET_ENDINGS[:1] + _GRAPH_ENDINGS)
        raise ReadError(f"the ending of a graph file must be one of {known}; got {path.name!r}")
    if node_features is not None:
        graph = _join_features(graph, node_features, str(features))
    if node_labels is not None:
        graph = _join_labels(graph, node_labels, str(labels))
    if graph.num_entries == 0:
        raise ReadError(f"a graph must have at least one edge; {path} has none")
    return graph


def _check_names(path: Path, kind: str, names: ColumnNames, features: object, labels: object, ids: bool | None) -> None:
    """Raise an error if a column is named of a file that is not given, or is not a table."""
    if kind in _GRAPH_ENDINGS:
        roles = ("source", "target") if kind == ".graphml" else ("source", "target", "weight")
        given = [role for role in roles if getattr(names, role) is not None]
        if given:
            raise ParameterError(f"{given[0]} can only be given with a table of edges; {path} is a complete graph")
    if features is None and labels is None and (names.id is not None or ids is not None):
        raise ParameterError(f"{'ids' if names.id is None else 'id'} can only be given with features or labels")
    if names.id is not None and ids is False:
        raise ParameterError(f"id must not be given if rows have no ids; got {names.id!r} and ids=False")
    if names.label is not None and labels is None and kind != ".graphml":
        raise ParameterError(f"label can only be given with a table of labels; got {names.label!r} and no labels")


def _read_complete(path: Path, kind: str, directed: bool | None, names: ColumnNames) -> Graph:
    if kind == ".npz":
        return read_npz(path, directed=bool(directed))
    if kind == ".graphml":
        label, weight = (None if name is None else str(name) for name in (names.label, names.weight))
        graph = read_graphml(path, label=label, weight=weight)
        return graph.to_undirected() if directed is False and graph.directed else graph
    return read_torch(path, directed=directed)


def _build_graph(path: Path, edges: EdgeList, features: NodeFeatures | None, *, directed: bool) -> Graph:
    x: Any = None
    if features is None:
        index, ids = number_nodes(edges.source, edges.target)
        num_nodes = int(index.max()) + 1 if ids is None else len(ids)
    else:
        index = np.stack([_find_ends(path, end, features.ids) for end in (edges.source, edges.target)])
        ids, x, num_nodes = to_node_ids(features.ids), features.x, len(features.ids)
    weight = edges.weight
    # Free the ids of a large graph before its edges are sorted.
    del edges
    pa.default_memory_pool().release_unused()
    return Graph(x, index, num_nodes=num_nodes, edge_weight=weight, node_ids=ids, directed=directed)


def _find_ends(path: Path, ends: pa.Array, known: pa.Array) -> IntArray:
    found = positions(ends, known)
    unknown = np.flatnonzero(found < 0)
    if len(unknown):
        names = {ends[int(i)].as_py() for i in unknown[:1000]}
        raise ReadError(
            f"every node of an edge must have a row of features; {path} has edges to unknown nodes: "
            f"{_format_names(names, at_least=len(unknown) > 1000)}"
        )
    return found


def _format_names(names: set[object], *, at_least: bool) -> str:
    shown = sorted(names, key=str)[:3]
    rest = len(names) - len(shown)
    more = f" and {'at least ' * at_least}{rest} more" if rest else ""
    return ", ".join(repr(name) for name in shown) + more


def _join_features(graph: Graph, features: NodeFeatures, name: str) -> Graph:
    ids = pa.array(graph.ids)
    row = positions(ids, features.ids)
    missing = np.flatnonzero(row < 0)
    if len(missing):
        names = {ids[int(i)].as_py() for i in missing}
        raise ReadError(
            f"every node must have a row of features; {name} has none for {_format_names(names, at_least=False)}"
        )
    if len(features.ids) > len(row):
        warnings.warn(
            f"{len(features.ids) - len(row)} rows of {name} belong to no node of the graph; they are ignored",
            IgnoredInputWarning,
            stacklevel=find_stacklevel(),
        )
    x = features.x
    return graph.with_features(x.take(row) if isinstance(x, EncodedTable) else x[row])


def _join_labels(graph: Graph, labels: NodeLabels, name: str) -> Graph:
    node = positions(labels.ids, pa.array(graph.ids))
    unknown = np.flatnonzero(node < 0)
    if len(unknown):
        names = {labels.ids[int(i)].as_py() for i in unknown}
        raise ReadError(
            f"labels must belong to nodes of the graph; {name} has unknown ones: {_format_names(names, at_least=False)}"
        )
    y = np.full(graph.num_nodes, UNKNOWN_LABEL, np.int64)
    y[node] = labels.y
    return graph.with_labels(y, class_names=labels.names)
