"""Detection of a text file's layout from its first lines.

pyarrow does the parsing. This module finds the options it needs: the delimiter, comment lines, whether there is a
header.
"""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from graphprox._utils.stacklevel import warn
from graphprox.errors import AssumedInputWarning, ReadError
from graphprox.io.limits import MAX_LINE, check_columns, get_limit
from graphprox.io.storage.files import ending, reason
from graphprox.io.tables.decimals import POINT, detect_decimal, is_local_number, to_point
from graphprox.io.tables.encodings import (
    UTF8,
    EncodingError,
    assume_encoding,
    detect_encoding,
    not_text,
    open_text,
)
from graphprox.io.tables.headers import detect_header

INTEGER = r"0|-?[1-9]\d*"  # 007 is a string

_PEEKED_BYTES = 1 << 16
_NUM_COMPARED = 100  # lines by which a delimiter is chosen
_MAX_LEADING_BYTES = 1 << 22  # of comments and blank lines before the first row
_QUOTED = re.compile(r'"[^"]*"')
_LINE_END = re.compile(r"\r\n|\r|\n")
_SEPARATOR = re.compile(r'(?i)"?sep=(.)"?\s*')  # the first line of some files of Excel
_SEPARATORS = ",;\t| "


@dataclass(frozen=True)
class Layout:
    """Layout of a text file.

    Attributes
    ----------
    delimiter : str
        Delimiter of the cells.
    names : tuple of str or None
        Header, if there is one.
    num_columns : int
        Number of columns.
    lines_before_data : int
        Number of lines before the first row of data.
    rows : sequence of sequences of str
        Cells of the first rows of data, with a decimal point in all numbers.
    uneven_spaces : bool
        Whether cells are separated by varying whitespace.
    quoted : bool
        Whether the first lines contain quotes.
    encoding : str
        Encoding of the file.
    decimal : str
        What numbers have before their fractions, a point or a comma.
    """

    delimiter: str
    names: tuple[str, ...] | None
    num_columns: int
    lines_before_data: int
    rows: Sequence[Sequence[str]]
    uneven_spaces: bool
    quoted: bool
    encoding: str = UTF8
    decimal: str = POINT


def is_loose(path: Path) -> bool:
    """Check whether the format allows comments and varying whitespace, as edge lists of networkx do.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    bool
        False for CSV and TSV.
    """
    return ending(path) not in (".csv", ".tsv")


def is_blank_or_comment(line: str, *, loose: bool) -> bool:
    """Check whether a line contains no data.

    Parameters
    ----------
    line : str
        The line.
    loose : bool
        Whether every line that begins with # or % is a comment. Otherwise the character must be followed by a space, as
        in ``# comment``, because a CSV cell may be a tag such as ``#tag``.

    Returns
    -------
    bool
    """
    line = line.strip()
    return not line or (line[0] in "#%" and (loose or line[1:2] in ("", " ", "\t", "#", "%")))


def detect_layout(
    path: Path, *, ids: int, header: bool | None, named: Collection[str] = (), encoding: str | None = None
) -> Layout:
    """Detect the layout of a text file.

    Parameters
    ----------
    path : Path
        File to read.
    ids : int
        Number of id columns.
    header : bool or None
        Whether there is a header; detected if None, with a warning if the file could also be read the other way.
    named : collection of str, default=()
        Columns that the user named. A first row that contains one of them is a header.
    encoding : str, default=None
        Encoding of the file; UTF-8 if None, UTF-16 if it has a byte order mark, or else Windows-1252, with a warning.

    Returns
    -------
    Layout
    """
    given, encoding = encoding, encoding or detect_encoding(path)
    try:
        start, lines = _first_lines(path, encoding)
    except EncodingError:
        if given is not None or encoding != UTF8:
            raise
        encoding = assume_encoding(path)
        start, lines = _first_lines(path, encoding)
    delimiter = _read_separator(path, lines[0])
    if delimiter is not None:
        more = _find_row(lines[1:], loose=is_loose(path))
        if more < 0:
            raise ReadError(f"{path} must contain rows of data; it has none below {lines[0][:60]!r}")
        start, lines = start + 1 + more, lines[1 + more :]
    else:
        delimiter = _detect_delimiter(path, lines)
    check_columns(path, lines[0].count(delimiter) + 1)
    uneven = delimiter == " " and any(line != " ".join(_split(line)) for line in lines)
    try:
        rows, header_lines = _parse_rows(lines, None if uneven else delimiter, loose=is_loose(path))
    except csv.Error as error:
        raise ReadError(f"{path} cannot be read as a table: {reason(error)}") from None
    decimal = detect_decimal(rows) if delimiter in ";\t|" else POINT
    if decimal != POINT:
        rows = [list(map(to_point, row)) for row in rows]
    if len(rows[0]) < ids:
        wanted = {1: "an id", 2: "two ids"}[ids]
        raise ReadError(f"each row of {path} must begin with {wanted}; the first has 1 cell, {lines[0][:60]!r}")
    if header is None:
        header = not {name.lower() for name in named}.isdisjoint(cell.strip().lower() for cell in rows[0])
        header = header or _has_header(path, rows, ids)
    return Layout(
        delimiter=delimiter,
        names=tuple(cell.strip().removeprefix("#") for cell in rows[0]) if header else None,
        num_columns=len(rows[0]),
        lines_before_data=start + header_lines * header,
        rows=rows[1:] if header else rows,
        uneven_spaces=uneven,
        quoted=any('"' in line for line in lines),
        encoding=encoding,
        decimal=decimal,
    )


