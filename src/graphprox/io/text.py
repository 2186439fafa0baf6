"""The cells of a text file as pyarrow columns."""

from __future__ import annotations

import io
import itertools
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
from numpy.typing import NDArray

from graphprox.errors import ReadError
from graphprox.io.files import reason
from graphprox.io.layout import Layout, is_blank_or_comment, is_loose, opened_text

_BLOCK_BYTES = 1 << 20  # pyarrow parses a block per thread; larger ones cost memory and gain nothing
_MANY_COLUMNS = 8  # from here on threads save more time than they cost memory


class ConversionError(Exception):
    """A cell is not of the type that was expected of its column."""


def parse_text(path: Path, layout: Layout, types: Sequence[pa.DataType | None]) -> tuple[pa.Array, ...]:
    """The columns, each of the type that is asked for, or of the one that pyarrow finds.

    Zeros before a whole number are no part of an int64: where any are seen, they raise a `ConversionError`.
    """
    parser = _Parser(path, layout, types)
    try:
        table = parser.table()
    except pa.ArrowInvalid as error:
        parser.refuse_ragged()
        if "conversion error" in str(error) and "invalid UTF8" not in str(error):
            raise ConversionError from None
        raise ReadError(f"{path} cannot be read as a table: {reason(error)}") from None
    if parser.watch.padded:
        raise ConversionError
    pieces = table.columns[::-1]
    del table
    # The pieces of a column are let go before the next one's are joined.
    columns = [pieces.pop().combine_chunks() for _ in range(len(pieces))]
    pa.default_memory_pool().release_unused()  # pyarrow would keep what parsing took: several times the file
    if parser.watch.quotes % 2:
        _refuse_open_quote(path, columns)
    return tuple(columns)


