"""Text that is read in blocks of rows."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from graphprox.io.sharding.table_stream import RereadError, TableStream, cut_rows, skip_rows
from graphprox.io.tables.column_choice import Columns
from graphprox.io.tables.layout import INTEGER, detect_layout
from graphprox.io.tables.table import Choose, Table, check_ids_present, to_integers
from graphprox.io.tables.text import ConversionError, UnevenError, stream_text

_INTEGER = re.compile(INTEGER)
_ALL_INTEGERS = rf"^\s*({INTEGER})\s*$"
_NUMBERS, _STRINGS, _TRIMMED = "integers", "strings", "integers as text"


class TextStream(TableStream):
    """A text file.

    Ids are parsed as integers if those of the first rows are, and the file is read again, as strings, if one is found
    that is none. Strings that turn out to be integers after all, such as those beside numbers that begin with zeros,
    are converted in a third reading.

    Parameters
    ----------
    path : Path
    ids, choose, header, named
        As for `read_table`.
    """

    is_typed = False
    num_rows = None

    def __init__(self, path: Path, *, ids: int, choose: Choose, header: bool | None, named: Collection[str]) -> None:
        self.path, self._ids = path, ids
        self._layout = layout = detect_layout(path, ids=ids, header=header, named=named)
        self._positions = choose(Columns(path, layout.names, layout.num_columns, layout.rows)).positions
        self.names = None if layout.names is None else tuple(layout.names[i] for i in self._positions)
        cells = (row[i].strip() for row in layout.rows for i in self._positions[:ids] if i < len(row))
        self._kind = self._first_kind = _NUMBERS if all(map(_INTEGER.fullmatch, cells)) else _STRINGS

    @property
    def files(self) -> list[Path]:
        """The file."""
        return [self.path]

    @property
    def num_columns(self) -> int:
        """Number of the chosen columns."""
        return len(self._positions)

    @property
    def is_integer(self) -> bool:  # type: ignore[override]
        """Whether ids are integers, as far as is known."""
        return self._kind != _STRINGS

    @property
    def mode(self) -> str:
        """How ids are parsed, and whether lines are normalized."""
        return f"{self._kind}{', uneven' * self._layout.uneven_spaces}"

    def adapt(self, mode: str) -> None:
        """Parse ids, and normalize lines, in the way that an earlier process has found out."""
        self._kind, _, uneven = mode.partition(", ")
        self._layout = replace(self._layout, uneven_spaces=bool(uneven))

    def take_ids_as_text(self) -> bool:
        """Parse ids as strings; return whether they were parsed as integers."""
        were_numbers = self._kind == _NUMBERS
        self._kind = _STRINGS if were_numbers else self._kind
        return were_numbers

    def reset_ids(self) -> None:
        """Parse ids as those of the first rows."""
        self._kind = self._first_kind

    def blocks(self, num_rows: int, *, values: pa.DataType | None, skip: int = 0) -> Iterator[Table]:
        """Iterate over blocks of rows."""
        try:
            yield from self._blocks(num_rows, values or pa.string(), skip)
        except UnevenError:
            self._layout = replace(self._layout, uneven_spaces=True)
            raise RereadError from None
        except ConversionError:
            if self._kind != _NUMBERS or values not in (None, pa.string()):
                raise  # it may be a value that is none of the type that was asked for
            self._kind = _STRINGS
            raise RereadError from None

    def _blocks(self, num_rows: int, values: pa.DataType, skip: int) -> Iterator[Table]:
        id_type = pa.int64() if self._kind == _NUMBERS else pa.string()
        types = [id_type] * self._ids + [values] * (len(self._positions) - self._ids)
        are_integers, start = self._kind == _STRINGS and self._ids > 0, skip
        for table in cut_rows(skip_rows(stream_text(self.path, self._layout, types, self._positions), skip), num_rows):
            columns = [column.combine_chunks() for column in table.columns]
            ids: Sequence[pa.Array] = columns[: self._ids]
            are_integers = are_integers and all(map(_are_integers, ids))
            if self._kind == _TRIMMED:
                ids = to_integers(self.path, ids)
            found = Table(
                self.path, (*ids, *columns[self._ids :]), self.names, self._layout, self._positions, first_row=start
            )
            check_ids_present(found, self._ids)
            yield found
            start += table.num_rows
        if are_integers and start > skip == 0:
            self._kind = _TRIMMED
            raise RereadError


def _are_integers(column: pa.Array) -> bool:
    return bool(pc.all(pc.match_substring_regex(column, _ALL_INTEGERS)).as_py())
