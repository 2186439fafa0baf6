"""Reader of tables of ids and values from text or Parquet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from graphprox.errors import ReadError
from graphprox.io.files import check_readable, ending
from graphprox.io.layout import INTEGER, NUMBER, Layout, detect_layout, is_blank_or_comment, is_loose
from graphprox.io.parquet import read_parquet
from graphprox.io.text import ConversionError, line_number, parse_text

TEXT_ENDINGS = (".csv", ".tsv", ".txt", ".edgelist", ".edges", ".edge")
PARQUET_ENDINGS = (".parquet", ".pq")


@dataclass(frozen=True)
class Table:
    """A table of columns.

    Attributes
    ----------
    path : Path
        The file.
    columns : tuple of pyarrow.Array
        Columns, ids first.
    names : tuple of str or None
        Column names, if the file has a header.
    layout : Layout or None
        Layout of a text file.
    """

    path: Path
    columns: tuple[pa.Array, ...]
    names: tuple[str, ...] | None
    layout: Layout | None = None

    def row(self, i: int) -> str:
        """Describe the position of a row for an error message.

        Parameters
        ----------
        i : int
            Row of the data, from 0.

        Returns
        -------
        str
            In a text file, blank lines and comments are counted.
        """
        number = i + 1
        if self.layout is not None:
            loose = is_loose(self.path)
            number = line_number(self.path, self.layout, i + 1, lambda line: not is_blank_or_comment(line, loose=loose))
        return f"row {number} of {self.path}"


def read_table(
    path: Path,
    *,
    ids: int,
    values: pa.DataType | None,
    header: bool | None = None,
    names: Sequence[str] | None = None,
) -> Table:
    """Read a table.

    Parameters
    ----------
    path : Path
        File to read.
    ids : int
        Number of id columns, which come first. They become int64 if all ids are integers, and str otherwise.
    values : pyarrow.DataType or None
        Type of the other columns; detected if None.
    header : bool, default=None
        Whether the first row of a text file is a header; detected if None.
    names : sequence of str, default=None
        Columns of a Parquet file to read, ids first; all of them if None.

    Returns
    -------
    Table
    """
    path = check_readable(path)
    if ending(path) in PARQUET_ENDINGS:
        table = Table(path, *read_parquet(path, ids=ids, values=values, names=names))
    else:
        table = _read_text(path, ids=ids, values=values, header=header)
    _check_ids_present(table, ids)
    return table


def _read_text(path: Path, *, ids: int, values: pa.DataType | None, header: bool | None) -> Table:
    layout = detect_layout(path, ids=ids, header=header)
    num_values = layout.num_columns - ids
    try:
        id_type = pa.int64() if layout.integer_ids else pa.string()
        columns = parse_text(path, layout, [id_type] * ids + [values] * num_values)
        return Table(path, columns, layout.names, layout)
    except ConversionError:
        pass
    # Some id is not an int64, or some value is not a number: parse as strings to find it.
    cells = parse_text(path, layout, [pa.string()] * ids + [values and pa.string()] * num_values)
    table = Table(path, cells, layout.names, layout)
    columns = (
        *_parse_ids(path, cells[:ids]),
        *(_parse_values(table, i, values) for i in range(ids, layout.num_columns)),
    )
    return Table(path, columns, layout.names, layout)


def _parse_ids(path: Path, columns: Sequence[pa.Array]) -> Sequence[pa.Array]:
    """Convert ids to int64 if all of them are integers."""
    if not all(pc.all(pc.match_substring_regex(column, rf"^\s*({INTEGER})\s*$")).as_py() for column in columns):
        return columns
    trimmed = [pc.utf8_trim_whitespace(column) for column in columns]
    try:
        return [column.cast(pa.int64()) for column in trimmed]
    except pa.ArrowInvalid:
        longest = max((cell for column in trimmed for cell in column.to_pylist()), key=len)
        raise ReadError(f"integer ids must be less than 2^63; {path} has {longest}: add a letter to each id") from None


def _parse_values(table: Table, position: int, wanted: pa.DataType | None) -> pa.Array:
    column = table.columns[position]
    if wanted is None or pa.types.is_string(wanted):
        return column
    cells = pc.if_else(pc.equal(column, ""), None, column)
    check_numeric(table, position, cells, "features")
    return pc.utf8_trim_whitespace(cells).cast(wanted)


def check_numeric(table: Table, position: int, cells: pa.Array, what: str) -> None:
    """Raise an error that names the first cell that is not a number.

    Parameters
    ----------
    table : Table
        Table for the message.
    position : int
        Position of the column.
    cells : pyarrow.Array of str
        Cells of the column.
    what : str
        What the cells contain, for the message.

    Raises
    ------
    ReadError
        If a cell is not a number.
    """
    at = pc.index(pc.match_substring_regex(cells, rf"^\s*({NUMBER})\s*$"), False).as_py()
    if at >= 0:
        raise ReadError(
            f"{what} must be numbers; column {position + 1} in {table.row(at)} contains {cells[at].as_py()!r}"
        )


def _check_ids_present(table: Table, ids: int) -> None:
    for column in table.columns[:ids]:
        missing = pc.is_null(column)
        if pa.types.is_string(column.type):
            missing = pc.or_kleene(missing, pc.equal(column, ""))
        at = pc.index(missing, True).as_py()
        if at >= 0:
            raise ReadError(f"every row must begin with {'ids' if ids > 1 else 'an id'}; {table.row(at)} lacks one")