class _Parser:
    """One file, and what was met on the way through it."""

    def __init__(self, path: Path, layout: Layout, types: Sequence[pa.DataType | None]) -> None:
        self.path, self.layout, self.loose = path, layout, is_loose(path)
        self.names = [str(i) for i in range(layout.width)]
        self.types = {name: kind for name, kind in zip(self.names, types, strict=True) if kind is not None}
        self.tidy = layout.uneven_spaces
        self.watch = _Watch(io.BytesIO(), skip=0)
        self.ragged: list[Any] = []

    def table(self) -> pa.Table:
        """The parsed table; a file that turns out to be untidy is tidied first."""
        try:
            table = self.parse(use_threads=self.layout.width >= _MANY_COLUMNS)
        except pa.ArrowInvalid:
            if not self._untidy():
                raise
        else:
            if not self._untidy():
                return table
        self.tidy = True
        self.ragged.clear()
        return self.parse(use_threads=self.layout.width >= _MANY_COLUMNS)

    def _untidy(self) -> bool:
        spaces = self.watch.spaces and self.layout.delimiter == " "
        return self.loose and not self.tidy and (spaces or self.watch.comments)

    def parse(self, *, use_threads: bool) -> pa.Table:
        layout = self.layout
        with opened_text(self.path) as file:
            source = io.BytesIO(_tidied(file.read(), spaced=layout.delimiter == " ")) if self.tidy else file
            integers = pa.int64() in self.types.values()
            self.watch = _Watch(source, skip=layout.lines_before_data, integers=integers, loose=self.loose)
            return pa.csv.read_csv(
                self.watch,
                pa.csv.ReadOptions(
                    use_threads=use_threads,
                    block_size=_BLOCK_BYTES * (1 + layout.width // 1000),
                    skip_rows=layout.lines_before_data,
                    column_names=self.names,
                ),
                pa.csv.ParseOptions(
                    delimiter=layout.delimiter,
                    newlines_in_values=layout.quoted,
                    invalid_row_handler=self._pass_over,
                ),
                # Only an empty cell is empty: NA may be an id, and is no number.
                pa.csv.ConvertOptions(column_types=self.types, null_values=[""]),
            )

    def _pass_over(self, row: Any) -> str:
        if is_blank_or_comment(row.text, loose=self.loose):
            return "skip"
        self.ragged.append(row)
        return "error"

    def refuse_ragged(self) -> None:
        """Say where the first row stands that has more or fewer cells than it must, if one was met."""
        if self.ragged:
            # Only a parser with one thread knows the number of the row, so it runs again.
            self.ragged.clear()
            with suppress(pa.ArrowInvalid):
                self.parse(use_threads=False)
        for row in self.ragged[:1]:
            number = line_number(self.path, self.layout, row.number - self.layout.lines_before_data, self._is_row)
            raise ReadError(
                f"every row of {self.path} must have {row.expected_columns} cells, as the first has; "
                f"row {number} has {row.actual_columns}: {row.text[:60]!r}"
            )

    def _is_row(self, line: str) -> bool:
        """Whether pyarrow counts the line: it passes over an empty one."""
        return not is_blank_or_comment(line, loose=True) if self.tidy else bool(line)


def line_number(path: Path, layout: Layout, nth: int, is_row: Callable[[str], bool]) -> int:
    """The number in the file, from 1, of the ``nth`` line of data that is a row."""
    with opened_text(path) as file:
        lines = enumerate((line.decode(errors="replace").rstrip("\r\n") for line in file), start=1)
        rows = (number for number, line in lines if number > layout.lines_before_data and is_row(line))
        return next(itertools.islice(rows, nth - 1, None), layout.lines_before_data + nth)


def _tidied(data: bytes, *, spaced: bool) -> bytes:
    """The lines, as many as before, without comments; with one space between cells and none around if so asked."""
    lines = (b"" if line.lstrip()[:1] in (b"#", b"%") else line for line in data.splitlines())
    return b"\n".join(b" ".join(line.split()) if spaced else line for line in lines)


def _refuse_open_quote(path: Path, columns: Sequence[pa.Array]) -> None:
    """A quote that is never closed makes one cell of all the rows behind it."""
    for column in columns:
        if pa.types.is_string(column.type) and len(column):
            first, newline, _ = (column[-1].as_py() or "").partition("\n")
            if newline:
                raise ReadError(f"every quote must be closed; {path} has an open one before {first[:60]!r}")


class _Watch:
    """Passes a file's bytes on to pyarrow, and notes what it would misread, or does not tell."""

    def __init__(self, file: IO[bytes], *, skip: int, integers: bool = False, loose: bool = False) -> None:
        self.closed = False
        self.padded = self.comments = self.spaces = False
        self.quotes = 0
        self._file, self._skip, self._integers, self._loose = file, skip, integers, loose
        self._end = b"\n"

    def read(self, size: int = -1) -> bytes:
        block = self._file.read(size)
        if block:
            seen = self._end + block
            if self._skip:
                seen, self._skip = b"\n" + seen.split(b"\n", self._skip + 1)[-1], 0
            self._note(np.frombuffer(seen, np.uint8))
            self._end = block[-2:]
        return block

    def _note(self, seen: NDArray[np.uint8]) -> None:
        """Look at bytes, of which the first two may have been seen before; one pass of NumPy each, for speed."""
        self.quotes += int(np.count_nonzero(seen[len(self._end) :] == ord('"')))
        if self._integers and not self.padded:
            self.padded = _has_padded_number(seen)
        if self._loose:
            before, after = seen[:-1], seen[1:]
            line_begins, is_space = before == ord("\n"), after == ord(" ")
            self.comments |= bool((line_begins & ((after == ord("#")) | (after == ord("%")))).any())
            line_ends = (after == ord("\n")) | (after == ord("\r"))
            self.spaces |= bool(((line_begins & is_space) | ((before == ord(" ")) & (is_space | line_ends))).any())

    def close(self) -> None:
        self.closed = True


def _has_padded_number(seen: NDArray[np.uint8]) -> bool:
    """Whether a cell begins with a zero that another digit follows, as 007 does and 0.7 does not."""
    before, zero, after = seen[:-2], seen[1:-1], seen[2:]
    # Before the first digit of a cell stands white space, a quote, a sign or a delimiter.
    begins = ((before < ord("0")) & (before != ord("."))) | (before == ord(";"))
    return bool(((zero == ord("0")) & (after - ord("0") < 10) & begins).any())
