"""Statistics of a table that is read in blocks, by which it is encoded as `encode_table` encodes one in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from graphprox.preprocessing.column_statistics import ColumnStatistics, Fitted
from graphprox.preprocessing.columns import AnyColumn
from graphprox.preprocessing.encoded_table import CONSTANT_TABLE
from graphprox.preprocessing.table_encoder import MAX_SPARSE_DENSITY, ConstantTableError, TableEncoder, select_columns


@dataclass(frozen=True)
class TableLayout:
    """What becomes of a table.

    Attributes
    ----------
    names : tuple of str
        Name of each column of numbers.
    encoder : TableEncoder or None
        What the columns contain; None if they are numbers without missing ones.
    is_sparse : bool
        Whether fewer than a tenth of the numbers are nonzero.
    """

    names: tuple[str, ...]
    encoder: TableEncoder | None
    is_sparse: bool


class TableStatistics:
    """Statistics of the columns of a table.

    Parameters
    ----------
    columns : mapping of str to ColumnStatistics

    Examples
    --------
    >>> first = TableStatistics.of(pa.table({"age": [31, None], "city": ["Paris", "Rome"]}))
    >>> first.add(TableStatistics.of(pa.table({"age": [52], "city": ["Paris"]})))
    >>> first.fit(0, lambda columns: 0).names
    ('age', 'age is missing', 'city=Paris', 'city=Rome')
    """

    def __init__(self, columns: Mapping[str, ColumnStatistics]) -> None:
        self.columns = dict(columns)

    @classmethod
    def of(cls, table: pa.Table) -> TableStatistics:
        """Return the statistics of a block.

        Parameters
        ----------
        table : pyarrow.Table
        """
        return cls({name: ColumnStatistics.of(name, table.column(name)) for name in table.column_names})

    def add(self, other: TableStatistics) -> None:
        """Add those of another block, of the same columns.

        Parameters
        ----------
        other : TableStatistics
        """
        for name, column in self.columns.items():
            column.add(name, other.columns[name])

    def fit(
        self,
        num_missing: int,
        count_missing_rows: Callable[[Sequence[AnyColumn]], int],
        *,
        numbers_as_text: bool = False,
    ) -> TableLayout:
        """Find out what the columns contain.

        Parameters
        ----------
        num_missing : int
            Number of rows without any cell that follow those of the table.
        count_missing_rows : callable
            Function that counts the rows of the table without a cell in some columns.
        numbers_as_text : bool, default=False
            Whether strings that are numbers in all columns are taken as they are, as those of a text file.

        Returns
        -------
        TableLayout

        Raises
        ------
        WrongCellError
            If a column of numbers or dates has a cell that is none.
        GraphError
            If the columns say nothing about nodes, or one of them contains text or too many words.
        """
        rows = next(iter(self.columns.values())).rows
        if not num_missing and all(each.are_numbers(as_text=numbers_as_text) for each in self.columns.values()):
            nonzero = sum(each.num_numbers_nonzero for each in self.columns.values())
            return TableLayout(tuple(self.columns), None, is_sparse(nonzero, rows, len(self.columns)))
        found = {name: each.add_missing(num_missing).fit(name) for name, each in self.columns.items()}
        try:
            columns, ignored = select_columns({name: each.column for name, each in found.items()})
        except ConstantTableError:
            unread = TableEncoder(columns=(), ignored=tuple(self.columns))
            return TableLayout((CONSTANT_TABLE,), unread, is_sparse=False)
        empty = self._count_empty(columns, count_missing_rows)
        if empty + num_missing and len(columns) > 1:
            marked = (self._mark(each, empty) for each in columns)
            encoder = TableEncoder(columns=tuple(marked), ignored=ignored, has_missing_rows=True)
        else:
            encoder = TableEncoder(columns=columns, ignored=ignored)
        nonzero = self._count_nonzero(encoder, found, empty, num_missing)
        names = encoder.feature_names
        return TableLayout(names, encoder, is_sparse(nonzero, rows + num_missing, len(names)))

    def _count_empty(self, columns: Sequence[AnyColumn], count: Callable[[Sequence[AnyColumn]], int]) -> int:
        """Count the rows of the table without a cell in any of the columns."""
        may_be = all(self.columns[each.name].num_missing for each in columns)
        return count(columns) if may_be and len(columns) > 1 else 0

    def _mark(self, column: AnyColumn, empty: int) -> AnyColumn:
        """Return a column whose mark of missing cells is that of rows which have others."""
        marked: AnyColumn = column.model_copy(update={"has_missing": self.columns[column.name].num_missing > empty})
        return marked

    def _count_nonzero(self, encoder: TableEncoder, found: Mapping[str, Fitted], empty: int, num_missing: int) -> int:
        """Count the numbers other than zero that the cells become."""
        total = (empty + num_missing) * encoder.has_missing_rows
        for column in encoder.columns:
            fitted = found[column.name]
            missing = self.columns[column.name].num_missing + num_missing
            total += fitted.num_nonzero + missing * (fitted.missing_value != 0) + missing * column.has_missing
        return total

    # -- JSON ------------------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Return the statistics as what JSON can contain."""
        return {name: column.to_dict() for name, column in self.columns.items()}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> TableStatistics:
        """Return statistics that `to_dict` has described.

        Parameters
        ----------
        stored : mapping
        """
        return cls({name: ColumnStatistics.from_dict(each) for name, each in stored.items()})


def merge_statistics(blocks: Iterable[TableStatistics]) -> TableStatistics:
    """Return the statistics of all blocks together.

    Parameters
    ----------
    blocks : iterable of TableStatistics
        At least one.

    Returns
    -------
    TableStatistics
    """
    remaining = iter(blocks)
    found = next(remaining)
    for each in remaining:
        found.add(each)
    return found


def is_sparse(num_nonzero: int, rows: int, columns: int) -> bool:
    """Return whether numbers are stored as a sparse matrix: if fewer than a tenth of them are nonzero.

    Parameters
    ----------
    num_nonzero, rows, columns : int
    """
    return num_nonzero < MAX_SPARSE_DENSITY * rows * columns
