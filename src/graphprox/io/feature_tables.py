"""Reader of tables of features, whose columns need not be numbers."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from graphprox.errors import AssumedInputWarning, IgnoredInputWarning, ParameterError, ReadError
from graphprox.io.tables.table import Table
from graphprox.preprocessing.columns import IGNORED, NUMBER
from graphprox.preprocessing.encoded_table import EncodedTable, encode_columns
from graphprox.preprocessing.table_cells import CellError
from graphprox.preprocessing.table_encoder import TableEncoder

ReadTable = Callable[[pa.DataType | None], Table]


def read_encoded(
    read: ReadTable, *, typed: bool, ids: int = 1, encoder: TableEncoder | None = None
) -> tuple[Table, EncodedTable]:
    """Read a table of features as numbers.

    Parameters
    ----------
    read : callable
        Function that reads the table, given the type of all columns but the ids; None for the stored type.
    typed : bool
        Whether the columns have types, as those of Parquet have, and those of text have not.
    ids : int, default=1
        Number of columns of ids, which come first.
    encoder : TableEncoder, optional
        What the columns contain; found out by default, but for those whose kinds the user gave.

    Returns
    -------
    table : Table
        The table, with its ids.
    encoded : EncodedTable
        The other columns as numbers. Columns without a header are named by their number.

    Raises
    ------
    ReadError
        If the file cannot be read, or a column of numbers has a cell that is none.
    """
    if encoder is None or encoder.has_numbers_only:
        numbers = _read_numbers(read, ids, encoder)
        if numbers is not None:
            return numbers
    with warnings.catch_warnings():
        if encoder is None or encoder.has_numbers_only:  # what was assumed has been stated already
            warnings.simplefilter("ignore", AssumedInputWarning)
            warnings.simplefilter("ignore", IgnoredInputWarning)
        table = read(None if typed else pa.string())
    try:
        return table, encode_columns(_to_arrow(table, ids), encoder, _get_kinds(table, ids))
    except CellError as error:
        raise table.locate(error, ids + _names(table, ids).index(error.column)) from None


def _read_numbers(read: ReadTable, ids: int, encoder: TableEncoder | None) -> tuple[Table, EncodedTable] | None:
    """Read a table of numbers; return None if a cell is missing or something else."""
    try:
        table = read(pa.float32())
    except ReadError:  # which is raised again if the table cannot be read as text either
        return None
    if len(table.columns) <= ids:
        raise ReadError(f"each row of {table.path} must contain an id and features; it contains the id alone")
    if any(column.null_count for column in table.columns[ids:]):
        return None
    columns = _to_arrow(table, ids)
    if any(pc.any(pc.is_nan(column)).as_py() for column in columns.columns):
        return None
    kinds = _get_kinds(table, ids)
    if not {NUMBER, IGNORED}.issuperset(kinds.values()):
        return None
    encoded = encode_columns(columns, encoder, kinds)
    has_names = table.names is not None or encoded.encoder is not None  # by which a model knows what it ignores
    return table, encoded if has_names else replace(encoded, feature_names=None)


def _get_kinds(table: Table, ids: int) -> Mapping[str, str]:
    """Return the kinds that the user gave, without those of columns of lists, which are numbers."""
    given = {} if table.chosen is None else table.chosen.kinds
    names = frozenset(_names(table, ids))
    for name, kind in given.items():
        if name not in names and kind not in (NUMBER, IGNORED):
            raise ParameterError(
                f"kinds must be {NUMBER!r} or {IGNORED!r} for a column of lists; got {kind!r} for {name!r} of "
                f"{table.path}"
            )
    return {name: kind for name, kind in given.items() if name in names or kind == IGNORED}


def _to_arrow(table: Table, ids: int) -> pa.Table:
    return pa.table(list(table.columns[ids:]), names=_names(table, ids))


def _names(table: Table, ids: int) -> list[str]:
    if table.names is not None:
        return list(table.names[ids:])
    return [table.column(i) for i in range(ids, len(table.columns))]
