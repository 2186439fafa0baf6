"""The folder of files that training needs only while it runs: propagated features.

A table is a matrix of float32 in npy files of some columns each, ``DIGEST-N.npy``, and a description ``DIGEST.json``
with their checksums, which is written last. The digest is that of all that the table depends on. So a training run that
is resumed finds what an earlier process has computed, and nothing else.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from graphprox._utils.arrays import FloatArray
from graphprox._utils.memory import return_freed_memory
from graphprox._utils.work_folder import work_folder
from graphprox.distributed.processes import Processes
from graphprox.errors import ReadError
from graphprox.io.storage.files import atomic_write, make_writable_folder
from graphprox.io.storage.model_files import WORK, remove_files, work_files
from graphprox.io.storage.row_files import RowFile
from graphprox.io.storage.verified import checksum, dump_with_checksum, read_with_checksum

FORMAT = 1


@dataclass(frozen=True)
class Table:
    """A matrix in files of some columns each.

    Parameters
    ----------
    files : tuple of RowFile
    """

    files: tuple[RowFile, ...]

    def read(self, rows: slice) -> FloatArray:
        """Return a range of rows, of all columns."""
        parts = [file.read(rows) for file in self.files]
        return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)


class WorkFolder:
    """Tables in a folder, each of which is made once.

    Parameters
    ----------
    path : Path
    processes : Processes, optional
        Processes that make a table together, each its own rows.
    """

    def __init__(self, path: Path, processes: Processes | None = None) -> None:
        self.path, self.processes = path, processes
        self._tables: dict[str, Table] = {}

    def table(self, key: Mapping[str, Any], make: Callable[[], Iterable[FloatArray]]) -> Table:
        """Return the table of a key: that of this process, or of an earlier one if it is intact, or a new one.

        Parameters
        ----------
        key : mapping of str to object
            All that the table depends on, as JSON has it.
        make : callable
            Returns the columns of the table, in blocks of shape (num_rows, num_columns).

        Returns
        -------
        Table
        """
        name = self._name(key)
        if name not in self._tables:
            found = self._find(name)
            if self.processes is not None and self.processes.any(found is None):
                found = None  # if one has to make it, all have to help
            self._tables[name] = found or self._write(name, make())
            return_freed_memory()  # arrays of a step are smaller, and larger ones would stay beside them
        return self._tables[name]

    def _name(self, key: Mapping[str, Any]) -> str:
        return checksum(json.dumps(key, sort_keys=True).encode())[:16]

    def _find(self, name: str) -> Table | None:
        try:
            checksums = read_with_checksum(self.path / f"{name}.json", FORMAT)["columns"]
            files = [RowFile.open(self.path / f"{name}-{i}.npy") for i in range(len(checksums))]
        except ReadError:  # missing, or of a process that was killed
            return None
        return Table(tuple(files)) if [file.checksum() for file in files] == checksums else None

    def _write(self, name: str, blocks: Iterable[FloatArray]) -> Table:
        make_writable_folder(self.path)
        files: list[RowFile] = []
        for block in blocks:
            path = self.path / f"{name}-{len(files)}.npy"
            with atomic_write(path) as (staged,), staged.open("wb") as file:
                np.save(file, np.ascontiguousarray(block, np.float32))
            files.append(RowFile.open(path))
        with atomic_write(self.path / f"{name}.json") as (staged,):
            staged.write_text(dump_with_checksum({"format": FORMAT, "columns": [file.checksum() for file in files]}))
        return Table(tuple(files))

    def remove(self) -> None:
        """Remove all tables, those of earlier processes too, once no process needs any."""
        if self.processes is not None:
            self.processes.wait()
        # Processes of one machine have the same folder: the first of them may remove what is listed in another.
        with suppress(FileNotFoundError):
            remove_files(work_files(self.path))


@contextmanager
def open_work_folder(folder: Path | None, processes: Processes | None = None) -> Iterator[WorkFolder]:
    """Use the work folder of a model in the ``with`` block, or a temporary one.

    Parameters
    ----------
    folder : Path or None
        Folder of the model. Its work folder is kept if the block raises, for a training run that is resumed.
    processes : Processes, optional
        Processes that use it together. They need not have the same disk.

    Yields
    ------
    WorkFolder
    """
    if folder is None:
        with tempfile.TemporaryDirectory(prefix="graphprox-", dir=work_folder()) as temporary:
            yield WorkFolder(Path(temporary), processes)
        return
    yield (work := WorkFolder(folder / WORK, processes))
    work.remove()
