"""Parser of text tables, by pyarrow."""

from __future__ import annotations

import io
import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.csv
from numpy.typing import NDArray

from graphprox.errors import ReadError
from graphprox.io.limits import MAX_LINE, get_limit
from graphprox.io.storage.files import reason
from graphprox.io.tables.encodings import not_text, open_text
from graphprox.io.tables.layout import Layout, is_blank_or_comment, is_loose

_BLOCK_BYTES = 1 << 20  # pyarrow parses a block per thread; larger ones need more memory and are not faster
_MAX_BLOCK_BYTES = (1 << 31) - 1  # of pyarrow
_MANY_COLUMNS = 8  # from which threads are worth their memory


class ConversionError(Exception):
    """A cell does not have the expected type of its column."""


class UnevenError(Exception):
    """A file has comments or uneven spaces between its rows, which its first rows do not show."""


def parse_text(
    path: Path, layout: Layout, types: Sequence[pa.DataType | None], positions: Sequence[int] | None = None
) -> tuple[pa.Array, ...]:
    """Parse columns of a text file.

    Parameters
    ----------
    path : Path
        File to read.
    layout : Layout
        Its layout.
    types : sequence of pyarrow.DataType or None
        Type of each column; detected by pyarrow if None.
    positions : sequence of int, default=None
        Columns to return; all of them if None.

    Returns
    -------
    tuple of pyarrow.Array

    Raises
    ------
    ConversionError
        If a cell does not have the type of its column. Integers with leading zeros are not int64.
    EncodingError
        If the file is not text in the encoding of its layout.
    ReadError
        If the file is not a table.
    """
    parser = _Parser(path, layout, types, range(layout.num_columns) if positions is None else positions)
    try:
        table = parser.parse_table()
    except pa.ArrowInvalid as error:
        parser.check_row_lengths()
        raise _convert(path, error, layout.encoding) from None
    if parser.file.padded:
        raise ConversionError
    chunked = table.columns[::-1]
    del table
    # Free the chunks of each column before combining the next, to limit the peak memory.
    columns = [chunked.pop().combine_chunks() for _ in range(len(chunked))]
    pa.default_memory_pool().release_unused()  # pyarrow would keep several times the file size
    if any(pa.types.is_binary(column.type) for column in columns):  # of which pyarrow detects the type
        raise not_text(path, layout.encoding)
    if parser.file.quotes % 2:
        _check_quotes_closed(path, columns)
    return tuple(columns)


def stream_text(
    path: Path, layout: Layout, types: Sequence[pa.DataType | None], positions: Sequence[int] | None = None
) -> Iterator[pa.Table]:
    """Parse columns of a text file, a block of rows at a time.

    Parameters
    ----------
    path, layout, types, positions
        As for `parse_text`; columns without a type get that of their first block.

    Yields
    ------
    pyarrow.Table
        Columns are named by their positions.

    Raises
    ------
    UnevenError
        If cells are separated by varying whitespace, or rows by comments: what was returned is to be forgotten, and the
        file to be read again with ``layout.uneven_spaces``.
    ConversionError
        If a cell does not have the type of its column, which may be found out at the end.
    ReadError
        If the file is not a table.
    """
    parser = _Parser(path, layout, types, range(layout.num_columns) if positions is None else positions)
    block = None
    try:
        for batch in parser.stream():
            block = pa.Table.from_batches([batch])
            yield block
    except pa.ArrowInvalid as error:
        if parser.needs_normalizing():
            raise UnevenError from None
        parser.check_row_lengths()
        raise _convert(path, error, layout.encoding) from None
    if parser.needs_normalizing():
        raise UnevenError
    if parser.file.padded:
        raise ConversionError
    if parser.file.quotes % 2 and block is not None:
        _check_quotes_closed(path, [column.combine_chunks() for column in block.columns])


def _convert(path: Path, error: pa.ArrowInvalid, encoding: str) -> Exception:
    """Return the error of graphprox for one of pyarrow."""
    if "invalid UTF8" in str(error):
        return not_text(path, encoding)
    if "conversion error" in str(error):
        return ConversionError()
    return ReadError(f"{path} cannot be read as a table: {reason(error)}")


