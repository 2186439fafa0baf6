"""Check of the sizes that a Parquet file states, before its columns are read.

A value that is repeated is stored once, so a small file can contain any number of rows, each with a long string or
list. The footer is parsed here, as pyarrow ends the process if that of a damaged file has invalid columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

from graphprox._utils.allocation import check_memory
from graphprox.errors import ReadError
from graphprox.io.limits import GIB, check_columns, check_expansion

_VALUE_BYTES = 8
_BYTE_ARRAY = 6  # physical type of strings
_LARGE_FILE = 2**28  # whose strings are not read twice
_LARGE_FOOTER = 2**24  # which would take seconds to parse


def check_parquet_sizes(path: Path, *, in_memory: bool = True) -> None:
    """Check that the columns of a Parquet file fit into memory, and are not many times larger than the file.

    Parameters
    ----------
    path : Path
        The file.
    in_memory : bool, default=True
        Whether it will be read at once.

    Raises
    ------
    ReadError
        If they are too large.
    """
    size = path.stat().st_size
    parts = list(_read_parts(path))
    check_columns(path, len({part["path"] for part in parts}))
    stated = sum(max(part["bytes"], part["values"] * _VALUE_BYTES) for part in parts)
    check_expansion(path, compressed=size, expanded=stated)
    if in_memory:
        check_memory(stated, f"the table of {path}", error=ReadError)
    # Each value could be as long as all stored ones together.
    long = {
        p["path"] for p in parts if p["type"] == _BYTE_ARRAY and p["values"] * p["bytes"] > GIB and len(p["path"]) == 1
    }
    if size < _LARGE_FILE and long:
        strings = sum(_count_string_bytes(path, name) for (name,) in long)
        check_expansion(path, compressed=size, expanded=strings)
        if in_memory:
            check_memory(strings, f"the strings of {path}", error=ReadError)


def _count_string_bytes(path: Path, name: str) -> int:
    """Return the size of a column of strings, without decoding it."""
    total = 0
    with pa.parquet.ParquetFile(path, read_dictionary=[name]) as encoded:
        for i in range(encoded.num_row_groups):
            for array in encoded.read_row_group(i, columns=[name]).column(0).chunks:
                if pa.types.is_dictionary(array.type):
                    lengths = pc.binary_length(array.dictionary).cast(pa.int64())
                    total += pc.sum(lengths.take(array.indices.drop_null())).as_py() or 0
    return total


# -- footer ---------------------------------------------------------------------------------------------------------


def _read_parts(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the path, type, number of values and size of each column of each row group; none if they are damaged."""
    with path.open("rb") as file:
        file.seek(max(path.stat().st_size - 8, 0))
        end = file.read()
        length = int.from_bytes(end[:4], "little")
        if end[4:] != b"PAR1" or not 0 < length < min(_LARGE_FOOTER, path.stat().st_size - 8):
            return
        file.seek(-8 - length, 2)
        content = file.read(length)
    try:
        groups = _Thrift(content).read_struct().get(4, [])
        for column in (column for group in groups for column in group[1]):
            about = column[3]
            path_in_schema = tuple(name.decode() for name in about[3])
            yield {"path": path_in_schema, "type": about[1], "values": max(about[5], 0), "bytes": max(about[6], 0)}
    except (LookupError, TypeError, AttributeError, ValueError, RecursionError):
        return  # pyarrow reports what is wrong


class _Thrift:
    """Reader of Thrift's compact protocol, in which the footer is written."""

    def __init__(self, content: bytes) -> None:
        self._content, self._at = content, 0

    def read_struct(self) -> dict[int, Any]:
        """Return the values of a struct by the number of their field."""
        fields: dict[int, Any] = {}
        number = 0
        while kind := self._byte():
            step = kind >> 4
            number = number + step if step else self._integer()
            fields[number] = self._value(kind & 15)
        return fields

    def _value(self, kind: int) -> Any:
        if kind in (1, 2):
            return kind == 1
        if kind == 3:
            return self._byte()
        if kind in (4, 5, 6):
            return self._integer()
        if kind == 7:
            return self._bytes(8)
        if kind == 8:
            return self._bytes(self._varint())
        if kind in (9, 10):
            return self._list()
        if kind == 12:
            return self.read_struct()
        raise ValueError(f"unknown type {kind}")

    def _list(self) -> list[Any]:
        head = self._byte()
        count = head >> 4
        if count == 15:
            count = self._varint()
        if count > len(self._content):
            raise ValueError("a list is longer than the footer")
        kind = head & 15
        return [self._byte() == 1 if kind in (1, 2) else self._value(kind) for _ in range(count)]

    def _integer(self) -> int:
        value = self._varint()
        return (value >> 1) ^ -(value & 1)

    def _varint(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
            if shift > 70:
                raise ValueError("a number is too long")

    def _byte(self) -> int:
        self._at += 1
        return self._content[self._at - 1]

    def _bytes(self, count: int) -> bytes:
        self._at += count
        if self._at > len(self._content):
            raise ValueError("the footer ends early")
        return self._content[self._at - count : self._at]
