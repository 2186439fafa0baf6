"""Joins of edges, features and labels by node id."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp
from numpy.typing import NDArray

from graphprox._utils.arrays import IntArray
from graphprox._utils.stacklevel import warn
from graphprox.errors import AssumedInputWarning, IgnoredInputWarning, ReadError
from graphprox.graph.graph import UNKNOWN_LABEL, Graph
from graphprox.io.attributes import NodeFeatures, NodeLabels
from graphprox.io.edge_lists import EdgeList
from graphprox.io.ids import number_nodes, positions, to_node_ids
from graphprox.io.tables.column_choice import TableColumn
from graphprox.preprocessing.columns import IGNORED
from graphprox.preprocessing.encoded_table import EncodedTable, encode_columns
from graphprox.preprocessing.table_encoder import TableEncoder

_MAX_MISSING = 0.5  # share of nodes without a row, above which the ids probably do not match
_OTHER_COLUMN = "set id to take another column"
# Ids that match in part are the right ones: probably new nodes were given without the old ones they are linked with.
_ADD_ROWS = "give the rows of these nodes, too, or, for new nodes, all edges and all rows of the grown graph"
MAX_MARKED = 50  # columns up to which a missing number has a mark

# What ids of two tables may differ by, what finds it, and what to do.
_PREFIX = "letters in front"
_SPELLINGS = (
    ("spaces around them", r"^\s*(.*?)\s*$", "remove the spaces"),
    ("leading zeros", r"^0+(\d+)$", "write them with the same number of zeros"),
    (_PREFIX, r"^[^\W\d_]+[-_:]?(\d+)$", "write them in the same way"),
    ("spaces and leading zeros", r"^\s*0*(\d+)\s*$", "write them in the same way"),
)

Name = str | Path


# -- edges and features ---------------------------------------------------------------------------------------------


def build_graph(
    edges: EdgeList,
    features: NodeFeatures | None,
    *,
    directed: bool,
    names: tuple[Name, Name] = ("the edges", "the features"),
    encoder: TableEncoder | None = None,
) -> Graph:
    """Build a graph from an edge list and features.

    Parameters
    ----------
    edges : EdgeList
        The edges.
    features : NodeFeatures or None
        Features, in the order of the nodes. Nodes of edges that have none come last, with missing values.
    directed : bool
        Whether edges have a direction.
    names : tuple of str or Path, default=("the edges", "the features")
        The files, for messages.
    encoder : TableEncoder, default=None
        What the columns of a table of features contain, for missing values.

    Returns
    -------
    Graph

    Raises
    ------
    ReadError
        If most nodes have no row of features.
    """
    x: Any = None
    index: Any
    if features is None:
        index, ids = number_nodes(edges.source, edges.target)
        num_nodes = int(index.max()) + 1 if ids is None else len(ids)
    else:
        known, x = features.ids, features.x
        index = _find_ends(edges, known)
        if (index < 0).any():
            known = _append_missing(edges, known, names)
            index = _find_ends(edges, known)
            x = take_rows(x, np.where(np.arange(len(known)) < len(features.ids), np.arange(len(known)), -1), encoder)
        ids, num_nodes = to_node_ids(known), len(known)
    weight = edges.weight
    # Free the ids of a large graph before its edges are sorted.
    del edges
    pa.default_memory_pool().release_unused()
    return Graph(x, index, num_nodes=num_nodes, edge_weight=weight, node_ids=ids, directed=directed)


def _find_ends(edges: EdgeList, known: pa.Array) -> IntArray:
    return np.stack([positions(end, known) for end in (edges.source, edges.target)])


def _append_missing(edges: EdgeList, known: pa.Array, names: tuple[Name, Name]) -> pa.Array:
    """Return the ids of the features, followed by those of other nodes of edges in sorted order."""
    ends = pa.concat_arrays([edges.source, edges.target])
    if ends.type != known.type:
        ends, known = ends.cast(pa.string()), known.cast(pa.string())
    nodes = pc.unique(ends)
    missing = nodes.filter(pc.invert(pc.is_in(nodes, value_set=known)))
    missing = missing.take(pc.sort_indices(missing))
    _report_missing(missing, len(nodes), known, names)
    return pa.concat_arrays([known, missing])


def _report_missing(missing: pa.Array, num_nodes: int, known: pa.Array, names: tuple[Name, Name]) -> None:
    examples, of_table = missing[:3].to_pylist(), known[:3].to_pylist()
    report_missing(examples, len(missing), num_nodes, of_table, names, spelling=_find_spelling(missing, known))


def report_missing(
    missing: Sequence[object],
    num_missing: int,
    num_nodes: int,
    known: Sequence[object],
    names: tuple[Name, Name],
    *,
    spelling: str = "",
) -> None:
    """Warn about nodes without a row of features; raise an error if these are most of them.

    Parameters
    ----------
    missing, known : sequence of int or str
        Examples of nodes without a row, and of ids in the table of features.
    num_missing, num_nodes : int
        Number of nodes of the graph without a row, and of all.
    names : tuple of str or Path
        The files of the graph and of the features.
    spelling : str, default=""
        What else ids of both may differ by.

    Raises
    ------
    ReadError
        If most nodes have no row.
    """
    graph, table = names
    if num_missing > _MAX_MISSING * num_nodes:
        remedy = _OTHER_COLUMN if num_missing == num_nodes else _ADD_ROWS
        raise ReadError(
            f"nodes must have a row of features under the same id; {num_missing} of the {num_nodes} nodes of {graph} "
            f"have none in {table}, such as {_list(missing)}, and its ids are such as {_list(known)}: "
            f"{spelling or remedy}"
        )
    count, whose = ("1 node has", "its") if num_missing == 1 else (f"{num_missing} of {num_nodes} nodes have", "their")
    warn(
        f"{count} no row in {table}, such as {_list(missing[:1])}; {whose} features are missing values"
        f"{spelling and f': {spelling}'}",
        AssumedInputWarning,
    )


def _list(ids: Sequence[object]) -> str:
    return ", ".join(map(repr, ids))


def _find_spelling(missing: pa.Array, known: pa.Array) -> str:
    """Say that ids differ by spaces or leading zeros alone, if some do; an empty string otherwise."""
    wanted, there = missing.cast(pa.string()), known.cast(pa.string())
    for what, pattern, remedy in _SPELLINGS:
        plain = pc.replace_substring_regex(wanted, pattern, r"\1")
        at = pc.index_in(plain, value_set=pc.replace_substring_regex(there, pattern, r"\1"))
        if what == _PREFIX:  # u1 and m1 are different nodes; 1 and u1 may be the same
            at = pc.if_else(pc.or_(pc.equal(plain, wanted), pc.is_in(plain, value_set=there)), at, None)
        found = pc.index(pc.is_valid(at), True).as_py()
        if found >= 0:
            pair = f"{wanted[found].as_py()!r} and {there[at[found].as_py()].as_py()!r}"
            return f"some ids differ by {what} alone, as {pair}: {remedy}"
    return ""


def join_features(
    graph: Graph, features: NodeFeatures, names: tuple[Name, Name], encoder: TableEncoder | None = None
) -> Graph:
    """Give a graph the features of a file, by node id.

    Parameters
    ----------
    graph : Graph
        The graph.
    features : NodeFeatures
        The features. Rows of unknown nodes are ignored, and nodes without a row have missing values, with a warning.
    names : tuple of str or Path
        The files of the graph and of the features, for messages.
    encoder : TableEncoder, default=None
        What the columns of a table of features contain, for missing values.

    Returns
    -------
    Graph
    """
    ids = pa.array(graph.ids)
    rows = positions(ids, features.ids)
    missing = ids.filter(pa.array(rows < 0))
    if len(missing):
        _report_missing(missing, graph.num_nodes, features.ids, names)
    unused = len(features.ids) - np.count_nonzero(rows >= 0)
    if unused:
        warn(f"{unused} rows of {names[1]} belong to no node of the graph; they are ignored", IgnoredInputWarning)
    return graph.with_features(take_rows(features.x, rows, encoder))


def take_rows(x: Any, rows: IntArray, encoder: TableEncoder | None = None) -> Any:
    """Select rows of features; -1 stands for a row of missing values.

    Parameters
    ----------
    x : EncodedTable, or ndarray or csr_array of shape (n_rows, num_features)
        The features.
    rows : ndarray of shape (num_nodes,)
        Positions of the rows, -1 where there is none.
    encoder : TableEncoder, default=None
        What the columns of a table contain; found out by default, from the missing values too.

    Returns
    -------
    EncodedTable, or ndarray or csr_array of shape (num_nodes, num_features)
        In a table, missing values are encoded as empty cells are. In a matrix, they are the means of the columns, and
        zeros if the matrix is sparse.
    """
    missing = rows < 0
    if not missing.any():
        return x.take(rows) if isinstance(x, EncodedTable) else x[rows]
    if isinstance(x, EncodedTable):
        columns = x.columns
        if columns is None and x.feature_names is not None and (encoder or len(x.feature_names) <= MAX_MARKED):
            values = x.x.toarray() if sp.issparse(x.x) else x.x
            columns = pa.table([pa.array(each) for each in values.T], names=list(x.feature_names))
        if columns is not None:
            return _encode_again(x, columns.take(pa.array(rows, mask=missing)), encoder)
        return replace(x, x=_fill_rows(x.x, rows, missing), columns=None)
    return _fill_rows(x, rows, missing)


def _encode_again(x: EncodedTable, columns: pa.Table, encoder: TableEncoder | None) -> EncodedTable:
    """Encode the rows of a table again, some of which are missing now."""
    # What was ignored stays so: beside a missing row, a constant has two values.
    fitted = None if encoder is not None or x.encoder is None or not x.encoder.columns else x.encoder
    kinds = {**x.kinds, **dict.fromkeys(() if fitted is None else fitted.ignored, IGNORED)}
    with warnings.catch_warnings():  # raised when it was read
        warnings.simplefilter("ignore", IgnoredInputWarning)
        warnings.simplefilter("ignore", AssumedInputWarning)
        encoded = encode_columns(columns, encoder, kinds)
    return encoded if fitted is None else replace(encoded, columns=columns, kinds=x.kinds)


def _fill_rows(x: Any, rows: IntArray, missing: NDArray[np.bool_]) -> Any:
    is_sparse: bool = sp.issparse(x)
    if is_sparse:
        matrix = sp.csr_array(x)
        num_rows, num_columns = x.shape
        indptr = np.append(matrix.indptr, matrix.indptr[-1])  # one more row, without entries
        extended = sp.csr_array((matrix.data, matrix.indices, indptr), shape=(num_rows + 1, num_columns))
        return extended[np.where(missing, num_rows, rows)]
    taken = np.asarray(x)[rows].astype(np.float32)
    taken[missing] = np.asarray(x).mean(axis=0, dtype=np.float64)  # float32 would lose digits in many rows
    return taken


def collect_columns(
    edges: EdgeList | None, features: NodeFeatures | None, labels: NodeLabels | None, *, one_table: bool
) -> tuple[TableColumn, ...]:
    """Return what the columns of all tables of a graph were taken for.

    Parameters
    ----------
    edges : EdgeList or None
    features : NodeFeatures or None
    labels : NodeLabels or None
    one_table : bool
        Whether features and labels are columns of one table, of which each is listed once.

    Returns
    -------
    tuple of TableColumn
    """
    of_labels = () if labels is None else labels.columns
    of_features = () if features is None else features.columns
    if one_table:
        of_labels = tuple(each for each in of_labels if each.role == "label")
        of_features = tuple(each for each in of_features if each.name not in {label.name for label in of_labels})
    return (*(() if edges is None else edges.columns), *of_features, *of_labels)


# -- labels ---------------------------------------------------------------------------------------------------------


def join_labels(graph: Graph, labels: NodeLabels, name: Name) -> Graph:
    """Give a graph the labels of a file, by node id.

    Parameters
    ----------
    graph : Graph
        The graph.
    labels : NodeLabels
        The labels. Those of unknown nodes are ignored, with a warning.
    name : str or Path
        The file of the labels, for messages.

    Returns
    -------
    Graph

    Raises
    ------
    ReadError
        If all labels belong to unknown nodes.
    """
    ids = pa.array(graph.ids)
    node = positions(labels.ids, ids)
    unknown = labels.ids.filter(pa.array(node < 0))
    report_unknown(unknown[:3].to_pylist(), len(unknown), len(labels.ids), ids[:3].to_pylist(), name)
    y = np.full(graph.num_nodes, UNKNOWN_LABEL, np.int64)
    y[node[node >= 0]] = labels.y[node >= 0]
    return graph.with_labels(y, class_names=labels.names)


def report_unknown(
    unknown: Sequence[object], num_unknown: int, num_labels: int, known: Sequence[object], name: Name
) -> None:
    """Warn about labels of nodes that the graph does not have; raise an error if these are all.

    Parameters
    ----------
    unknown, known : sequence of int or str
        Examples of ids of such labels, and of the graph.
    num_unknown, num_labels : int
        Number of such labels, and of all.
    name : str or Path
        The file of the labels.

    Raises
    ------
    ReadError
        If all labels belong to unknown nodes.
    """
    if num_unknown == num_labels:
        raise ReadError(
            f"labels must belong to nodes of the graph; {name} has labels of {_list(unknown)}, and the ids of the "
            f"graph are such as {_list(known)}"
        )
    if num_unknown:
        rows = "1 row" if num_unknown == 1 else f"{num_unknown} of {num_labels} rows"
        belong = "belongs to no node of the graph and is" if num_unknown == 1 else "belong to no node and are"
        warn(f"{rows} of {name} {belong} ignored, such as that of {_list(unknown[:1])}", IgnoredInputWarning)