def _has_header(path: Path, rows: Sequence[Sequence[str]], ids: int) -> bool:
    found = detect_header(rows, ids=ids, loose=is_loose(path))
    if found.assumed:
        first = ",".join(cell.strip() for cell in rows[0])[:60]
        data = "an edge" if ids == 2 else "a node"
        warn(
            f"the first row of {path}, {first!r}, is taken for a header: header=False reads it as {data}"
            if found.present
            else f"the first row of {path}, {first!r}, is taken for {data}: header=True reads it as a header",
            AssumedInputWarning,
        )
    return found.present


def _read_separator(path: Path, line: str) -> str | None:
    """Return the delimiter that the first line names, as in ``sep=;``."""
    found = _SEPARATOR.fullmatch(line)
    if found is None:
        return None
    if found[1] not in _SEPARATORS:
        raise ReadError(f"sep= must name a comma, semicolon, tab, bar or space; {path} begins with {line.strip()!r}")
    return found[1]


def _find_row(lines: Sequence[str], *, loose: bool) -> int:
    return next((i for i, line in enumerate(lines) if not is_blank_or_comment(line, loose=loose)), -1)


def _first_lines(path: Path, encoding: str) -> tuple[int, list[str]]:
    """Return the number of lines before the first row, and the first complete lines from there on."""
    loose = is_loose(path)
    with open_text(path, encoding=encoding) as file:
        peeked, wanted = b"", _PEEKED_BYTES
        while True:
            peeked += file.read(wanted - len(peeked))
            complete = len(peeked) < wanted
            lines = _decode_lines(path, peeked, encoding, complete=complete)
            rest = "" if complete else lines.pop()  # of a line that goes on
            start = _find_row(lines, loose=loose)
            if complete or 0 <= start < len(lines) - 2:
                break
            wanted *= 2  # rows or comments are long
            if start >= 0 and wanted > get_limit(MAX_LINE):
                break
            if start < 0 and wanted > _MAX_LEADING_BYTES and is_blank_or_comment(rest, loose=loose):
                raise ReadError(f"{path} must contain rows of data; it has none in its first {len(peeked):,} bytes")
    if start < 0:
        raise ReadError(f"{path} must contain rows of data; it has none")
    return start, lines[start:]


def _decode_lines(path: Path, peeked: bytes, encoding: str, *, complete: bool) -> list[str]:
    try:
        text = codecs.getincrementaldecoder("utf-8-sig")().decode(peeked, final=complete)
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise not_text(path, encoding)
    return _LINE_END.split(text)


def _detect_delimiter(path: Path, lines: Sequence[str]) -> str:
    """Return the first delimiter in the first line, of those that are likely for the file's ending."""
    likely = {".csv": ",\t; ", ".tsv": "\t,; ", ".txt": "\t,; "}.get(ending(path), "\t ,;")
    rows = (line.strip() for line in lines[:_NUM_COMPARED] if not is_blank_or_comment(line, loose=is_loose(path)))
    bare = [_QUOTED.sub("", row) for row in rows]
    found = [each for each in likely if each in bare[0]] or [likely[0]]
    if any(_is_between_numbers(each, bare) for each in ";\t" if each in found and found[0] == ","):
        found.remove(",")
    return "," if found[0] == " " and ", " in bare[0] else found[0]


def _is_between_numbers(delimiter: str, lines: Sequence[str]) -> bool:
    """Check whether a delimiter separates cells of which commas are a part, as those of ``1,5;2,25`` are."""
    if len({line.count(delimiter) for line in lines}) > 1:
        return False
    if len({line.count(",") for line in lines}) > 1:
        return True
    return all(is_local_number(cell) for line in lines for cell in line.split(delimiter) if "," in cell)


def _split(line: str) -> list[str]:
    """Split at ASCII whitespace only; other whitespace may be part of an id."""
    return re.findall(r"[^ \t\r\f\v]+", line)


def _parse_rows(lines: Sequence[str], delimiter: str | None, *, loose: bool) -> tuple[list[list[str]], int]:
    """Split lines into cells, and count the lines of the first row."""
    if delimiter is None:
        return [_split(line) for line in lines if not is_blank_or_comment(line, loose=loose)], 1
    # Lines are limited where they are read; a quoted cell may have several.
    limit = csv.field_size_limit(sum(len(line) + 1 for line in lines))
    try:
        reader = csv.reader((line + "\n" for line in lines), delimiter=delimiter)
        first = next(reader)
        taken = reader.line_num
        rest = [row for row in reader if not is_blank_or_comment(delimiter.join(row), loose=loose)]
    finally:
        csv.field_size_limit(limit)
    return [first, *rest], taken
