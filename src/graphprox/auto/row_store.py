"""Rows of a large graph: computed a block at a time, and kept in files where memory would not hold them.

Which blocks there are depends on the number of nodes alone, so that the same graph has the same result whatever memory
is available. What memory decides is where rows are kept: a sum over nodes is the same from a file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from sklearn.preprocessing import normalize

from graphprox._utils.arrays import FloatArray
from graphprox._utils.mapped import is_mapped, release_pages
from graphprox._utils.memory import available_memory
from graphprox._utils.team import ALONE, Team
from graphprox._utils.work_folder import work_folder
from graphprox.auto.exchange import gather_rows, to_columns, to_rows
from graphprox.io.storage.disk_space import check_disk_space
from graphprox.io.storage.memory_maps import make_temporary_map

ONE_BLOCK = 1 << 17  # rows that are one block
BLOCK_ROWS = 1 << 16  # of each block of more
MEMORY_BYTES = 1 << 31  # of rows that are kept in memory, at most; or a quarter of what is available
PANEL_BYTES = 1 << 29  # of columns that are spread over edges at the same time
HALF_BYTES = 1 << 35  # of rows in single precision; outputs of more are kept in half precision
MAX_COLUMNS = 256  # of an output
MIN_PANEL = 16  # columns: a line of the processor's cache


def row_blocks(num_rows: int) -> list[slice]:
    """Return the blocks of rows that are computed together.

    Parameters
    ----------
    num_rows : int

    Returns
    -------
    list of slice
        A single one for up to 131,072 rows.

    Examples
    --------
    >>> row_blocks(3), len(row_blocks(1_000_000))
    ([slice(0, 3, None)], 16)
    """
    size = max(num_rows, 1) if num_rows <= ONE_BLOCK else BLOCK_ROWS
    return [slice(start, min(start + size, num_rows)) for start in range(0, max(num_rows, 1), size)]


def own_blocks(num_rows: int, team: Team = ALONE) -> list[slice]:
    """Return the blocks of the rows of this process.

    Parameters
    ----------
    num_rows : int
        Number of rows of all processes.
    team : Team, optional
        Processes that the rows are divided among; by default this one alone.

    Returns
    -------
    list of slice
        Each counts from the first row of all.
    """
    own = team.rows(num_rows)
    return [slice(own.start + each.start, own.start + each.stop) for each in row_blocks(own.stop - own.start)]


def fits_memory(num_rows: int, num_columns: int) -> bool:
    """Return whether rows are kept in memory: up to 2 GiB of them, or a quarter of what is available.

    Parameters
    ----------
    num_rows, num_columns : int

    Returns
    -------
    bool

    Examples
    --------
    >>> fits_memory(1_000, 256), fits_memory(10_000_000, 2_560)
    (True, False)
    """
    available = available_memory()
    return 4 * num_rows * num_columns <= (MEMORY_BYTES if available is None else min(MEMORY_BYTES, available // 4))


def takes_half(num_rows: int, num_columns: int) -> bool:
    """Return whether outputs are kept in half precision: if all rows together would take more than 32 GiB.

    Parameters
    ----------
    num_rows, num_columns : int

    Returns
    -------
    bool
        It depends on the graph alone, and not on what memory is available.

    Examples
    --------
    >>> takes_half(1_000_000, 2_560), takes_half(10_000_000, 2_560)
    (False, True)
    """
    return 4 * num_rows * num_columns > HALF_BYTES


def count_kept_columns(channels: Mapping[str, int], n_components: int) -> int:
    """Return how many columns are kept at the same time, at most.

    Parameters
    ----------
    channels : mapping of str to int
        Number of columns of each output.
    n_components : int

    Returns
    -------
    int
    """
    total = sum(channels.values())
    # With the outputs, positions before they are spread, their directions, and one output twice; or else the vectors,
    # which are filled with zeros at the end.
    return max(total + 3 * MAX_COLUMNS, 2 * MAX_COLUMNS + 2 * min(n_components, total) + n_components)


def column_panels(num_rows: int, num_columns: int, num_processes: int = 1) -> list[slice]:
    """Return the columns that are spread over edges together, which takes three times their memory.

    Parameters
    ----------
    num_rows, num_columns : int
    num_processes : int, default=1
        Number of processes, each of which spreads a share of them.

    Returns
    -------
    list of slice
        Columns do not depend on each other: the result is the same for any panels.

    Examples
    --------
    >>> column_panels(1_000, 256), len(column_panels(10_000_000, 256))
    ([slice(0, 256, None)], 16)
    """
    fitting = PANEL_BYTES // (4 * max(num_rows, 1))
    width = max(fitting // MIN_PANEL * MIN_PANEL, MIN_PANEL) * num_processes
    return [slice(start, min(start + width, num_columns)) for start in range(0, max(num_columns, 1), width)]


def read_columns(rows: FloatArray, columns: slice) -> FloatArray:
    """Return some columns of all rows, contiguous and in memory; a matrix itself if these are all of it.

    Parameters
    ----------
    rows : ndarray of shape (num_rows, num_columns)
    columns : slice

    Returns
    -------
    ndarray of shape (num_rows, channels)
    """
    if columns == slice(0, rows.shape[1]) and not is_mapped(rows):
        return np.ascontiguousarray(rows)
    out = np.empty((len(rows), columns.stop - columns.start), rows.dtype)
    for block in row_blocks(len(rows)):
        out[block] = rows[block, columns]
        release_pages(rows)
    return out


class Panels:
    """Columns of a matrix in consecutive parts, each an array of its own.

    Parameters
    ----------
    parts : sequence of ndarray of shape (num_rows, channels)

    Examples
    --------
    >>> Panels([np.zeros((3, 2), np.float32), np.ones((3, 1), np.float32)]).read(slice(0, 1))
    array([[0., 0., 1.]], dtype=float32)
    """

    def __init__(self, parts: Sequence[FloatArray]) -> None:
        self.parts = list(parts)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return len(self.parts[0]), sum(each.shape[1] for each in self.parts)

    def read(self, rows: slice) -> FloatArray:
        """Return a copy of some rows."""
        block = np.concatenate([each[rows] for each in self.parts], axis=1)
        release_pages(*self.parts)
        return block

    def write(self, rows: slice, block: FloatArray) -> None:
        """Replace some rows."""
        first = 0
        for each in self.parts:
            each[rows] = block[:, first : first + each.shape[1]]
            first += each.shape[1]
        release_pages(*self.parts)


@dataclass(frozen=True)
class RowStore:
    """Where the rows of outputs are kept.

    Parameters
    ----------
    in_files : bool
        Whether rows are kept in files. They have no name, so that nothing is left of them when the process ends,
        however it does.
    team : Team, optional
        Processes that rows are divided among: each keeps consecutive ones. By default this one has all.
    in_half : bool, default=False
        Whether outputs are kept in half precision.

    Examples
    --------
    >>> RowStore.of(num_rows=1_000, num_columns=256).in_files
    False
    """

    in_files: bool = False
    team: Team = ALONE
    in_half: bool = False

    @classmethod
    def of(cls, num_rows: int, num_columns: int, team: Team = ALONE) -> RowStore:
        """Return the store of rows with so many columns in all: files, if they would take too much memory.

        Parameters
        ----------
        num_rows, num_columns : int
        team : Team, optional
            Processes that the rows are divided among; by default this one alone.

        Returns
        -------
        RowStore

        Raises
        ------
        WriteError
            If they would not fit onto the disk either.
        """
        own, in_half = team.rows(num_rows), takes_half(num_rows, num_columns)
        num_rows = own.stop - own.start
        in_files = not fits_memory(num_rows, num_columns)
        if in_files:
            size = 3 if in_half else 4  # about half of the columns are those of outputs
            check_disk_space(work_folder(), size * num_rows * num_columns, "rows that memory does not hold")
        return cls(in_files, team, in_half)

    def own_rows(self, num_rows: int) -> slice:
        """Return the rows that this process keeps, of all."""
        return self.team.rows(num_rows)

    def gather(self, rows: FloatArray, num_rows: int) -> FloatArray:
        """Return the rows of all processes, in each of them.

        Parameters
        ----------
        rows : ndarray of shape (own rows, num_columns)
        num_rows : int
            Number of rows of all processes.

        Returns
        -------
        ndarray of shape (num_rows, num_columns)
            The given array if this process is alone.
        """
        return rows if self.team.size == 1 else gather_rows(self.team, rows, self.empty(num_rows, rows.shape[1]))

    def own_columns(self, columns: slice) -> slice:
        """Return the columns that this process computes, of those that are computed together."""
        own = self.team.rows(columns.stop - columns.start)
        return slice(columns.start + own.start, columns.start + own.stop)

    def read_columns(self, rows: FloatArray, columns: slice, num_rows: int) -> FloatArray:
        """Return all rows of the columns that this process computes, contiguous and in memory.

        Parameters
        ----------
        rows : ndarray
            Those that this process keeps.
        columns : slice
            Columns that all processes compute together.
        num_rows : int
            Number of rows of all processes.

        Returns
        -------
        ndarray of shape (num_rows, channels)
        """
        return to_columns(self.team, read_columns(rows, columns), num_rows)

    def compact(self, rows: FloatArray) -> FloatArray:
        """Return rows of which only directions are read: of unit length, if they are kept in half precision.

        Parameters
        ----------
        rows : ndarray of shape (num_rows, num_columns)

        Returns
        -------
        ndarray of shape (num_rows, num_columns)
            The given array if outputs are kept in single precision.
        """
        if not self.in_half:
            return rows
        num_rows, num_columns = rows.shape
        halves = self.empty(num_rows, num_columns, np.float16)
        for block in row_blocks(len(rows)):
            halves[block] = normalize(rows[block])
            release_pages(rows, halves)
        return halves

    def empty(self, num_rows: int, num_columns: int, dtype: DTypeLike = np.float32) -> NDArray[Any]:
        """Return an array for rows, to be written a block at a time.

        Parameters
        ----------
        num_rows, num_columns : int
        dtype : data-type, default=float32

        Returns
        -------
        ndarray of shape (num_rows, num_columns)
            A memory map of a file without a name, if rows are kept in files.
        """
        shape = num_rows, num_columns
        if not self.in_files or 0 in shape:
            return np.zeros(shape, dtype) if 0 in shape else np.empty(shape, dtype)
        return make_temporary_map(shape, dtype)

    def panels(self, num_rows: int, num_columns: int) -> Panels:
        """Return panels of columns, each of which is written as a whole.

        Parameters
        ----------
        num_rows, num_columns : int
            Number of rows of all processes, and of columns.

        Returns
        -------
        Panels
            With the rows that this process keeps.
        """
        own = self.own_rows(num_rows)
        widths = (each.stop - each.start for each in column_panels(num_rows, num_columns, self.team.size))
        return Panels([self.empty(own.stop - own.start, width) for width in widths])

    def fill(
        self,
        num_rows: int,
        num_columns: int,
        compute: Callable[[slice], FloatArray],
        finish: Callable[[FloatArray], FloatArray] | None = None,
    ) -> FloatArray:
        """Return rows that are computed some columns at a time.

        Parameters
        ----------
        num_rows, num_columns : int
            Number of rows of all processes, and of columns.
        compute : callable
            Returns the columns of a slice, of all rows, in memory that is not used otherwise: those that this process
            computes, which `own_columns` tells.
        finish : callable, optional
            Applied to blocks of complete rows, in place or not.

        Returns
        -------
        ndarray
            The rows that this process keeps.
        """
        panels = column_panels(num_rows, num_columns, self.team.size)
        parts = (to_rows(self.team, compute(each), each.stop - each.start) for each in panels)
        if self.in_files:
            source = Panels([self._keep(each) for each in parts])
        elif len(panels) == 1:
            source = Panels(list(parts))
            if finish is None:
                return source.parts[0]
        else:
            source = Panels(list(parts))
        rows = self.empty(*source.shape)
        for block in row_blocks(len(rows)):
            done = source.read(block)
            rows[block] = done if finish is None else finish(done)
            release_pages(rows)
        return rows

    def _keep(self, computed: FloatArray) -> FloatArray:
        kept = self.empty(*computed.shape)
        kept[:] = computed
        release_pages(kept)
        return kept


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array that can no longer be written to; a memory map remains one.

    Parameters
    ----------
    array : ndarray

    Returns
    -------
    ndarray
    """
    array.flags.writeable = False
    if isinstance(array, np.memmap):
        array.mode = "r"
    return array
