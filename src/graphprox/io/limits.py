"""Limits on what a file may ask for: the length of lines, the expansion of compressed data, memory.

A few bytes can describe terabytes: a compressed line, the shape of an array, a node number. Sizes are therefore checked
before they are allocated. A limit that is too low for a file can be raised by an environment variable.
"""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterator
from io import RawIOBase
from pathlib import Path
from typing import IO

from graphprox._utils.allocation import check_memory
from graphprox._utils.amounts import format_memory
from graphprox.errors import ReadError

GIB = 2**30

# Environment variables that raise a limit, and the default.
MAX_LINE = ("GRAPHPROX_MAX_LINE", 2**26)  # bytes of a line; a row of 100,000 features has about one million
MAX_COLUMNS = ("GRAPHPROX_MAX_COLUMNS", 500_000)  # of a table; a column of pyarrow takes kilobytes
MAX_FEATURES = ("GRAPHPROX_MAX_FEATURES", 2**24)  # columns of a sparse matrix
MAX_EXPANSION = ("GRAPHPROX_MAX_EXPANSION", 200)  # of compressed data, as a ratio

_SMALL = 10_000_000  # nodes that any machine has memory for
_NODES_PER_ENTRY = 100
_STRING_BYTES = 2**26
_BLOCK = 2**20
_FREE_EXPANSION = 2**22  # of text that is not read row by row, and takes many times its size in memory
_BYTES_BETWEEN_CHECKS = 2**27


def get_limit(limit: tuple[str, int]) -> int:
    """Return the value of a limit: that of its environment variable, or the default.

    Parameters
    ----------
    limit : tuple of str and int
        Name of the variable, and the default.

    Returns
    -------
    int

    Raises
    ------
    ReadError
        If the variable is not a positive integer.
    """
    name, default = limit
    given = os.environ.get(name, "")
    if not given:
        return default
    if not given.isascii() or not given.isdigit() or not 0 < len(given) < 19 or int(given) == 0:
        raise ReadError(f"{name} must be a positive integer; got {given[:40]!r}: change or unset it")
    return int(given)


# -- compressed data ------------------------------------------------------------------------------------------------


def check_expansion(path: Path, *, compressed: int, expanded: int, free: int = GIB) -> None:
    """Check that compressed data do not expand to many times their size.

    Parameters
    ----------
    path : Path
        The file.
    compressed, expanded : int
        Sizes in bytes.
    free : int
        Size up to which the expansion does not matter.

    Raises
    ------
    ReadError
        If they expand to more than ``free`` bytes, and more than ``GRAPHPROX_MAX_EXPANSION`` times their size.
    """
    if expanded > free and expanded > get_limit(MAX_EXPANSION) * max(compressed, 1):
        raise ReadError(
            f"compressed data must not expand to more than {get_limit(MAX_EXPANSION)} times their size; "
            f"{format_memory(compressed)} of {path} expand to {format_memory(expanded)}: set {MAX_EXPANSION[0]} if "
            "that is intended"
        )


def check_zip(path: Path, archive: zipfile.ZipFile) -> None:
    """Check that no member of a zip file expands to many times its size.

    Parameters
    ----------
    path : Path
        The file.
    archive : ZipFile
        The same file.
    """
    for member in archive.infolist():
        check_expansion(path, compressed=member.compress_size, expanded=member.file_size)


# -- sizes that a file states ---------------------------------------------------------------------------------------


def check_nodes(path: Path, nodes: int, entries: int) -> None:
    """Check that a graph does not consist of isolated nodes, up to a node number that is an error or an attack.

    Parameters
    ----------
    path : Path
        The file.
    nodes : int
        Number of nodes that it states.
    entries : int
        Number of values that it contains about them.
    """
    if nodes > _SMALL and nodes > _NODES_PER_ENTRY * entries:
        raise ReadError(
            f"a graph must have edges or features for at least one in {_NODES_PER_ENTRY} of its nodes; {path} has "
            f"{nodes:,} nodes, and {entries:,} values: number nodes without gaps"
        )


