"""How a text file is laid out, told from its first lines.

pyarrow parses; what it leaves to the caller is decided here: what separates the cells, which lines are comments,
whether there is a header, whether ids are whole numbers or strings.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from graphprox.errors import ReadError
from graphprox.io.files import ending, is_gzipped, reason

NUMBER = r"[+-]?(\d+\.?\d*([eE][+-]?\d+)?|\.\d+([eE][+-]?\d+)?|(?i:nan|inf(inity)?))"
WHOLE_NUMBER = r"0|-?[1-9]\d*"  # 007 is the name of an agent

_PEEKED_BYTES = 1 << 16
_NUMBER, _WHOLE_NUMBER = re.compile(NUMBER), re.compile(WHOLE_NUMBER)
_NOT_GIVEN = ("", "na", "n/a", "null", "none")
_QUOTED = re.compile(r'"[^"]*"')
_LINE_END = re.compile(r"\r\n|\r|\n")
# Usual names for a column of ids, without _ and the like: id, Node ID; source, from_node_id, node 1.
_NAME_OF_ID = re.compile(r"(node|vertex|vertices|name|id)s?(id|name)?")
_NAME_OF_END = re.compile(
    r"(u|v|head|tail|(from|to|source|target|destination|dest|src|dst|tgt)(node|vertex)?(id|name)?|(node|vertex|id)[12ab])"
)


@dataclass(frozen=True)
class Layout:
    """How the cells of a text file are found, and what they hold."""

    delimiter: str
    names: tuple[str, ...] | None  # the header, or None where the file has none
    width: int
    lines_before_data: int
    whole_number_ids: bool  # as far as the first lines tell
    uneven_spaces: bool
    quoted: bool


@contextmanager
def opened_text(path: Path) -> Iterator[IO[bytes]]:
    """The file's bytes, decompressed; what is wrong with the compression is said in one sentence."""
    try:
        if is_gzipped(path):
            with gzip.open(path) as unpacked:
                yield cast(IO[bytes], unpacked)
        else:
            with path.open("rb") as file:
                yield file
    except EOFError:
        raise ReadError(f"{path} must be a whole gzip file; it ends in the middle: copy or download it again") from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise ReadError(f"{path} must be a sound gzip file, as its name says; got {reason(error)}") from None


def is_loose(path: Path) -> bool:
    """Whether the ending promises white space between cells, and comments, as networkx has it; CSV and TSV do not."""
    return ending(path) not in (".csv", ".tsv")


def is_blank_or_comment(line: str, *, loose: bool) -> bool:
    """Whether a line holds no data.

    A line that begins with # or % is a comment in a loose file. In CSV it may well be a tag or an address, so there it
    is one only if the mark stands alone: ``# like this``.
    """
    line = line.strip()
    return not line or (line[0] in "#%" and (loose or line[1:2] in ("", " ", "\t", "#", "%")))


def layout_of(path: Path, *, ids: int, header: bool | None) -> Layout:
    """Tell the layout of a text file whose rows begin with ``ids`` ids; ``header`` is what the user said of it."""
    start, lines = _first_lines(path)
    delimiter = _delimiter(path, lines[0])
    uneven = delimiter == " " and any(line != " ".join(_split(line)) for line in lines)
    try:
        rows, header_lines = _rows(lines, None if uneven else delimiter, loose=is_loose(path))
    except csv.Error as error:
        raise ReadError(f"{path} cannot be read as a table: {reason(error)}") from None
    if len(rows[0]) < ids:
        wanted = {1: "an id", 2: "two ids"}[ids]
        raise ReadError(f"each row of {path} must begin with {wanted}; the first is {lines[0][:60]!r}")
    if ids == 2 and not rows[0][0] and are_names_of_ids(rows[0][1:3]):
        raise ReadError(
            f"each row of {path} must begin with two ids; it begins with an index, which has no name: "
            "write it with index=False"
        )
    if header is None:
        header = looks_like_header(rows, ids=ids)
    data = rows[1:] if header else rows
    return Layout(
        delimiter=delimiter,
        names=tuple(cell.strip() for cell in rows[0]) if header else None,
        width=len(rows[0]),
        lines_before_data=start + header_lines * header,
        whole_number_ids=all(_WHOLE_NUMBER.fullmatch(cell.strip()) for row in data for cell in row[:ids]),
        uneven_spaces=uneven,
        quoted=any('"' in line for line in lines),
    )


