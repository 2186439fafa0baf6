"""Merge of sorted files of ids, of which some blocks are in memory at a time."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphprox.io.ids import number_ids
from graphprox.io.sharding.id_files import IdFile

MIN_BUFFER = 1024  # ids of each file


@dataclass(frozen=True, eq=False)
class Piece:
    """Consecutive ids of one file in a step of the merge.

    Attributes
    ----------
    file : int
        Position of the file.
    start : int
        Position of the first id in the file.
    codes : ndarray of int32
        Position of each id in the ids of the step.
    """

    file: int
    start: int
    codes: NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Step:
    """All ids of all files in some range.

    Attributes
    ----------
    ids : pyarrow.Array
        Every id of the range once, sorted.
    pieces : list of Piece
        Where they occur.
    """

    ids: pa.Array
    pieces: list[Piece]


def merge_ids(files: Sequence[IdFile], *, memory: int) -> Iterator[Step]:
    """Merge sorted files.

    Parameters
    ----------
    files : sequence of IdFile
        Sorted ids, all integers or all strings; none occurs twice in a file.
    memory : int
        Number of ids in memory, of all files together.

    Yields
    ------
    Step
        Ranges of ids in increasing order.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from graphprox.io.sharding.id_files import IdWriter
    >>> with TemporaryDirectory() as folder:
    ...     files = []
    ...     for name, ids in (("a", [1, 5]), ("b", [1, 3, 7])):
    ...         with IdWriter(Path(folder, name), is_text=False) as writer:
    ...             writer.append(pa.array(ids))
    ...         files.append(writer.file)
    ...     [step.ids.to_pylist() for step in merge_ids(files, memory=10)]
    [[1, 3, 5], [7]]
    """
    buffer = max(memory // max(len(files), 1), MIN_BUFFER)
    readers = [_Reader(file, buffer) for file in files]
    while True:
        active = [(number, reader) for number, reader in enumerate(readers) if reader.fill()]
        if not active:
            return
        # Beyond the last id of any buffer, its file may have more ids.
        end = min(reader.last for _, reader in active)
        taken = [(number, reader.start, reader.take(end)) for number, reader in active]
        taken = [(number, start, ids) for number, start, ids in taken if len(ids)]
        codes, ids = number_ids([each for _, _, each in taken])
        bounds = np.cumsum([len(each) for _, _, each in taken])[:-1]
        pieces = zip(taken, np.split(codes, bounds), strict=True)
        yield Step(ids, [Piece(number, start, own) for (number, start, _), own in pieces])


class _Reader:
    """A file and the ids of it that are in memory.

    Parameters
    ----------
    file : IdFile
    buffer : int
        Number of ids.
    """

    def __init__(self, file: IdFile, buffer: int) -> None:
        self.start = 0
        self._file, self._buffer = file, buffer
        self._ids: Any = ()

    @property
    def last(self) -> Any:
        """The last id in memory."""
        return self._ids[-1].as_py()

    def fill(self) -> bool:
        """Read ids unless half of the buffer is there; return whether there are any."""
        if len(self._ids) < self._buffer / 2 and self.start + len(self._ids) < self._file.size:
            self._ids = self._file.read(self.start, self.start + self._buffer)
        return len(self._ids) > 0

    def take(self, end: Any) -> pa.Array:
        """Return the ids up to ``end``, and forget them."""
        # Strings are sorted by their bytes, and compared by their characters: that is the same order in UTF-8.
        count = bisect_right(self._ids, end, key=lambda value: value.as_py())
        taken, self._ids = self._ids[:count], self._ids[count:]
        self.start += count
        return taken
