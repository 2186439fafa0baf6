"""Rows of float32 in npy files, of which any range is read without the others.

Files are read and not mapped: pages of a mapped file count as memory of the process, and a file that is truncated would
end it by a signal.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from graphprox._utils.arrays import FloatArray
from graphprox.errors import ReadError
from graphprox.io.storage.files import reason


@dataclass(frozen=True)
class RowFile:
    """An npy file of float32 rows.

    Parameters
    ----------
    path : Path
    shape : tuple of int
        (num_rows, num_columns).
    offset : int
        Where the first row begins, in bytes.
    """

    path: Path
    shape: tuple[int, int]
    offset: int

    @classmethod
    def open(cls, path: Path) -> RowFile:
        """Read the header of a file.

        Parameters
        ----------
        path : Path

        Returns
        -------
        RowFile

        Raises
        ------
        ReadError
            If it is not a complete npy file of float32 rows.
        """
        try:
            with path.open("rb") as file:
                np.lib.format.read_magic(file)
                shape, is_fortran, dtype = np.lib.format.read_array_header_1_0(file)
                offset = file.tell()
        except (OSError, ValueError) as error:
            raise ReadError(f"{path} is damaged: {reason(error)}") from None
        size = path.stat().st_size - offset
        if len(shape) != 2 or is_fortran or dtype != np.float32 or size != 4 * shape[0] * shape[1]:
            raise ReadError(f"{path} is damaged: it must contain rows of float32")
        return cls(path, (int(shape[0]), int(shape[1])), offset)

    def read(self, rows: slice) -> FloatArray:
        """Read a range of rows.

        Parameters
        ----------
        rows : slice
            With a start and a stop within the file.

        Returns
        -------
        ndarray of shape (rows.stop - rows.start, num_columns)
        """
        columns = self.shape[1]
        count = (rows.stop - rows.start) * columns
        try:
            read = np.fromfile(self.path, np.float32, count=count, offset=self.offset + 4 * rows.start * columns)
        except OSError as error:
            raise ReadError(f"{self.path} cannot be read: {reason(error)}") from None
        if len(read) != count:
            raise ReadError(f"{self.path} is damaged: it ends early")
        return read.reshape(-1, columns)

    def checksum(self) -> str:
        """Return the SHA-256 of the rows.

        Returns
        -------
        str
        """
        with self.path.open("rb") as file:
            file.seek(self.offset)
            return hashlib.file_digest(file, "sha256").hexdigest()
