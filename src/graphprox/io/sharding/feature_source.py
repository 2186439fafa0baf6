"""Features that are read in blocks of rows: the interface of all formats, and matrices of NumPy."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import scipy.sparse as sp

from graphprox._utils.arrays import Features
from graphprox.graph.arguments import check_features
from graphprox.io.attributes import NodeFeatures
from graphprox.preprocessing.table_encoder import TableEncoder

Facts = dict[str, Any]


@dataclass(frozen=True)
class FeatureLayout:
    """What the columns of features are.

    Parameters
    ----------
    num_features : int
    is_sparse : bool
    names : tuple of str or None
    encoder : TableEncoder or None
        What the columns of a table contained, if they were not numbers alone.
    """

    num_features: int
    is_sparse: bool
    names: tuple[str, ...] | None = None
    encoder: TableEncoder | None = None


class FeatureSource(ABC):
    """Features that are read twice: first their ids, and what the columns are; then the numbers."""

    name: str  # the file
    files: list[Path]

    @property
    @abstractmethod
    def is_integer(self) -> bool:
        """Whether ids are integers."""

    @property
    @abstractmethod
    def num_rows(self) -> int | None:
        """Number of rows, if it is known."""

    @property
    def mode(self) -> str:
        """How rows are read, as `adapt` takes it."""
        return ""

    def adapt(self, mode: str) -> None:  # noqa: B027 - most sources have one mode
        """Read rows as an earlier process has found out that they must be."""

    @abstractmethod
    def scan(self, num_rows: int, num_values: int, *, skip: int) -> Iterator[tuple[pa.Array, Facts]]:
        """Iterate over ids, and what must be known of the rows before they are written.

        Parameters
        ----------
        num_rows, num_values : int
            Rows of a block, and values in memory.
        skip : int
            Number of rows to skip.

        Yields
        ------
        ids : pyarrow.Array
        facts : dict
            What JSON can contain.
        """

    @abstractmethod
    def finish(self, facts: Iterable[Facts], num_missing: int) -> FeatureLayout:
        """Decide what the columns are.

        Parameters
        ----------
        facts : iterable of dict
            Those of all blocks.
        num_missing : int
            Number of nodes without a row, which follow the others.

        Returns
        -------
        FeatureLayout
        """

    @abstractmethod
    def rows(self, num_values: int, *, skip: int) -> Iterator[Features]:
        """Iterate over blocks of rows as numbers.

        Parameters
        ----------
        num_values : int
            Number of values of a block.
        skip : int
            Number of rows to skip.

        Yields
        ------
        ndarray or csr_array of shape (n_rows, num_features)
            Finite float32 numbers, or an array of anything else, which is an error.
        """

    @abstractmethod
    def missing(self, num_rows: int) -> Features:
        """Return rows of nodes that have none.

        Parameters
        ----------
        num_rows : int

        Returns
        -------
        ndarray or csr_array of shape (num_rows, num_features)
        """


class MatrixSource(FeatureSource):
    """A matrix in memory, or in a memory map.

    Parameters
    ----------
    features : NodeFeatures
    path : Path
    """

    def __init__(self, features: NodeFeatures, path: Path) -> None:
        self.name, self.files = str(path), [path]
        self._ids, self._x = features.ids, features.x

    @property
    def is_integer(self) -> bool:
        """Whether ids are integers."""
        return bool(pa.types.is_integer(self._ids.type))

    @property
    def num_rows(self) -> int:
        """Number of rows."""
        return len(self._ids)

    def scan(self, num_rows: int, num_values: int, *, skip: int) -> Iterator[tuple[pa.Array, Facts]]:  # noqa: ARG002
        """Iterate over ids."""
        for start in range(skip, len(self._ids), num_rows):
            yield self._ids[start : start + num_rows], {}

    def finish(self, facts: Iterable[Facts], num_missing: int) -> FeatureLayout:  # noqa: ARG002
        """Return what the columns are."""
        check_features(self._x[:1], None)  # which has two dimensions, and numbers
        return FeatureLayout(int(self._x.shape[1]), sp.issparse(self._x))

    def rows(self, num_values: int, *, skip: int) -> Iterator[Features]:
        """Iterate over blocks of rows."""
        size = rows_per_block(num_values, self._x)
        for start in range(skip, len(self._ids), size):
            yield self._x[start : start + size]

    def missing(self, num_rows: int) -> Features:
        """Return rows of means, or rows without entries if the matrix is sparse."""
        if isinstance(self._x, sp.csr_array):
            return empty_rows(num_rows, self._x.shape[1])
        return repeat_mean(np.asarray(self._x).mean(axis=0, dtype=np.float64), num_rows)


def rows_per_block(num_values: int, x: Any) -> int:
    """Return how many rows of a matrix have some number of values."""
    rows, columns = x.shape
    filled = x.nnz / max(rows, 1) if isinstance(x, sp.csr_array) else columns
    return max(1, int(num_values // max(filled, 1)))


def empty_rows(num_rows: int, num_columns: int) -> sp.csr_array:
    """Return rows without entries."""
    none = np.empty(0, np.float32), np.empty(0, np.int32), np.zeros(num_rows + 1, np.int32)
    return sp.csr_array(none, shape=(num_rows, num_columns))


def repeat_mean(mean: Any, num_rows: int) -> Features:
    """Return equal rows."""
    row: Features = np.tile(np.asarray(mean).astype(np.float32), (num_rows, 1))
    return row
