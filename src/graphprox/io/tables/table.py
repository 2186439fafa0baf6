"""Reader of tables of ids and values from text or Parquet."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from graphprox._utils.column_names import is_unnamed
from graphprox.errors import AssumedInputWarning, IgnoredInputWarning, ReadError
from graphprox.io.storage.files import check_readable, ending
from graphprox.io.tables.column_choice import ChosenColumns, Columns, TableColumn
from graphprox.io.tables.decimals import POINT, to_points
from graphprox.io.tables.encodings import UTF8, EncodingError, assume_encoding
from graphprox.io.tables.layout import INTEGER, Layout, detect_layout, is_blank_or_comment, is_loose
from graphprox.io.tables.parquet import cast_columns, decode, move_index, read_parquet
from graphprox.io.tables.text import ConversionError, line_number, parse_text
from graphprox.preprocessing.columns import NUMBER as NUMBER_KIND
from graphprox.preprocessing.table_cells import NUMBER, CellError, has_padded_numbers

TEXT_ENDINGS = (
    ".csv", ".tsv", ".txt", ".edgelist", ".edges", ".edge", ".cites", ".content", ".dat", ".data", ".feat", ".feature",
    ".features", ".label", ".labels",
)  # fmt: skip
PARQUET_ENDINGS = (".parquet", ".pq")
Choose = Callable[[Columns], ChosenColumns]

_INTEGER = re.compile(INTEGER)
SAMPLED_ROWS = 1000  # by which columns are chosen


class MissingIdError(ReadError):
    """A row of a table lacks an id.

    Parameters
    ----------
    row : str
        Description of the row.
    ids : int
        Number of columns of ids.
    remedy : str, optional
        What to do; by default for a table of a graph.
    """

    def __init__(self, row: str, ids: int, remedy: str = "") -> None:
        edges = "write it, remove the row, or, if the table is one of nodes, give it as features"
        remedy = remedy or ("write it, or remove the row" if ids == 1 else edges)
        super().__init__(f"every row must begin with {'ids' if ids > 1 else 'an id'}; {row} lacks one: {remedy}")
        self.row = row


@dataclass(frozen=True)
class Table:
    """A table of columns.

    Attributes
    ----------
    path : Path or str
        The file, or a description of a DataFrame.
    columns : tuple of pyarrow.Array
        Columns, ids first.
    names : tuple of str or None
        Column names, if the file has a header.
    layout : Layout or None
        Layout of a text file.
    positions : tuple of int or None
        Positions of the columns in the file; None if they are all columns in order.
    chosen : ChosenColumns or None
        What all columns of the file were taken for, if they were chosen.
    first_row : int
        Row of the file, from 0, that is the first of the columns.
    """

    path: Path | str
    columns: tuple[pa.Array, ...]
    names: tuple[str, ...] | None
    layout: Layout | None = None
    positions: tuple[int, ...] | None = None
    chosen: ChosenColumns | None = None
    first_row: int = 0

    @property
    def taken(self) -> tuple[TableColumn, ...]:
        """What all columns of the file were taken for; nothing if they were not chosen."""
        return () if self.chosen is None else self.chosen.columns

    def row(self, i: int) -> str:
        """Describe the position of a row for an error message.

        Parameters
        ----------
        i : int
            Row of the columns, from 0.

        Returns
        -------
        str
            The line of a text file, of which the header, blank lines and comments are counted; the index of a row
            of other tables, from 0.
        """
        return f"{self.row_number(i)} of {self.path}"

    def row_number(self, i: int) -> str:
        """Describe the position of a row without the name of the table.

        Parameters
        ----------
        i : int
            Row of the columns, from 0.

        Returns
        -------
        str
            As of `row`.
        """
        if self.layout is None:
            return f"row {self.first_row + i} (from 0)"
        path = Path(self.path)
        loose = is_loose(path)
        number = line_number(
            path, self.layout, self.first_row + i + 1, lambda line: not is_blank_or_comment(line, loose=loose)
        )
        return f"line {number}"

    def column(self, i: int) -> str:
        """Describe a column for an error message.

        Parameters
        ----------
        i : int
            Position in ``columns``.

        Returns
        -------
        str
            Its name, or its number in the file, from 1, if it has none.
        """
        if self.names is not None and self.names[i]:
            return f"column {self.names[i]!r}"
        return f"column {(i if self.positions is None else self.positions[i]) + 1}"

    def locate(self, error: CellError, i: int) -> ReadError:
        """Return the error about a cell with its place in the file.

        Parameters
        ----------
        error : CellError
        i : int
            Position of its column in ``columns``.

        Returns
        -------
        ReadError
        """
        place = f"{self.column(i)} in {self.row(error.row)}"
        return ReadError(f"{error.rule}; {place} contains {error.cell!r}: {error.remedy}")


def read_table(
    path: Path,
    *,
    ids: int,
    values: pa.DataType | None,
    header: bool | None = None,
    names: Sequence[str] | None = None,
    choose: Choose | None = None,
    named: Collection[str] = (),
    features: bool = False,
    encoding: str | None = None,
) -> Table:
    """Read a table.

    Parameters
    ----------
    path : Path
        File to read.
    ids : int
        Number of id columns. They become int64 if all ids are integers, and str otherwise.
    values : pyarrow.DataType or None
        Type of the other columns; detected if None.
    header : bool, default=None
        Whether the first row of a text file is a header; detected if None.
    names : sequence of str, default=None
        Columns of a Parquet file to read, ids first; all of them if None.
    choose : callable, default=None
        Function that chooses the columns to read, ids first. By default these are all, in order.
    named : collection of str, default=()
        Columns that the user named. A first row that contains one of them is a header.
    features : bool, default=False
        Whether the other columns are features: in Parquet, lists and categories have a meaning then, and in text with
        decimal commas, cells are numbers even if they are read as strings.
    encoding : str, default=None
        Encoding of a text file; detected if None.

    Returns
    -------
    Table
    """
    path = check_readable(path)
    if ending(path) in PARQUET_ENDINGS:
        table = read_parquet(path, names=names)
        return table_from_arrow(
            path, table, ids=ids, values=values, choose=choose, index=names is None, features=features
        )
    detect = partial(detect_layout, path, ids=ids, header=header, named=named)
    layout = detect(encoding=encoding)
    try:
        table = _read_text(path, layout, ids, values, choose, features=features)
    except EncodingError:
        if encoding is not None or layout.encoding != UTF8:
            raise
        assumed = assume_encoding(path)
        with warnings.catch_warnings():  # what was assumed of the first lines has been stated
            warnings.simplefilter("ignore", AssumedInputWarning)
            warnings.simplefilter("ignore", IgnoredInputWarning)
            table = _read_text(path, detect(encoding=assumed), ids, values, choose, features=features)
    check_ids_present(table, ids)
    return table


def table_from_arrow(
    name: Path | str,
    table: pa.Table,
    *,
    ids: int,
    values: pa.DataType | None,
    choose: Choose | None = None,
    index: bool = True,
    features: bool = False,
) -> Table:
    """Take columns of a pyarrow table as those of a file.

    Parameters
    ----------
    name : Path or str
        The file, or a description of the table, for messages.
    table : pyarrow.Table
        The table.
    ids, values, choose, features
        As for `read_table`.
    index : bool, default=True
        Whether an index that pandas stored may contain the ids.

    Returns
    -------
    Table
    """
    had_index = any(map(is_unnamed, table.column_names))
    table = move_index(table, ids) if index else table
    if table.num_columns < ids:
        raise ReadError(f"{name} must have at least {ids} column{'s' * (ids > 1)} of ids; it has {table.num_columns}")
    names = tuple(table.column_names)
    chosen = None
    if choose is not None:
        head = [decode(name, column) for column in table.slice(0, SAMPLED_ROWS).columns]
        rows = [*zip(*map(to_cells, head), strict=True)]
        lost_index = had_index and not any(map(is_unnamed, names))
        chosen = choose(Columns(name, names, len(names), rows, has_index=lost_index))
    positions: Sequence[int] = range(len(names)) if chosen is None else chosen.positions
    columns, names = cast_columns(name, table.select(positions), ids=ids, values=values, features=features)
    kept = tuple(positions) if len(positions) == len(columns) else None
    found = Table(name, columns, names, positions=kept, chosen=chosen)
    check_ids_present(found, ids)
    return found


def to_cells(column: pa.Array) -> list[str]:
    """Return the values of a column as text, to see which columns are ids.

    Parameters
    ----------
    column : pyarrow.Array

    Returns
    -------
    list of str
    """
    try:
        return [str(value) for value in column.to_pylist()]
    except (OverflowError, ValueError, LookupError):  # a date after the year 9999, or of an unknown time zone
        return [str(column.type)] * len(column)


def _read_text(
    path: Path, layout: Layout, ids: int, values: pa.DataType | None, choose: Choose | None, *, features: bool
) -> Table:
    chosen = None if choose is None else choose(Columns(path, layout.names, layout.num_columns, layout.rows))
    positions: Sequence[int] = range(layout.num_columns) if chosen is None else chosen.positions
    names = None if layout.names is None else tuple(layout.names[i] for i in positions)
    cells = (row[i].strip() for row in layout.rows for i in positions[:ids] if i < len(row))
    id_type = pa.int64() if all(map(_INTEGER.fullmatch, cells)) else pa.string()
    num_values = len(positions) - ids
    try:
        columns = parse_text(path, layout, [id_type] * ids + [values] * num_values, positions)
    except ConversionError:
        pass
    else:
        table = Table(path, columns, names, layout, tuple(positions), chosen)
        if values is not None or layout.decimal == POINT:
            return _read_decimals(table, ids) if features else table
        # Of columns with decimal commas, pyarrow detects as numbers only those without points.
    # Some id is not an int64, or some value is not a number: parse as strings to find it.
    strings = parse_text(path, layout, [pa.string()] * len(positions), positions)
    table = Table(path, strings, names, layout, tuple(positions), chosen)
    if features or values is None or pa.types.is_floating(values):
        table = _read_decimals(table, ids)
    columns = (
        *_parse_ids(path, strings[:ids]),
        *(_parse_values(table, i, values) for i in range(ids, len(positions))),
    )
    return replace(table, columns=columns)


def _read_decimals(table: Table, ids: int) -> Table:
    """Replace the decimal commas of a file that has them, but not in columns that are given as another kind."""
    if table.layout is None or table.layout.decimal == POINT:
        return table
    given = {} if table.chosen is None else table.chosen.kinds
    columns = list(table.columns)
    for i in range(ids, len(columns)):
        name = table.column(i) if table.names is None else table.names[i]
        if not pa.types.is_string(columns[i].type) or given.get(name, NUMBER_KIND) != NUMBER_KIND:
            continue
        try:
            columns[i] = to_points(name, columns[i])
        except CellError as error:
            raise table.locate(error, i) from None
    return replace(table, columns=tuple(columns))


def _parse_ids(path: Path, columns: Sequence[pa.Array]) -> Sequence[pa.Array]:
    """Convert ids to int64 if all of them are integers."""
    if not all(pc.all(pc.match_substring_regex(column, rf"^\s*({INTEGER})\s*$")).as_py() for column in columns):
        return columns
    return to_integers(path, columns)


def to_integers(path: Path, columns: Sequence[pa.Array]) -> Sequence[pa.Array]:
    """Convert strings that are integers to int64.

    Parameters
    ----------
    path : Path
        File for the message.
    columns : sequence of pyarrow.Array of str

    Returns
    -------
    sequence of pyarrow.Array of int64

    Raises
    ------
    ReadError
        If one is too large.
    """
    trimmed = [pc.utf8_trim_whitespace(column) for column in columns]
    try:
        return [column.cast(pa.int64()) for column in trimmed]
    except pa.ArrowInvalid:
        longest = max((cell for column in trimmed for cell in column.to_pylist()), key=len)
        raise ReadError(f"integer ids must be less than 2^63; {path} has {longest}: add a letter to each id") from None


def _parse_values(table: Table, position: int, wanted: pa.DataType | None) -> pa.Array:
    column = table.columns[position]
    if wanted is None:
        return _parse_numbers(column)
    if pa.types.is_string(wanted):
        return column
    cells = pc.if_else(pc.equal(column, ""), None, column)
    check_numeric(table, position, cells, "features")
    if has_padded_numbers(pc.utf8_trim_whitespace(cells)):  # codes, as ids may be
        raise ReadError(
            f"features must be numbers; {table.column(position)} of {table.path} has zeros in front of some"
        )
    return pc.utf8_trim_whitespace(cells).cast(wanted)


def _parse_numbers(column: pa.Array) -> pa.Array:
    """Convert strings to the type that all of them have: integers, numbers, or else strings."""
    if pc.all(pc.match_substring_regex(column, rf"^\s*({NUMBER})\s*$")).as_py() is not True:
        return column
    trimmed = pc.utf8_trim_whitespace(column)
    try:
        return trimmed.cast(pa.int64())
    except pa.ArrowInvalid:
        return trimmed.cast(pa.float64())


def check_numeric(table: Table, position: int, cells: pa.Array, what: str, remedy: str = "") -> None:
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
    remedy : str, default=""
        End of the message.

    Raises
    ------
    ReadError
        If a cell is not a number.
    """
    at = pc.index(pc.match_substring_regex(cells, rf"^\s*({NUMBER})\s*$"), False).as_py()
    if at >= 0:
        where = f"{table.column(position)} in {table.row(at)}"
        raise ReadError(f"{what} must be numbers; {where} contains {cells[at].as_py()!r}{remedy}")


def check_ids_present(table: Table, ids: int) -> None:
    """Raise an error that names the first row without an id.

    Parameters
    ----------
    table : Table
        Table with its ids in the first columns.
    ids : int
        Number of these columns.

    Raises
    ------
    MissingIdError
        If an id is missing.
    """
    for column in table.columns[:ids]:
        missing = pc.is_null(column)
        if pa.types.is_string(column.type):
            missing = pc.or_kleene(missing, pc.equal(column, ""))
        at = pc.index(missing, True).as_py()
        if at >= 0:
            raise MissingIdError(table.row(at), ids)
