"""Where the entries of each row begin, written while sorted entries come in."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphprox._utils.arrays import IntArray
from graphprox.io.storage.memory_maps import ArrayWriter

_BLOCK = 2**20  # rows without entries that are written at once


class RowPointers:
    """Write the ``indptr`` of a CSR array, of which the rows of entries are given in increasing order.

    Parameters
    ----------
    writer : ArrayWriter
    num_rows : int

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from graphprox.io.storage.memory_maps import map_array
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "indptr.npy")
    ...     with ArrayWriter(path, np.int64) as writer:
    ...         pointers = RowPointers(writer, 4)
    ...         pointers.append(np.array([1, 1, 3]))
    ...         pointers.finish()
    ...     map_array(path).tolist()
    [0, 0, 2, 2, 3]
    """

    def __init__(self, writer: ArrayWriter, num_rows: int) -> None:
        self._writer, self._num_rows = writer, num_rows
        self._next = self.num_entries = 0

    def append(self, rows: IntArray) -> None:
        """Add entries.

        Parameters
        ----------
        rows : ndarray of shape (num_entries,)
            Row of each, sorted, and not before those of earlier ones.
        """
        if len(rows):
            self._write(rows, int(rows[-1]) + 1)
            self.num_entries += len(rows)

    def finish(self) -> None:
        """Write the pointers of the rows that are left, and the end of the last one."""
        self._write(np.empty(0, np.int64), self._num_rows + 1)

    def _write(self, rows: IntArray, stop: int) -> None:
        """Write the pointers of rows up to ``stop - 1``."""
        for start in range(self._next, stop, _BLOCK):
            wanted = np.arange(start, min(start + _BLOCK, stop))
            begins: NDArray[np.int64] = np.searchsorted(rows, wanted) + self.num_entries
            self._writer.append(begins)
        self._next = max(self._next, stop)