class _Parser:
    """State of parsing one file."""

    def __init__(
        self, path: Path, layout: Layout, types: Sequence[pa.DataType | None], positions: Sequence[int]
    ) -> None:
        self.path, self.layout, self.loose = path, layout, is_loose(path)
        self.names = [str(i) for i in range(layout.num_columns)]
        self.taken = [self.names[i] for i in positions]
        self.types = {name: kind for name, kind in zip(self.taken, types, strict=True) if kind is not None}
        self.normalize = layout.uneven_spaces
        self.block_bytes = _BLOCK_BYTES * (1 + layout.num_columns // 1000)
        self.file = _InspectedFile(io.BytesIO(), skip=0)
        self.ragged: list[Any] = []

    def parse_table(self) -> pa.Table:
        """Parse the table, again in large blocks if a line is longer than one."""
        try:
            return self._parse_table()
        except pa.ArrowInvalid as error:
            if "straddl" not in str(error):
                raise
        # A block contains no longer line than the limit then, so that one is rejected where the file is read.
        self.block_bytes = max(self.block_bytes, min(get_limit(MAX_LINE), _MAX_BLOCK_BYTES))
        self.ragged.clear()
        return self._parse_table()

    def _parse_table(self) -> pa.Table:
        """Parse the table, again with normalized lines if it contains comments or uneven spaces."""
        try:
            table = self.parse(use_threads=self.layout.num_columns >= _MANY_COLUMNS)
        except pa.ArrowInvalid:
            if not self.needs_normalizing():
                raise
        else:
            if not self.needs_normalizing():
                return table
        self.normalize = True
        self.ragged.clear()
        return self.parse(use_threads=self.layout.num_columns >= _MANY_COLUMNS)

    def needs_normalizing(self) -> bool:
        """Return whether the file has comments or uneven spaces that were taken for cells."""
        spaces = self.file.spaces and self.layout.delimiter == " "
        return self.loose and not self.normalize and (spaces or self.file.comments)

    def parse(self, *, use_threads: bool) -> pa.Table:
        """Parse all rows."""
        with open_text(self.path, encoding=self.layout.encoding) as file:
            return pa.csv.read_csv(self._inspect(file), **self._options(use_threads=use_threads))

    def stream(self) -> Iterator[pa.RecordBatch]:
        """Parse a block of rows at a time."""
        with open_text(self.path, encoding=self.layout.encoding) as file:
            yield from pa.csv.open_csv(self._inspect(file), **self._options(use_threads=False))

    def _inspect(self, file: IO[bytes]) -> _InspectedFile:
        spaced = self.layout.delimiter == " "
        source = cast("IO[bytes]", _NormalizedFile(file, spaced=spaced)) if self.normalize else file
        kinds = set(self.types.values())
        self.file = _InspectedFile(
            source,
            skip=self.layout.lines_before_data,
            integers=pa.int64() in kinds,
            floats=pa.float32() in kinds,
            loose=self.loose,
        )
        return self.file

    def _options(self, *, use_threads: bool) -> dict[str, Any]:
        layout = self.layout
        return {
            "read_options": pa.csv.ReadOptions(
                use_threads=use_threads,
                block_size=self.block_bytes,
                skip_rows=layout.lines_before_data,
                column_names=self.names,
            ),
            "parse_options": pa.csv.ParseOptions(
                delimiter=layout.delimiter,
                newlines_in_values=layout.quoted,
                invalid_row_handler=self._handle_invalid_row,
            ),
            # Only an empty cell is missing: NA may be an id.
            "convert_options": pa.csv.ConvertOptions(
                column_types=self.types,
                null_values=[""],
                include_columns=self.taken,
                decimal_point=layout.decimal,
            ),
        }

    def _handle_invalid_row(self, row: Any) -> str:
        if is_blank_or_comment(row.text, loose=self.loose):
            return "skip"
        self.ragged.append(row)
        return "error"

    def check_row_lengths(self) -> None:
        """Raise an error that names the first row with a wrong number of cells, if there is one."""
        if self.ragged:
            # Only a single-threaded parser reports row numbers, so parse again.
            self.ragged.clear()
            with suppress(pa.ArrowInvalid):
                self.parse(use_threads=False)
        for row in self.ragged[:1]:
            number = line_number(self.path, self.layout, row.number - self.layout.lines_before_data, self._is_row)
            raise ReadError(
                f"every row of {self.path} must have {row.expected_columns} cells, as the first has; "
                f"line {number} has {row.actual_columns}: {row.text[:60]!r}"
            )

    def _is_row(self, line: str) -> bool:
        """Check whether pyarrow parses the line as a row; it skips empty ones."""
        return not is_blank_or_comment(line, loose=True) if self.normalize else bool(line)


def line_number(path: Path, layout: Layout, nth: int, is_row: Callable[[str], bool]) -> int:
    """Find the line number of a row.

    Parameters
    ----------
    path : Path
        The file.
    layout : Layout
        Its layout.
    nth : int
        Row of the data, from 1.
    is_row : callable
        Whether a line is a row.

    Returns
    -------
    int
        Line number, from 1.
    """
    with open_text(path, encoding=layout.encoding) as file:
        lines = enumerate((line.decode(errors="replace").rstrip("\r\n") for line in file), start=1)
        rows = (number for number, line in lines if number > layout.lines_before_data and is_row(line))
        return next(itertools.islice(rows, nth - 1, None), layout.lines_before_data + nth)


def _normalize_lines(data: bytes, *, spaced: bool) -> bytes:
    """Empty comment lines, and reduce whitespace between cells to one space if requested."""
    lines = (b"" if line.lstrip()[:1] in (b"#", b"%") else line for line in data.splitlines())
    return b"\n".join(b" ".join(line.split()) if spaced else line for line in lines)


def _check_quotes_closed(path: Path, columns: Sequence[pa.Array]) -> None:
    """Detect an unclosed quote, which turns all following rows into one cell."""
    for column in columns:
        if pa.types.is_string(column.type) and len(column):
            first, newline, _ = (column[-1].as_py() or "").partition("\n")
            if newline:
                raise ReadError(f"every quote must be closed; {path} has an open one before {first[:60]!r}")


class _NormalizedFile:
    """File wrapper whose lines are normalized, a block of complete lines at a time."""

    def __init__(self, file: IO[bytes], *, spaced: bool) -> None:
        self._file, self._spaced = file, spaced
        self._rest = self._ready = b""  # the beginning of a line that goes on; what was not yet asked for

    def read(self, size: int = -1) -> bytes:
        while size < 0 or len(self._ready) < size:
            block = self._file.read(_BLOCK_BYTES)
            end = b"\n" if b"\n" in block else b"\r"
            begins, newline, ends = (self._rest + block).rpartition(end) if block else (self._rest, b"", b"")
            self._ready += _normalize_lines(begins, spaced=self._spaced) + newline
            self._rest = ends
            if not block:
                break
        size = len(self._ready) if size < 0 else size
        block, self._ready = self._ready[:size], self._ready[size:]
        return block


class _InspectedFile:
    """File wrapper that records what pyarrow would misread or not report."""

    def __init__(
        self, file: IO[bytes], *, skip: int, integers: bool = False, floats: bool = False, loose: bool = False
    ) -> None:
        self.closed = False
        self.padded = self.comments = self.spaces = False
        self.quotes = 0
        self._file, self._skip, self._integers, self._floats, self._loose = file, skip, integers, floats, loose
        self._end = b"\n"

    def read(self, size: int = -1) -> bytes:
        block = self._file.read(size)
        if block:
            seen = self._end + block
            if self._skip:
                seen, self._skip = b"\n" + seen.split(b"\n", self._skip + 1)[-1], 0
            self._inspect(np.frombuffer(seen, np.uint8))
            self._end = block[-2:]
        return block

    def _inspect(self, seen: NDArray[np.uint8]) -> None:
        """Inspect a block; its first bytes are the end of the previous one."""
        self.quotes += int(np.count_nonzero(seen[len(self._end) :] == ord('"')))
        if (self._integers or self._floats) and not self.padded:
            self.padded = _has_padded_number(seen, signed=self._integers)
        if self._loose:
            before, after = seen[:-1], seen[1:]
            line_begins, is_space = before == ord("\n"), after == ord(" ")
            self.comments |= bool((line_begins & ((after == ord("#")) | (after == ord("%")))).any())
            line_ends = (after == ord("\n")) | (after == ord("\r"))
            self.spaces |= bool(((line_begins & is_space) | ((before == ord(" ")) & (is_space | line_ends))).any())

    def close(self) -> None:
        self.closed = True


def _has_padded_number(seen: NDArray[np.uint8], *, signed: bool) -> bool:
    """Check whether a cell begins with a zero followed by a digit, as 007 does and 0.7 does not."""
    before, zero, after = seen[:-2], seen[1:-1], seen[2:]
    # The first digit of a cell follows whitespace, a quote, a sign or a delimiter.
    begins = ((before < ord("0")) & (before != ord("."))) | (before == ord(";")) | (before == ord("|"))
    if not signed:  # as an exponent may be
        begins &= (before != ord("-")) & (before != ord("+"))
    return bool(((zero == ord("0")) & (after - ord("0") < 10) & begins).any())