def check_features(path: Path, columns: int) -> None:
    """Check the number of columns of a sparse matrix.

    Parameters
    ----------
    path : Path
        The file.
    columns : int
        Number of columns that it states.
    """
    if columns > get_limit(MAX_FEATURES):
        raise ReadError(
            f"a matrix must have at most {get_limit(MAX_FEATURES):,} columns; {path} has {columns:,}: number columns "
            f"without gaps, or set {MAX_FEATURES[0]}"
        )


def check_columns(path: Path, columns: int) -> None:
    """Check the number of columns of a table.

    Parameters
    ----------
    path : Path
        The file.
    columns : int
        Number of columns.
    """
    if columns > get_limit(MAX_COLUMNS):
        raise ReadError(
            f"a table must have at most {get_limit(MAX_COLUMNS):,} columns; {path} has {columns:,}: use npz or "
            f"svmlight, or set {MAX_COLUMNS[0]}"
        )


def check_string_width(path: Path, width: int) -> None:
    """Check the length of the strings of an array, all of which take the memory of the longest.

    Parameters
    ----------
    path : Path
        The file.
    width : int
        Bytes of each string.
    """
    if width > _STRING_BYTES:
        raise ReadError(f"a string must have at most {_STRING_BYTES:,} bytes; {path} has strings of {width:,}")


# -- text -----------------------------------------------------------------------------------------------------------


class LimitedFile(RawIOBase):
    """A binary file whose lines are limited in length, and which is not read beyond the available memory.

    Parameters
    ----------
    file : file object
    path : Path
        Its path, for messages.
    whole : bool, default=False
        Whether the format is not read row by row, so that the expansion of a compressed file is limited, too.
    """

    def __init__(self, file: IO[bytes], path: Path, *, whole: bool = False) -> None:
        super().__init__()
        self._file, self._path = file, path
        self._max_line = get_limit(MAX_LINE)
        self._compressed = getattr(file, "fileobj", None) if whole else None
        self._line = self._total = 0
        self._next_check = _BYTES_BETWEEN_CHECKS

    def readable(self) -> bool:
        """Return True."""
        return True

    def read(self, size: int | None = -1) -> bytes:
        """Read at most ``size`` bytes, or all."""
        if size is None or size < 0:
            return b"".join(iter(lambda: self.read(_BLOCK), b""))
        block = self._file.read(size)
        self._count(len(block))
        end = max(block.rfind(b"\n"), block.rfind(b"\r"))
        first = min((at for at in (block.find(b"\n"), block.find(b"\r")) if at >= 0), default=len(block))
        self._check_line(self._line + first)
        self._line = self._line + len(block) if end < 0 else len(block) - end - 1
        self._check_line(self._line)
        return block

    def readline(self, size: int | None = -1) -> bytes:
        """Read a line."""
        limit = self._max_line + 1 if size is None or size < 0 else size
        line = self._file.readline(limit)
        self._count(len(line))
        self._check_line(len(line))
        self._line = 0 if line.endswith(b"\n") else len(line)
        return line

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.readline, b"")

    def _check_line(self, length: int) -> None:
        if length > self._max_line:
            raise ReadError(
                f"a line must have at most {self._max_line:,} bytes; {self._path} has a longer one: "
                f"set {MAX_LINE[0]} if that is intended"
            )

    def _count(self, length: int) -> None:
        self._total += length
        if self._compressed is not None:
            read = self._compressed.tell()
            check_expansion(self._path, compressed=read, expanded=self._total, free=_FREE_EXPANSION)
        if self._total >= self._next_check:
            self._next_check = self._total + _BYTES_BETWEEN_CHECKS
            check_memory(_BYTES_BETWEEN_CHECKS, f"the text of {self._path}", error=ReadError)
