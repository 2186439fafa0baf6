"""Reader of Parquet tables."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

from graphprox._utils.column_names import are_id_names, find_ends, is_entity, is_entity_id, is_node_id, is_unnamed
from graphprox.errors import ReadError
from graphprox.io.storage.files import reason
from graphprox.io.tables.list_columns import is_list, stack_lists
from graphprox.io.tables.parquet_sizes import check_parquet_sizes
from graphprox.preprocessing.table_cells import has_padded_numbers


def read_parquet(path: Path, *, names: Sequence[str] | None = None) -> pa.Table:
    """Read a Parquet file.

    Parameters
    ----------
    path : Path
        File to read.
    names : sequence of str, default=None
        Columns to read; all of them if None.

    Returns
    -------
    pyarrow.Table
    """
    try:
        check_parquet_sizes(path)
        table = pa.parquet.read_table(path, columns=names)
        _ = table.column_names  # which raises an error if a name is not valid text
        return table if names is None else table.select(names)
    except (pa.ArrowException, OSError, UnicodeError) as error:
        raise ReadError(f"{path} must be a valid Parquet file, as its name indicates: {reason(error)}") from None


def cast_columns(
    path: Path | str,
    table: pa.Table,
    *,
    ids: int,
    values: pa.DataType | None,
    features: bool = False,
    first_row: int = 0,
) -> tuple[tuple[pa.Array, ...], tuple[str, ...]]:
    """Convert the columns of a table to ids and values.

    Parameters
    ----------
    path : Path or str
        The file, or a description of the table, for messages.
    table : pyarrow.Table
        The table.
    ids : int
        Number of id columns, which come first.
    values : pyarrow.DataType or None
        Type of the other columns; as stored if None.
    features : bool, default=False
        Whether the values are features: a column of lists becomes one column per position, and categories stay that.
    first_row : int, default=0
        Row of the file, from 0, that is the first of the table, for messages.

    Returns
    -------
    columns : tuple of pyarrow.Array
        Columns, ids first.
    names : tuple of str
        Their names.
    """
    categories = _find_categories(table)[ids:] if features else []
    columns, names = [decode(path, column) for column in table.columns], table.column_names
    for i, is_category in enumerate(categories, start=ids):
        columns[i] = columns[i].dictionary_encode() if is_category else columns[i]
    if features:
        names, columns = _spread_lists(path, names, columns, first_row)
    for i, name in enumerate(names):
        if i < ids:
            columns[i] = _cast_ids(path, name, columns[i])
        elif values is not None:
            columns[i] = _cast(path, name, columns[i], values)
    if len({column.type for column in columns[:ids]}) > 1:
        columns[:ids] = [column.cast(pa.string()) for column in columns[:ids]]
    return tuple(columns), tuple(names)


def _find_categories(table: pa.Table) -> list[bool]:
    """Return whether each column has categories: as a dictionary, or, of numbers in Parquet, as pandas has noted."""
    stored = _read_metadata(table.schema).get("columns", [])
    noted = {
        each.get("field_name")
        for each in (stored if isinstance(stored, list) else [])
        if isinstance(each, dict) and each.get("pandas_type") == "categorical"
    }
    return [pa.types.is_dictionary(each.type) or each.name in noted for each in table.schema]


def _spread_lists(
    path: Path | str, names: Sequence[str], columns: Sequence[pa.Array], first_row: int
) -> tuple[list[str], list[pa.Array]]:
    """Replace each column of lists by one column per position, named ``NAME[0]``, ``NAME[1]`` and so on."""
    spread: list[tuple[str, pa.Array]] = []
    for name, column in zip(names, columns, strict=True):
        if is_list(column.type):
            positions = stack_lists(path, name, column, first_row=first_row).T
            spread.extend((f"{name}[{i}]", pa.array(np.ascontiguousarray(each))) for i, each in enumerate(positions))
        else:
            spread.append((name, column))
    return [name for name, _ in spread], [column for _, column in spread]


def decode(path: Path | str, column: pa.ChunkedArray) -> pa.Array:
    """Combine chunks, decode a dictionary and validate strings, which Parquet does not.

    Parameters
    ----------
    path : Path or str
        The file, or a description of the table, for messages.
    column : pyarrow.ChunkedArray
        The column.

    Returns
    -------
    pyarrow.Array
    """
    try:
        array = column.combine_chunks()
        if pa.types.is_dictionary(array.type):
            array = array.cast(array.type.value_type)
        if pa.types.is_large_string(array.type) or pa.types.is_string_view(array.type):  # of polars
            array = array.cast(pa.string())
        array.validate(full=True)
    except (pa.ArrowException, UnicodeError) as error:
        kind = "Parquet file, as its name indicates" if isinstance(path, Path) else "table"
        raise ReadError(f"{path} must be a valid {kind}: {reason(error)}") from None
    return array


def _cast_ids(path: Path | str, name: str, column: pa.Array) -> pa.Array:
    if pa.types.is_uint64(column.type) and len(column) and (pc.max(column).as_py() or 0) >= 2**63:
        raise ReadError(f"integer ids must be less than 2^63; {path} has {pc.max(column)}: use strings")
    if pa.types.is_floating(column.type):
        # pandas stores integers as floats if one of them is missing.
        try:
            return column.cast(pa.int64())
        except pa.ArrowInvalid:
            raise ReadError(f"ids must be integers or strings; column {name!r} of {path} contains fractions") from None
    return _cast(path, name, column, pa.int64() if pa.types.is_integer(column.type) else pa.string())


def _cast(path: Path | str, name: str, column: pa.Array, wanted: pa.DataType) -> pa.Array:
    if pa.types.is_floating(wanted) and (pa.types.is_boolean(column.type) or pa.types.is_dictionary(column.type)):
        raise ReadError(f"column {name!r} of {path} must contain numbers; it contains {column.type}")
    if pa.types.is_floating(wanted) and pa.types.is_string(column.type) and has_padded_numbers(column):
        raise ReadError(f"column {name!r} of {path} must contain numbers; some have zeros in front")
    try:
        # A large integer may be rounded, as in text.
        return column.cast(wanted, safe=not pa.types.is_floating(wanted))
    except pa.ArrowInvalid as error:
        raise ReadError(f"column {name!r} of {path} must contain {_plural(wanted)}: {reason(error)}") from None
    except pa.ArrowNotImplementedError:
        raise ReadError(
            f"column {name!r} of {path} must contain {_plural(wanted)}; it contains {column.type}"
        ) from None


def _plural(wanted: pa.DataType) -> str:
    return "strings" if pa.types.is_string(wanted) else "numbers"


def read_schema(path: Path, *, ids: int) -> pa.Schema:
    """Read the columns of a Parquet file in the order of `read_parquet`.

    Parameters
    ----------
    path : Path
        File to read.
    ids : int
        Number of id columns.

    Returns
    -------
    pyarrow.Schema
    """
    try:
        return move_index(pa.parquet.read_schema(path).empty_table(), ids).schema
    except (pa.ArrowException, OSError, UnicodeError) as error:
        raise ReadError(f"{path} must be a valid Parquet file, as its name indicates: {reason(error)}") from None


# -- index of a pandas DataFrame ------------------------------------------------------------------------------------


def move_index(table: pa.Table, ids: int) -> pa.Table:
    """Move an index that pandas stored as the last columns to the front, or drop it if it is not meaningful.

    Parameters
    ----------
    table : pyarrow.Table
        The table.
    ids : int
        Number of id columns.

    Returns
    -------
    pyarrow.Table
    """
    table = _add_range_index(table, ids)
    index = _find_index(table)
    others = [name for name in table.column_names if name not in index]
    if not index or len(set(table.column_names)) < table.num_columns:
        return table
    if len(index) == ids and _is_id_index(table, index, others):
        return table.select([*index, *others])
    return table.select([*others, *(name for name in index if _has_name(name))])


def _add_range_index(table: pa.Table, ids: int) -> pa.Table:
    """Add an index of row numbers, which pandas does not store, if there is no other column that may contain ids."""
    names = table.column_names
    kind = table.schema.field(0).type if names else None
    if ids != 1 or not pa.types.is_floating(kind) or any(is_entity(name) or is_unnamed(name) for name in names):
        return table
    found = range_index(table.schema)
    if found is None:
        return table
    start, step = found
    numbers = pa.array([start + step * i for i in range(table.num_rows)], pa.int64())
    return table.add_column(0, "__index_level_0__", numbers)


def range_index(schema: pa.Schema) -> tuple[int, int] | None:
    """Return start and step of an index of row numbers, which pandas notes and does not store.

    Parameters
    ----------
    schema : pyarrow.Schema

    Returns
    -------
    tuple of int or None
    """
    stored = _read_metadata(schema).get("index_columns", [])
    if len(stored) != 1 or not isinstance(stored[0], dict) or stored[0].get("kind") != "range":
        return None
    return stored[0].get("start", 0), stored[0].get("step", 1)


def _find_index(table: pa.Table) -> list[str]:
    stored = _read_metadata(table.schema).get("index_columns", [])
    return [name for name in stored if isinstance(name, str) and name in table.column_names]


def _read_metadata(schema: pa.Schema) -> dict[str, Any]:
    """Return what pandas stored about a table; nothing if it is damaged."""
    try:
        stored = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))
    except ValueError:
        return {}
    return stored if isinstance(stored, dict) else {}


def _is_id_index(table: pa.Table, index: Sequence[str], others: Sequence[str]) -> bool:
    """Check whether an index contains ids, and not the former row numbers of shuffled or selected rows."""
    first = others[: len(index)]
    if are_id_names(first) or (len(index) == 2 and find_ends(others)):
        return False
    if len(index) == 1 and any(is_node_id(name) or is_entity_id(name) for name in others):
        return is_entity(index[0]) and _has_name(index[0])
    leaves_no_values = len(others) < 2 and len(index) == 1
    types = [table.schema.field(name).type for name in (*index, *first)]
    numbers_alone = any(map(pa.types.is_floating, types[len(index) :]))
    return all(map(_has_name, index)) or not pa.types.is_integer(types[0]) or leaves_no_values or numbers_alone


def _has_name(name: str) -> bool:
    return not name.startswith("__index_level_")
