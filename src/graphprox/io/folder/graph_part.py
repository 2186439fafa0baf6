"""A part of a graph folder: consecutive rows of the graph, as memory maps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import scipy.sparse as sp
from numpy.typing import NDArray

from graphprox._utils.arrays import Features, FloatArray, IntArray, NodeIds
from graphprox.errors import ReadError
from graphprox.io.folder.description import Description, PartRecord
from graphprox.io.storage.memory_maps import map_array

INDPTR, COLUMNS, WEIGHTS, LABELS = "indptr.npy", "columns.npy", "weights.npy", "labels.npy"
FEATURES = "features.npy"
FEATURE_VALUES, FEATURE_COLUMNS, FEATURE_INDPTR = "feature_values.npy", "feature_columns.npy", "feature_indptr.npy"
IDS, ID_TEXT, ID_OFFSETS = "ids.npy", "id_text.npy", "id_offsets.npy"

DTYPES: dict[str, np.dtype[Any]] = {
    INDPTR: np.dtype(np.int64),
    COLUMNS: np.dtype(np.int32),
    WEIGHTS: np.dtype(np.float32),
    LABELS: np.dtype(np.int64),
    FEATURES: np.dtype(np.float32),
    FEATURE_VALUES: np.dtype(np.float32),
    FEATURE_COLUMNS: np.dtype(np.int32),
    FEATURE_INDPTR: np.dtype(np.int64),
    IDS: np.dtype(np.int64),
    ID_TEXT: np.dtype(np.uint8),
    ID_OFFSETS: np.dtype(np.int64),
}

Columns = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class GraphBlock:
    """Some consecutive rows of a graph; all arrays but ``indptr`` are views of memory maps.

    Attributes
    ----------
    rows : range
        Node numbers of the rows.
    num_nodes : int
        Number of nodes of the whole graph.
    indptr : ndarray of shape (n_rows + 1,)
        Where the entries of each row begin and end, from 0.
    columns : ndarray of int32 of shape (num_entries,)
        Node number of each entry, sorted in each row.
    weights : ndarray of shape (num_entries,) or None
    features : ndarray or csr_array of shape (n_rows, num_features), or None
    labels : ndarray of shape (n_rows,) or None
    """

    rows: range
    num_nodes: int
    indptr: IntArray
    columns: Columns
    weights: FloatArray | None
    features: Features | None
    labels: IntArray | None

    @property
    def num_entries(self) -> int:
        """Number of entries in the rows."""
        return len(self.columns)

    def adjacency(self) -> sp.csr_array:
        """Return the rows of the adjacency matrix.

        Returns
        -------
        csr_array of shape (n_rows, num_nodes)
            Edge weights, or ones, as float32.
        """
        values = np.ones(self.num_entries, np.float32) if self.weights is None else self.weights
        return make_csr(values, self.columns, self.indptr, self.num_nodes)


class GraphPart:
    """A part of a graph folder; arrays are read-only memory maps, opened when they are first used.

    Parameters
    ----------
    folder : Path
        The graph folder.
    index : int
        Number of the part, from 0.
    about : Description
        What is in the graph folder.
    """

    def __init__(self, folder: Path, index: int, about: Description) -> None:
        self.index, self.about = index, about
        self.record: PartRecord = about.parts[index]
        self.path = folder / self.record.folder

    def __repr__(self) -> str:
        return f"GraphPart({self.index}, nodes {self.rows.start} to {self.rows.stop - 1}, {self.num_entries} entries)"

    @property
    def rows(self) -> range:
        """Node numbers of its rows."""
        return range(self.record.start, self.record.stop)

    @property
    def num_rows(self) -> int:
        """Number of its rows."""
        return len(self.rows)

    @property
    def num_entries(self) -> int:
        """Number of entries of the adjacency matrix in its rows."""
        return self.record.num_entries

    # -- arrays ----------------------------------------------------------------------------------------------------

    @cached_property
    def indptr(self) -> IntArray:
        """Where the entries of each row begin and end, from 0, (num_rows + 1,)."""
        return self._map(INDPTR, self.num_rows + 1)

    @cached_property
    def columns(self) -> Columns:
        """Node number of each entry, int32, sorted in each row, (num_entries,)."""
        return self._map(COLUMNS, self.num_entries)

    @cached_property
    def weights(self) -> FloatArray | None:
        """Weight of each entry, or None, (num_entries,)."""
        return self._map(WEIGHTS, self.num_entries) if self.about.has_weights else None

    @cached_property
    def features(self) -> Features | None:
        """Features of its rows, dense or CSR, or None, (num_rows, num_features)."""
        about = self.about.features
        if about is None:
            return None
        if not about.is_sparse:
            return self._map(FEATURES, self.num_rows, about.num_features)
        values, columns = (self._map(name, self.record.num_values) for name in (FEATURE_VALUES, FEATURE_COLUMNS))
        return make_csr(values, columns, self._map(FEATURE_INDPTR, self.num_rows + 1), about.num_features)

    @cached_property
    def labels(self) -> IntArray | None:
        """Class of each of its rows, -1 where unknown, or None, (num_rows,)."""
        return self._map(LABELS, self.num_rows) if self.about.has_labels else None

    @property
    def ids(self) -> NodeIds:
        """Node ids of its rows, int64 or str; these are node numbers if the graph has no ids."""
        if self.about.ids == "strings":
            ids: NodeIds = self.id_array().to_numpy(zero_copy_only=False)
            return ids
        return self._numbers

    def id_array(self, start: int = 0, stop: int | None = None) -> pa.Array:
        """Return ids as an Arrow array, without a copy.

        Parameters
        ----------
        start, stop : int
            Rows of the part, from 0; all by default.

        Returns
        -------
        pyarrow.Array of int64 or large_string
        """
        stop = self.num_rows if stop is None else stop
        if self.about.ids != "strings":
            return pa.array(self._numbers[start:stop])
        offsets, text = self._id_text
        taken = pa.py_buffer(offsets[start : stop + 1])
        return pa.LargeStringArray.from_buffers(max(stop - start, 0), taken, pa.py_buffer(text))

    @cached_property
    def _numbers(self) -> IntArray:
        if self.about.ids == "rows":
            return np.arange(self.rows.start, self.rows.stop)
        return self._map(IDS, self.num_rows)

    @cached_property
    def _id_text(self) -> tuple[IntArray, NDArray[np.uint8]]:
        offsets = self._map(ID_OFFSETS, self.num_rows + 1)
        return offsets, self._map(ID_TEXT, int(offsets[-1]))

    def _map(self, name: str, *shape: int) -> NDArray[Any]:
        array = map_array(self.path / name)
        if array.shape != shape or array.dtype != DTYPES[name]:
            raise ReadError(
                f"{self.path / name} is damaged: it must have shape {shape} and type {DTYPES[name]}; it has "
                f"{array.shape} and {array.dtype}"
            )
        return array

    # -- blocks ----------------------------------------------------------------------------------------------------

    def block(self, start: int = 0, stop: int | None = None) -> GraphBlock:
        """Return some of its rows.

        Parameters
        ----------
        start, stop : int
            Rows of the part, from 0; all by default.

        Returns
        -------
        GraphBlock
        """
        stop = self.num_rows if stop is None else stop
        first, last = int(self.indptr[start]), int(self.indptr[stop])
        return GraphBlock(
            rows=self.rows[start:stop],
            num_nodes=self.about.num_nodes,
            indptr=self.indptr[start : stop + 1] - first,
            columns=self.columns[first:last],
            weights=None if self.weights is None else self.weights[first:last],
            features=self._slice_features(start, stop),
            labels=None if self.labels is None else self.labels[start:stop],
        )

    def _slice_features(self, start: int, stop: int) -> Features | None:
        x = self.features
        if not isinstance(x, sp.csr_array):
            return None if x is None else x[start:stop]
        first, last = int(x.indptr[start]), int(x.indptr[stop])
        # scipy copies the rows that it selects.
        indptr = x.indptr[start : stop + 1] - x.indptr[start]
        return make_csr(x.data[first:last], x.indices[first:last], indptr, x.shape[1])

    def blocks(self, num_rows: int) -> Iterator[GraphBlock]:
        """Iterate over its rows, a block at a time.

        Parameters
        ----------
        num_rows : int
            Rows of a block; the last one may have fewer.

        Yields
        ------
        GraphBlock
        """
        for start in range(0, self.num_rows, num_rows):
            yield self.block(start, min(start + num_rows, self.num_rows))


def make_csr(values: NDArray[Any], columns: Columns, indptr: IntArray, num_columns: int) -> sp.csr_array:
    """Return a read-only CSR array of arrays that are not copied.

    Parameters
    ----------
    values, columns : ndarray of shape (num_values,)
        Columns are copied if there are 2^31 values or more: scipy has one type for both indices.
    indptr : ndarray of shape (n_rows + 1,)
    num_columns : int

    Returns
    -------
    csr_array of shape (n_rows, num_columns)
    """
    if len(values) <= np.iinfo(columns.dtype).max:
        indptr = indptr.astype(columns.dtype)
    matrix = sp.csr_array((values, columns, indptr), shape=(len(indptr) - 1, num_columns), copy=False)
    for array in (matrix.data, matrix.indices, matrix.indptr):
        array.flags.writeable = False
    return matrix
