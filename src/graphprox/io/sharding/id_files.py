"""Ids in files that are written and read in blocks: int64, or strings as their text and where each of them ends."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphprox.io.folder.part_files import id_buffers


@dataclass(frozen=True)
class IdFile:
    """A file of ids.

    Parameters
    ----------
    path : Path
        Its name; strings are in two files whose names begin with it.
    is_text : bool
        Whether ids are strings.
    size : int
        Number of ids.
    """

    path: Path
    is_text: bool
    size: int

    @property
    def text(self) -> Path:
        """The text of all strings."""
        return self.path.with_name(f"{self.path.name}.text")

    def read(self, start: int = 0, stop: int | None = None) -> pa.Array:
        """Return consecutive ids.

        Parameters
        ----------
        start, stop : int
            Positions; all ids by default.

        Returns
        -------
        pyarrow.Array of int64 or large_string
        """
        stop = self.size if stop is None else min(stop, self.size)
        if not self.is_text:
            return pa.array(read_raw(self.path, np.int64, start, stop))
        ends = read_raw(self.path, np.int64, max(start - 1, 0), stop)
        # Only ends are stored: the first string begins at 0.
        offsets = ends if start else np.concatenate([[0], ends])
        text = read_raw(self.text, np.uint8, int(offsets[0]), int(offsets[-1]))
        local = pa.py_buffer(offsets - offsets[0])
        return pa.LargeStringArray.from_buffers(max(stop - start, 0), local, pa.py_buffer(text))

    def blocks(self, size: int) -> Iterator[pa.Array]:
        """Iterate over all ids.

        Parameters
        ----------
        size : int
            Number of ids of a block.

        Yields
        ------
        pyarrow.Array
        """
        for start in range(0, self.size, size):
            yield self.read(start, start + size)

    def remove(self) -> None:
        """Remove the files."""
        for path in (self.path, self.text):
            path.unlink(missing_ok=True)


class IdWriter:
    """Write ids to a file, block by block.

    Parameters
    ----------
    path : Path
    is_text : bool
        Whether ids are strings.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     with IdWriter(Path(folder, "ids"), is_text=True) as writer:
    ...         writer.append(pa.array(["ann", "bob"]))
    ...         writer.append(pa.array(["eve"]))
    ...     writer.file.read(1, 3).to_pylist()
    ['bob', 'eve']
    """

    def __init__(self, path: Path, *, is_text: bool) -> None:
        self._path, self._is_text = path, is_text
        self._size = self._end = 0
        self._files = ExitStack()
        self._ids = self._files.enter_context(path.open("wb"))
        self._text = self._files.enter_context(self.file.text.open("wb")) if is_text else None

    @property
    def file(self) -> IdFile:
        """What has been written."""
        return IdFile(self._path, self._is_text, self._size)

    def append(self, ids: pa.Array) -> None:
        """Write ids after those that are there.

        Parameters
        ----------
        ids : pyarrow.Array of int64 or strings
        """
        if self._text is None:
            self._ids.write(np.ascontiguousarray(ids.to_numpy(zero_copy_only=False), np.int64).data)
        else:
            offsets, text = id_buffers(ids.cast(pa.large_string()))
            self._ids.write(np.ascontiguousarray(offsets[1:] + self._end).data)
            self._text.write(text.data)
            self._end += len(text)
        self._size += len(ids)

    def close(self) -> None:
        """Flush the files to disk."""
        for file in (self._ids, self._text):
            if file is not None and not file.closed:
                flush(file)
        self._files.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
        self._files.close()


# -- arrays without a header ----------------------------------------------------------------------------------------


def write_raw(path: Path, array: NDArray[Any]) -> None:
    """Write the values of an array, and flush them to disk.

    Parameters
    ----------
    path : Path
    array : ndarray
    """
    with path.open("wb") as file:
        if array.size:
            file.write(np.ascontiguousarray(array).data)
        flush(file)


def read_raw(path: Path, dtype: Any, start: int = 0, stop: int | None = None) -> NDArray[Any]:
    """Return consecutive values of a file.

    Parameters
    ----------
    path : Path
    dtype : data-type
    start, stop : int
        Positions; all values by default.

    Returns
    -------
    ndarray
    """
    kind = np.dtype(dtype)
    count = -1 if stop is None else max(stop - start, 0)
    return np.fromfile(path, kind, count=count, offset=start * kind.itemsize)


def flush(file: Any) -> None:
    """Flush a file to disk, so that what a journal says of it is true after a power failure.

    Parameters
    ----------
    file : file object
    """
    file.flush()
    os.fsync(file.fileno())
