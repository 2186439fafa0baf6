"""Graphs from DataFrames of pandas and polars and tables of pyarrow; `Graph.from_frames` reads them."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Collection
from dataclasses import replace
from functools import partial
from typing import Any

import pyarrow as pa

from graphprox.errors import AssumedInputWarning, GraphError, IgnoredInputWarning, ParameterError, ReadError
from graphprox.graph.graph import Graph
from graphprox.io.attributes import SEVERAL_GROUPS, NodeFeatures, NodeLabels, check_unique, encode_labels
from graphprox.io.edge_lists import to_edge_list
from graphprox.io.feature_tables import read_encoded
from graphprox.io.joins import build_graph, collect_columns, join_labels
from graphprox.io.storage.files import reason
from graphprox.io.tables.column_choice import (
    KINDS_ARE_FITTED,
    KINDS_NEED_FEATURES,
    ColumnName,
    ColumnNames,
    TableColumn,
)
from graphprox.io.tables.edge_columns import choose_edge_columns
from graphprox.io.tables.node_columns import choose_feature_columns, choose_label_columns
from graphprox.io.tables.table import table_from_arrow
from graphprox.preprocessing.columns import IGNORED, check_kinds
from graphprox.preprocessing.table_encoder import TableEncoder

_EDGES, _FEATURES, _LABELS = "the edges", "the features", "the labels"


def read_frames(
    edges: Any,
    features: Any,
    labels: Any,
    names: ColumnNames,
    *,
    directed: bool,
    encoder: TableEncoder | None = None,
) -> tuple[Graph, tuple[TableColumn, ...]]:
    """Build a graph from tables, as `Graph.from_frames` does, and say what their columns were taken for.

    Parameters
    ----------
    edges, features, labels : pandas.DataFrame, polars.DataFrame or pyarrow.Table
        The tables; features and labels may be None, or a pandas Series whose index contains the ids.
    names : ColumnNames
        Columns that the user named.
    directed : bool
        Whether edges have a direction.
    encoder : TableEncoder, default=None
        What the columns of the features contain; found out by default.

    Returns
    -------
    graph : Graph
    columns : tuple of TableColumn
    """
    check_kinds(names.kinds)
    if names.kinds and (features is None or encoder is not None):
        raise ParameterError(KINDS_NEED_FEATURES if features is None else KINDS_ARE_FITTED)
    ignored = [name for name, kind in names.kinds.items() if kind == IGNORED]
    given = {_EDGES: edges}
    given |= {name: _unfold(each, name, names.id) for name, each in ((_FEATURES, features), (_LABELS, labels))}
    tables = {
        name: to_arrow(frame, name, ignored=() if name == _EDGES else ignored)
        for name, frame in given.items()
        if frame is not None or name == _EDGES
    }
    try:
        chosen = table_from_arrow(
            _EDGES, tables[_EDGES], ids=2, values=None, choose=partial(choose_edge_columns, names=names)
        )
        names = replace(names, ends=() if chosen.names is None else chosen.names[:2])
        one_table = labels is not None and labels is features
        classes = None
        if labels is not None:
            with warnings.catch_warnings():
                if one_table:  # other columns are features, and what is assumed is stated of them
                    warnings.simplefilter("ignore", IgnoredInputWarning)
                    warnings.simplefilter("ignore", AssumedInputWarning)
                classes = _to_labels(tables[_LABELS], names)
        label = None if classes is None else classes.column
        nodes = None
        if features is not None:
            nodes = _to_features(tables[_FEATURES], names, labels=one_table, label=label, encoder=encoder)
        listed = to_edge_list(chosen)
        graph = build_graph(listed, nodes, directed=directed, encoder=encoder)
        taken = collect_columns(listed, nodes, classes, one_table=one_table)
        return graph if classes is None else join_labels(graph, classes, _LABELS), taken
    except ReadError as error:
        raise GraphError(str(error)) from None


def _to_features(
    table: pa.Table, names: ColumnNames, *, labels: bool, label: str | None, encoder: TableEncoder | None
) -> NodeFeatures:
    ignored = () if encoder is None else encoder.ignored
    choose = partial(choose_feature_columns, names=names, labels=labels, label=label, ignored=ignored)
    found, x = read_encoded(
        lambda values: table_from_arrow(_FEATURES, table, ids=1, values=values, choose=choose, features=True),
        typed=True,
        encoder=encoder,
    )
    features = NodeFeatures(found.columns[0], x, found.taken)
    check_unique(features.ids, f"a node must have one row of features; {_FEATURES} have", table=found)
    return features


def _to_labels(table: pa.Table, names: ColumnNames) -> NodeLabels:
    choose = partial(choose_label_columns, names=names)
    found = table_from_arrow(_LABELS, table, ids=1, values=pa.string(), choose=choose)
    ids, labels = found.columns
    check_unique(ids, f"a node must have one label; {_LABELS} have", hint=SEVERAL_GROUPS, table=found)
    return NodeLabels(ids, *encode_labels(labels), None if found.names is None else found.names[-1], found.taken)


def _unfold(given: Any, name: str, id_name: ColumnName | None) -> Any:
    """Return a pandas Series of one value per node as a DataFrame with a column of ids; other tables as they are."""
    pandas = sys.modules.get("pandas")
    if pandas is None or not isinstance(given, pandas.Series):
        return given
    if given.index.nlevels > 1:
        raise GraphError(
            f"the index of a Series must contain the ids of the nodes; that of {name} has {given.index.nlevels} "
            "levels: use a DataFrame"
        )
    index = id_name if isinstance(id_name, str) else "id"
    value = ("label" if name == _LABELS else "value") if given.name in (None, index) else given.name
    return given.rename(value).rename_axis(index).reset_index()


def to_arrow(frame: Any, name: str, *, ignored: Collection[str | int] = ()) -> pa.Table:
    """Convert a table to one of pyarrow.

    Parameters
    ----------
    frame : pandas.DataFrame, polars.DataFrame, pyarrow.Table or object with ``__arrow_c_stream__``
        The table. The index of pandas is kept if it is not just row numbers.
    name : str
        What it contains, for messages.
    ignored : collection of str or int, default=()
        Columns whose values do not matter, and may be of several types.

    Returns
    -------
    pyarrow.Table

    Raises
    ------
    GraphError
        If the object is not a table, a column contains values of several types, or two have the same name.
    """
    pandas = sys.modules.get("pandas")  # an object can only be a DataFrame if pandas is imported already
    try:
        if isinstance(frame, pa.Table):
            return frame
        if pandas is not None and isinstance(frame, pandas.DataFrame):
            mixed = [each for each in ignored if list(frame.columns).count(each) == 1]
            return pa.Table.from_pandas(frame.astype(dict.fromkeys(mixed, str)) if mixed else frame)
        if hasattr(frame, "__arrow_c_stream__") or isinstance(frame, pa.RecordBatch):
            return pa.table(frame)
    except (pa.ArrowException, ValueError, TypeError) as error:
        if pandas is not None and isinstance(frame, pandas.DataFrame):
            _reject_columns(frame, name, error)
        # pyarrow adds the column as another argument of the error, which would be shown as a tuple.
        why = ": ".join([*map(str, error.args[1:]), reason(type(error)(*error.args[:1]))])
        raise GraphError(f"{name} must be a table whose columns have one type each; got {why}") from None
    hint = ": call collect() first" if type(frame).__name__ == "LazyFrame" else ""
    raise GraphError(
        f"{name} must be a DataFrame of pandas or polars, or a table of pyarrow; got {type(frame).__name__}{hint}"
    )


def _reject_columns(frame: Any, name: str, error: Exception) -> None:
    """Raise a `GraphError` that names the column of pandas that pyarrow cannot convert, if it is known."""
    repeated = frame.columns[frame.columns.duplicated()]
    if len(repeated):
        raise GraphError(
            f"columns of {name} must have different names; {repeated[0]!r} is the name of several: rename one of them"
        )
    found = re.search(r"column (.*) with type", " ".join(map(str, error.args[1:])))
    columns = [each for each in frame.columns if found is not None and str(each) == found[1]]
    if not columns:
        return
    types = sorted({type(each).__name__ for each in frame[columns[0]].dropna()})
    if len(types) > 1:
        remedy = "make all of them text, as by astype(str)"
        if name == _FEATURES:
            remedy += f", or set kinds={{{str(columns[0])!r}: 'ignored'}} to leave the column out"
        raise GraphError(
            f"the values of a column must have one type; {str(columns[0])!r} of {name} has {', '.join(types)}: {remedy}"
        )
