"""Reader of edge lists: a row per edge with two ids and optionally a weight."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from graphprox._utils.column_names import are_different_kinds
from graphprox._utils.stacklevel import warn
from graphprox.errors import AssumedInputWarning, ReadError
from graphprox.io.tables.column_choice import NO_NAMES, ColumnNames, TableColumn
from graphprox.io.tables.edge_columns import choose_edge_columns
from graphprox.io.tables.table import Table, check_numeric, read_table


@dataclass(frozen=True)
class EdgeList:
    """An edge list.

    Attributes
    ----------
    source, target : pyarrow.Array of shape (num_edges,)
        Ids of the ends of each edge, all integers or all strings.
    weight : ndarray of shape (num_edges,) or None
        Weights, if there are any.
    names : tuple of str
        Names of the two columns of ids; empty if they have none.
    columns : tuple of TableColumn
        What the columns of the table were taken for.
    """

    source: pa.Array
    target: pa.Array
    weight: NDArray[np.float64] | None
    names: tuple[str, ...] = ()
    columns: tuple[TableColumn, ...] = ()


def read_edge_list(
    path: Path, *, header: bool | None = None, encoding: str | None = None, names: ColumnNames = NO_NAMES
) -> EdgeList:
    """Read an edge list from text or Parquet.

    Ids are the columns that were named; otherwise those with names such as ``source`` and ``target``, or the first two.
    Weights are a column named ``weight``, or the third one if there is no header.

    Parameters
    ----------
    path : Path
        File to read.
    header : bool, default=None
        Whether the first row of a text file is a header; detected if None.
    encoding : str, default=None
        Encoding of a text file; detected if None.
    names : ColumnNames, default=NO_NAMES
        Columns that the user named.

    Returns
    -------
    EdgeList
    """
    table = read_table(
        path,
        ids=2,
        values=None,
        header=header,
        choose=lambda columns: choose_edge_columns(columns, names),
        named=names.given("source", "target", "weight"),
        encoding=encoding,
    )
    return to_edge_list(table)


def to_edge_list(table: Table) -> EdgeList:
    """Convert a table of two ids and optionally a weight.

    Parameters
    ----------
    table : Table
        The table.

    Returns
    -------
    EdgeList
    """
    source, target = table.columns[:2]
    if len(source) == 0:
        listed = "none" if table.layout is None or table.names is None else "none below its header"
        raise ReadError(f"a graph must have at least one edge; {table.path} lists {listed}")
    _warn_if_merged(table)
    weight = parse_weights(table, 2) if len(table.columns) > 2 else None
    names = () if table.names is None else table.names[:2]
    return EdgeList(source, target, weight, names, table.taken)


def _warn_if_merged(table: Table) -> None:
    """Warn if nodes of different kinds, such as customers and products, have the same ids."""
    if table.names is None or not are_different_kinds(*table.names[:2]):
        return
    first, second = (pc.unique(column) for column in table.columns[:2])
    common = first.filter(pc.is_in(first, value_set=second))
    if len(common):
        warn_of_merged(table.path, table.names, len(common), common[0].as_py())


def warn_of_merged(path: Path | str, names: Sequence[str], count: int, example: object) -> None:
    """Warn that nodes of different kinds have the same ids.

    Parameters
    ----------
    path : Path or str
        The table.
    names : sequence of str
        Names of the columns of source and target.
    count : int
        Number of ids that occur in both.
    example : int or str
        One of them.
    """
    first, second = names[:2]
    warn(
        f"{count} ids of {path} occur in both {first!r} and {second!r}, such as {example!r}, and are taken for the "
        f"same nodes: if they are not, write them differently, as in {first[:1].lower()}{example} and "
        f"{second[:1].lower()}{example}",
        AssumedInputWarning,
    )


def parse_weights(table: Table, position: int) -> NDArray[np.float64] | None:
    """Return a column of weights as numbers.

    Parameters
    ----------
    table : Table
        The table.
    position : int
        Position of the column.

    Returns
    -------
    ndarray of shape (num_edges,) or None
        None if the column has the empty braces that networkx writes for edges without attributes.

    Raises
    ------
    ReadError
        If a weight is missing, negative or no number.
    """
    column = table.columns[position]
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        if _is_empty_networkx_data(table, column):
            return None
        column = pc.utf8_trim_whitespace(column)
        column = pc.if_else(pc.equal(column, ""), None, column)
        check_numeric(table, position, column, "weights")
    try:
        weight = column.cast(pa.float64())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise ReadError(
            f"weights must be numbers; {table.column(position)} of {table.path} contains {column.type}"
        ) from None
    invalid = pc.invert(pc.and_(pc.greater_equal(weight, 0.0), pc.is_finite(weight)))
    at = pc.index(pc.fill_null(invalid, True), True).as_py()
    if at >= 0:
        value, column = weight[at].as_py(), f"{table.column(position)} in {table.row(at)}"
        if value is None:
            raise ReadError(f"every edge must have a weight; {column} is empty: write a number, or remove the row")
        raise ReadError(f"edge weights must be finite and non-negative; {column} contains {value}")
    values: NDArray[np.float64] = weight.to_numpy(zero_copy_only=False)
    if not values.any():
        warn(
            f"all weights in {table.column(position)} of {table.path} are 0, and edges of weight 0 join nothing: auto "
            "and convolutions see no neighbors, and walks see edges of equal weight; correct the weights, or remove "
            "the column if all edges count equally",
            AssumedInputWarning,
        )
    return values


def _is_empty_networkx_data(table: Table, column: pa.Array) -> bool:
    """Check whether all cells are the empty braces that networkx writes for edges without attributes."""
    if not (column[0].as_py() or "").startswith("{"):
        return False
    if not pc.all(pc.equal(column, "{}")).as_py():
        raise ReadError(
            f"weights must be numbers; {table.path} has attributes in braces, as written by networkx: "
            "write it with data=['weight']"
        )
    return True
