"""Detection of a text file's layout from its first lines.

pyarrow does the parsing. This module finds the options it needs: the delimiter, comment lines, whether there is a
header.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import re
import warnings
import zlib
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from graphprox._utils.stacklevel import find_stacklevel
from graphprox.errors import AssumedInputWarning, ReadError
from graphprox.io.limits import MAX_LINE, LimitedFile, check_columns, get_limit
from graphprox.io.storage.files import ending, is_gzipped, reason
from graphprox.io.tables.headers import detect_header

INTEGER = r"0|-?[1-9]\d*"  # 007 is a string

_PEEKED_BYTES = 1 << 16
_MAX_LEADING_BYTES = 1 << 22  # of comments and blank lines before the first row
_QUOTED = re.compile(r'"[^"]*"')
_LINE_END = re.compile(r"\r\n|\r|\n")


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
        Cells of the first rows of data.
    uneven_spaces : bool
        Whether cells are separated by varying whitespace.
    quoted : bool
        Whether the first lines contain quotes.
    """

    delimiter: str
    names: tuple[str, ...] | None
    num_columns: int
    lines_before_data: int
    rows: Sequence[Sequence[str]]
    uneven_spaces: bool
    quoted: bool


@contextmanager
def open_text(path: Path, *, whole: bool = False) -> Iterator[IO[bytes]]:
    """Open a file for reading bytes, decompressing it if its name ends in ``.gz``.

    Parameters
    ----------
    path : Path
        File to read.
    whole : bool, default=False
        Whether the format is not read row by row, so that the expansion of a compressed file is limited, too.

    Yields
    ------
    file object

    Raises
    ------
    ReadError
        If the compression is damaged, a line is too long or memory is running out.
    """
    try:
        with gzip.open(path) if is_gzipped(path) else path.open("rb") as file:
            yield cast(IO[bytes], LimitedFile(cast(IO[bytes], file), path, whole=whole))
    except EOFError:
        raise ReadError(f"{path} must be a complete gzip file; it ends early: copy or download it again") from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise ReadError(f"{path} must be a valid gzip file, as its name indicates; got {reason(error)}") from None


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


def detect_layout(path: Path, *, ids: int, header: bool | None, named: Collection[str] = ()) -> Layout:
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

    Returns
    -------
    Layout
    """
    start, lines = _first_lines(path)
    delimiter = _detect_delimiter(path, lines[0])
    check_columns(path, lines[0].count(delimiter) + 1)
    uneven = delimiter == " " and any(line != " ".join(_split(line)) for line in lines)
    try:
        rows, header_lines = _parse_rows(lines, None if uneven else delimiter, loose=is_loose(path))
    except csv.Error as error:
        raise ReadError(f"{path} cannot be read as a table: {reason(error)}") from None
    if len(rows[0]) < ids:
        wanted = {1: "an id", 2: "two ids"}[ids]
        raise ReadError(f"each row of {path} must begin with {wanted}; the first is {lines[0][:60]!r}")
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
    )


def _has_header(path: Path, rows: Sequence[Sequence[str]], ids: int) -> bool:
    found = detect_header(rows, ids=ids, loose=is_loose(path))
    if found.assumed:
        first = ",".join(cell.strip() for cell in rows[0])[:60]
        data = "an edge" if ids == 2 else "a node"
        warnings.warn(
            f"the first row of {path}, {first!r}, is taken for a header: header=False reads it as {data}"
            if found.present
            else f"the first row of {path}, {first!r}, is taken for {data}: header=True reads it as a header",
            AssumedInputWarning,
            stacklevel=find_stacklevel(),
        )
    return found.present


def _first_lines(path: Path) -> tuple[int, list[str]]:
    """Return the number of lines before the first row, and the first complete lines from there on."""
    loose = is_loose(path)
    with open_text(path) as file:
        peeked, wanted = b"", _PEEKED_BYTES
        while True:
            peeked += file.read(wanted - len(peeked))
            complete = len(peeked) < wanted
            lines = _decode_lines(path, peeked, complete=complete)
            rest = "" if complete else lines.pop()  # of a line that goes on
            start = next((i for i, line in enumerate(lines) if not is_blank_or_comment(line, loose=loose)), -1)
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


def _decode_lines(path: Path, peeked: bytes, *, complete: bool) -> list[str]:
    try:
        text = codecs.getincrementaldecoder("utf-8-sig")().decode(peeked, final=complete)
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise ReadError(f"{path} must be text in UTF-8, as its name indicates; it contains something else")
    return _LINE_END.split(text)


def _detect_delimiter(path: Path, line: str) -> str:
    """Return the first delimiter in the line, of those that are likely for the file's ending."""
    likely = {".csv": ",\t; ", ".tsv": "\t,; ", ".txt": "\t,; "}.get(ending(path), "\t ,;")
    bare = _QUOTED.sub("", line.strip())
    found = next((each for each in likely if each in bare), likely[0])
    return "," if found == " " and ", " in bare else found


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
