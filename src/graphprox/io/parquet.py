"""The columns of a Parquet file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

from graphprox.errors import ReadError
from graphprox.io.files import reason
from graphprox.io.layout import are_names_of_ids


def read_parquet(path: Path, *, ids: int, values: pa.DataType | None) -> tuple[tuple[pa.Array, ...], tuple[str, ...]]:
    """The columns, ids first, the others of the type ``values`` or of any, and the names of all."""
    try:
        read = pa.parquet.read_table(path)
        read = _ids_first(read, ids)
        columns = [_plain(column) for column in read.columns]
    except (pa.ArrowException, OSError, UnicodeError) as error:
        raise ReadError(f"{path} must be a sound Parquet file, as its name says: {reason(error)}") from None
    if len(columns) < ids:
        raise ReadError(f"{path} must have {ids} column{'s' * (ids > 1)} of ids at least; it has {len(columns)}")
    for i, name in enumerate(read.column_names):
        if i < ids:
            columns[i] = _ids(path, name, columns[i])
        elif values is not None:
            columns[i] = _cast(path, name, columns[i], values)
    if len({column.type for column in columns[:ids]}) > 1:
        columns[:ids] = [column.cast(pa.string()) for column in columns[:ids]]
    return tuple(columns), tuple(read.column_names)


def _plain(column: pa.ChunkedArray) -> pa.Array:
    """The column in one piece and without a dictionary; strings are checked, which Parquet does not do."""
    array = column.combine_chunks()
    if pa.types.is_dictionary(array.type):
        array = array.cast(array.type.value_type)
    array.validate(full=True)
    return array


def _ids(path: Path, name: str, column: pa.Array) -> pa.Array:
    if pa.types.is_uint64(column.type) and len(column) and (pc.max(column).as_py() or 0) >= 2**63:
        raise ReadError(f"ids that are whole numbers must lie below 2^63; {path} has {pc.max(column)}: use strings")
    if pa.types.is_floating(column.type):
        # pandas makes whole numbers floating where one of them is missing.
        try:
            return column.cast(pa.int64())
        except pa.ArrowInvalid:
            raise ReadError(
                f"ids must be whole numbers or strings; column {name!r} of {path} holds fractions"
            ) from None
    return _cast(path, name, column, pa.int64() if pa.types.is_integer(column.type) else pa.string())


def _cast(path: Path, name: str, column: pa.Array, wanted: pa.DataType) -> pa.Array:
    try:
        # A large whole number may be rounded, as it is in text.
        return column.cast(wanted, safe=not pa.types.is_floating(wanted))
    except pa.ArrowInvalid as error:
        raise ReadError(f"column {name!r} of {path} must hold {_plural(wanted)}: {reason(error)}") from None
    except pa.ArrowNotImplementedError:
        raise ReadError(f"column {name!r} of {path} must hold {_plural(wanted)}; it holds {column.type}") from None


def _plural(wanted: pa.DataType) -> str:
    return "strings" if pa.types.is_string(wanted) else "numbers"


# -- the index of a pandas table ------------------------------------------------------------------------------------


def _ids_first(read: pa.Table, ids: int) -> pa.Table:
    """The table with the index that pandas stored behind it brought to the front, or left out where it says nothing."""
    index = _stored_index(read)
    others = [name for name in read.column_names if name not in index]
    if not index or len(set(read.column_names)) < read.num_columns:
        return read
    if len(index) == ids and _index_is_ids(read, index, others):
        return read.select([*index, *others])
    return read.select([*others, *(name for name in index if _has_name(name))])


def _stored_index(read: pa.Table) -> list[str]:
    try:
        noted = json.loads((read.schema.metadata or {}).get(b"pandas", b"{}")).get("index_columns", [])
    except ValueError:
        return []
    return [name for name in noted if isinstance(name, str) and name in read.column_names]


def _index_is_ids(read: pa.Table, index: Sequence[str], others: Sequence[str]) -> bool:
    """Whether an index holds ids, and not just the numbers that rows had before they were shuffled or chosen."""
    in_front = others[: len(index)]
    if are_names_of_ids(in_front):
        return False
    leaves_no_values = len(others) < 2 and len(index) == 1
    types = [read.schema.field(name).type for name in (*index, *in_front)]
    numbers_alone = any(map(pa.types.is_floating, types[len(index) :]))
    return all(map(_has_name, index)) or not pa.types.is_integer(types[0]) or leaves_no_values or numbers_alone


def _has_name(name: str) -> bool:
    return not name.startswith("__index_level_")