def _first_lines(path: Path) -> tuple[int, list[str]]:
    """How many lines come before the first row, and the first lines from there on, a last one that is cut left out."""
    with opened_text(path) as file:
        peeked, wanted = b"", _PEEKED_BYTES
        while True:
            peeked += file.read(wanted - len(peeked))
            lines, whole = _lines(path, peeked, whole=len(peeked) < wanted), len(peeked) < wanted
            start = next((i for i, line in enumerate(lines) if not is_blank_or_comment(line, loose=is_loose(path))), -1)
            if whole or 0 <= start < len(lines) - 2:
                break
            wanted *= 2  # rows are wide, or comments long
    if start < 0:
        raise ReadError(f"{path} must hold rows of data; it has none")
    return start, lines[start:]


def _lines(path: Path, peeked: bytes, *, whole: bool) -> list[str]:
    try:
        text = codecs.getincrementaldecoder("utf-8-sig")().decode(peeked, final=whole)
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise ReadError(f"{path} must be text in UTF-8, as its name says; it holds something else")
    lines = _LINE_END.split(text)
    return lines if whole else lines[:-1]


def _delimiter(path: Path, line: str) -> str:
    """What separates the cells of the line: of what the file's ending makes likely, the first that occurs."""
    likely = {".csv": ",\t; ", ".tsv": "\t,; ", ".txt": "\t,; "}.get(ending(path), "\t ,;")
    bare = _QUOTED.sub("", line.strip())
    found = next((each for each in likely if each in bare), likely[0])
    return "," if found == " " and ", " in bare else found


def _split(line: str) -> list[str]:
    """The cells between ASCII white space; other white space may be part of an id."""
    return re.findall(r"[^ \t\r\f\v]+", line)


def _rows(lines: Sequence[str], delimiter: str | None, *, loose: bool) -> tuple[list[list[str]], int]:
    """The rows, split into cells at the delimiter or at white space, and how many lines the first takes."""
    if delimiter is None:
        return [_split(line) for line in lines if not is_blank_or_comment(line, loose=loose)], 1
    reader = csv.reader((line + "\n" for line in lines), delimiter=delimiter)
    first = next(reader)
    taken = reader.line_num
    rest = [row for row in reader if not is_blank_or_comment(delimiter.join(row), loose=loose)]
    return [first, *rest], taken


def looks_like_header(rows: Sequence[Sequence[str]], *, ids: int) -> bool:
    """Whether the first row names the columns.

    It does if it holds usual names for ids that are not themselves ids below, or if it holds no number while some
    column holds nothing else below it. A first row of data is never taken for a header by its strings alone.

    >>> looks_like_header([["u", "v"], ["ann", "bob"]], ids=2), looks_like_header([["u", "v"], ["v", "w"]], ids=2)
    (True, False)
    """
    first, rest = [cell.strip() for cell in rows[0]], rows[1:]
    numbers = [cell for cell in first if _NUMBER.fullmatch(cell)]
    # pandas leaves the name of an index empty, and counts columns that have no name.
    usual = are_names_of_ids(first[:ids]) or (ids == 1 and not first[0])
    if usual and ids == 1 and _are_counted(first[1:]):
        return True
    recurs = any(cell.strip() in first[:ids] for row in rest for cell in row[:ids])
    if usual and not recurs and not numbers:
        return True
    if numbers or not rest or any(cell.lower() in _NOT_GIVEN for cell in first):
        return False
    columns = zip(*(row for row in rest if len(row) == len(first)), strict=True)
    return any(all(_NUMBER.fullmatch(cell.strip()) for cell in column) for column in columns)


def are_names_of_ids(cells: Sequence[str]) -> bool:
    """Whether cells are usual names for columns of ids: of one column, or of the two ends of an edge."""
    plain = [re.sub(r"[#%_\s.-]", "", cell).lower() for cell in cells]
    patterns = (_NAME_OF_ID,) if len(cells) == 1 else (_NAME_OF_ID, _NAME_OF_END)
    return bool(plain) and all(any(each.fullmatch(name) for each in patterns) for name in plain)


def _are_counted(cells: Sequence[str]) -> bool:
    """Whether cells are the numbers of columns, as in ``id,0,1,2``."""
    return bool(cells) and [*cells] in [[str(i + start) for i in range(len(cells))] for start in (0, 1)]
