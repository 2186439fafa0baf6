"""Arrays in .npy files that need not fit into memory: appended to block by block, and read as memory maps."""

from __future__ import annotations

import errno
import math
import mmap
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from graphprox._utils.amounts import format_memory
from graphprox._utils.work_folder import work_folder
from graphprox.errors import ReadError, WriteError
from graphprox.io.storage.files import reason

# What mmap reports where a file system, such as some network file systems, has none.
_UNSUPPORTED = {errno.ENODEV, errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EPERM}


class ArrayWriter:
    """Write an array to an .npy file whose number of rows is not known before.

    Rows are written by the file and not by a memory map: a full disk is then an error, and not the end of the process.

    Parameters
    ----------
    path : Path
        A new file; an older one is overwritten.
    dtype : data-type
    row_shape : sequence of int, default=()
        Shape of a row; empty for an array of one dimension.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "rows.npy")
    ...     with ArrayWriter(path, np.float32, [2]) as rows:
    ...         rows.append([[1, 2]])
    ...         rows.append([[3, 4], [5, 6]])
    ...     map_array(path).tolist()
    [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
    """

    def __init__(self, path: Path, dtype: DTypeLike, row_shape: Sequence[int] = ()) -> None:
        self.path, self.dtype, self.row_shape = path, np.dtype(dtype), tuple(row_shape)
        self.num_rows = 0
        self._file = path.open("wb")
        self._write_header()

    def append(self, rows: Any) -> None:
        """Write rows after those that are there.

        Parameters
        ----------
        rows : array-like of shape (n_rows, *row_shape)
        """
        block = np.ascontiguousarray(rows, self.dtype)
        if block.shape[1:] != self.row_shape:
            raise ValueError(f"rows must have shape {self.row_shape}; got {block.shape[1:]}")
        if block.size:
            self._file.write(block.data)
        self.num_rows += len(block)

    def close(self) -> None:
        """Write the number of rows into the header, and flush the file to disk."""
        if self._file.closed:
            return
        with self._file:
            self._file.seek(0)
            self._write_header()
            self._file.flush()
            os.fsync(self._file.fileno())

    def _write_header(self) -> None:
        # numpy leaves room in the header for any number of rows: it has the same length at the end.
        shape = (self.num_rows, *self.row_shape)
        header = {"descr": np.lib.format.dtype_to_descr(self.dtype), "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(self._file, header)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
        else:
            self._file.close()


def map_array(path: Path) -> NDArray[Any]:
    """Return the array of an .npy file as a read-only memory map.

    Parameters
    ----------
    path : Path

    Returns
    -------
    ndarray

    Raises
    ------
    ReadError
        If the file is missing, damaged or on a file system without memory maps.
    """
    try:
        mapped: NDArray[Any] = np.lib.format.open_memmap(path, mode="r").view(np.ndarray)
    except OSError as error:
        if error.errno in _UNSUPPORTED:
            raise ReadError(_describe_unsupported(path.parent)) from None
        raise ReadError(f"{path} cannot be read: {reason(error)}") from None
    except (ValueError, EOFError, OverflowError, TypeError, SyntaxError) as error:
        raise ReadError(f"{path} is damaged: {reason(error)}") from None
    return mapped


def make_temporary_map(shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """Return a memory map of a file without a name in the work folder, of which nothing is left when the process ends.

    Parameters
    ----------
    shape : tuple of int
        Without zeros.
    dtype : data-type

    Returns
    -------
    ndarray

    Raises
    ------
    WriteError
        If the disk has no room for it.
    """
    size = np.dtype(dtype).itemsize * math.prod(shape)
    try:
        with tempfile.TemporaryFile(dir=work_folder(), prefix=".graphprox-") as file:
            # Without space of its own, a file ends the process when a page of it cannot be written.
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, size)
            return np.memmap(file, dtype, "r+", shape=shape)
    except OSError as error:
        raise WriteError(
            f"a work folder must have room for rows that memory does not hold; {work_folder()} has none for "
            f"another {format_memory(size)}: {reason(error)}: name another one by --work-dir or TMPDIR"
        ) from None


def check_memory_maps(folder: Path) -> None:
    """Check that the file system of a folder has memory maps, before anything is written there.

    Parameters
    ----------
    folder : Path
        An existing folder.

    Raises
    ------
    WriteError
        If it has none, or cannot be written to.
    """
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"\0")
            file.flush()
            mmap.mmap(file.fileno(), 1, access=mmap.ACCESS_READ).close()
    except OSError as error:
        if error.errno in _UNSUPPORTED:
            raise WriteError(_describe_unsupported(folder)) from None
        raise WriteError(f"{folder} cannot be written: {reason(error)}") from None


def _describe_unsupported(folder: Path) -> str:
    return f"{folder} must be on a file system with memory maps; this one has none: use a folder on a local disk"
