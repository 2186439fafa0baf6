"""A table of ids and values, from text or Parquet, as pyarrow columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from graphprox.errors import ReadError
from graphprox.io.files import ending, readable
from graphprox.io.layout import NUMBER, WHOLE_NUMBER, Layout, is_blank_or_comment, is_loose, layout_of
from graphprox.io.parquet import read_parquet
from graphprox.io.text import ConversionError, line_number, parse_text

TEXT_ENDINGS = (".csv", ".tsv", ".txt", ".edgelist", ".edges", ".edge")
PARQUET_ENDINGS = (".parquet", ".pq")


@dataclass(frozen=True)
class Table:
    """Columns by position; ``names`` is the header, or None where the file has none."""

    path: Path
    columns: tuple[pa.Array, ...]
    names: tuple[str, ...] | None
    layout: Layout | None = None  # of a text file

    def row(self, i: int) -> str:
        """Where row ``i`` of the data stands, for an error message; in text, blank lines and comments count too."""
        number = i + 1
        if self.layout is not None:
            loose = is_loose(self.path)
            number = line_number(self.path, self.layout, i + 1, lambda line: not is_blank_or_comment(line, loose=loose))
        return f"row {number} of {self.path}"


def read_table(path: Path, *, ids: int, values: pa.DataType | None, header: bool | None = None) -> Table:
    """Read a table whose first ``ids`` columns are ids and whose others are of the type ``values``, or of any.

    Ids become int64 if all of them are whole numbers, strings otherwise.
    """
    path = readable(path)
    if ending(path) in PARQUET_ENDINGS:
        table = Table(path, *read_parquet(path, ids=ids, values=values))
    else:
        table = _read_text(path, ids=ids, values=values, header=header)
    _refuse_missing_ids(table, ids)
    return table


def _read_text(path: Path, *, ids: int, values: pa.DataType | None, header: bool | None) -> Table:
    layout = layout_of(path, ids=ids, header=header)
    width = layout.width - ids
    try:
        id_type = pa.int64() if layout.whole_number_ids else pa.string()
        columns = parse_text(path, layout, [id_type] * ids + [values] * width)
        return Table(path, columns, layout.names, layout)
    except ConversionError:
        pass
    # Some id further down is no whole number below 2^63, or some value is no number: look at each cell.
    cells = parse_text(path, layout, [pa.string()] * ids + [values and pa.string()] * width)
    table = Table(path, cells, layout.names, layout)
    columns = (*_numbers_or_strings(path, cells[:ids]), *(_numbers(table, i, values) for i in range(ids, layout.width)))
    return Table(path, columns, layout.names, layout)


def _numbers_or_strings(path: Path, columns: Sequence[pa.Array]) -> Sequence[pa.Array]:
    """Ids as int64 if all of them are whole numbers, which must fit; else as the strings that they are."""
    if not all(pc.all(pc.match_substring_regex(column, rf"^\s*({WHOLE_NUMBER})\s*$")).as_py() for column in columns):
        return columns
    trimmed = [pc.utf8_trim_whitespace(column) for column in columns]
    try:
        return [column.cast(pa.int64()) for column in trimmed]
    except pa.ArrowInvalid:
        longest = max((cell for column in trimmed for cell in column.to_pylist()), key=len)
        raise ReadError(
            f"ids that are whole numbers must lie below 2^63; {path} has {longest}: put a letter before each id"
        ) from None


def _numbers(table: Table, position: int, wanted: pa.DataType | None) -> pa.Array:
    column = table.columns[position]
    if wanted is None:
        return column
    given = pc.if_else(pc.equal(column, ""), None, column)
    refuse_words(table, position, given, "features")
    return pc.utf8_trim_whitespace(given).cast(wanted)


def refuse_words(table: Table, position: int, cells: pa.Array, what: str) -> None:
    """Say where the first cell stands that is no number."""
    at = pc.index(pc.match_substring_regex(cells, rf"^\s*({NUMBER})\s*$"), False).as_py()
    if at >= 0:
        raise ReadError(f"{what} must be numbers; column {position + 1} in {table.row(at)} holds {cells[at].as_py()!r}")


def _refuse_missing_ids(table: Table, ids: int) -> None:
    for column in table.columns[:ids]:
        missing = pc.is_null(column)
        if pa.types.is_string(column.type):
            missing = pc.or_kleene(missing, pc.equal(column, ""))
        at = pc.index(missing, True).as_py()
        if at >= 0:
            raise ReadError(f"every row must begin with {'ids' if ids > 1 else 'an id'}; {table.row(at)} lacks one")
