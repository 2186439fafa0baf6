"""Features in a table that is read in blocks of rows."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from graphprox._utils.arrays import Features, FloatArray
from graphprox.errors import IgnoredInputWarning, ReadError
from graphprox.io.joins import MAX_MARKED
from graphprox.io.sharding.feature_source import Facts, FeatureLayout, FeatureSource, empty_rows, repeat_mean
from graphprox.io.sharding.label_stage import row_numbers
from graphprox.io.sharding.table_stream import RereadError, TableStream
from graphprox.io.tables.table import Table
from graphprox.io.tables.text import ConversionError
from graphprox.preprocessing.column_statistics import WrongCellError
from graphprox.preprocessing.columns import AnyColumn
from graphprox.preprocessing.table_cells import CellError, to_array
from graphprox.preprocessing.table_encoder import check_names, find_missing_rows
from graphprox.preprocessing.table_statistics import TableStatistics, is_sparse, merge_statistics

_NUMBERS, _TABLE = "numbers", "table"


class TableSource(FeatureSource):
    """A table of features.

    All columns are read as numbers, and the table is read again if a cell is missing or something else.

    Parameters
    ----------
    stream : TableStream
        An id, unless rows have none, and features.
    has_ids : bool
    """

    def __init__(self, stream: TableStream, *, has_ids: bool) -> None:
        self.name, self.files = str(stream.path), stream.files
        self._stream, self._has_ids = stream, has_ids
        self._kind = _NUMBERS
        self._layout: FeatureLayout | None = None

    @property
    def is_integer(self) -> bool:
        """Whether ids are integers."""
        return self._stream.is_integer or not self._has_ids

    @property
    def num_rows(self) -> int | None:
        """Number of rows, if it is known."""
        return self._stream.num_rows

    @property
    def mode(self) -> str:
        """Whether columns are numbers, and how ids are parsed."""
        return f"{self._kind}; {self._stream.mode}"

    def adapt(self, mode: str) -> None:
        """Read rows as an earlier process has found out that they must be."""
        self._kind, _, ids = mode.partition("; ")
        self._stream.adapt(ids)

    # -- first reading ---------------------------------------------------------------------------------------------

    def scan(self, num_rows: int, num_values: int, *, skip: int) -> Iterator[tuple[pa.Array, Facts]]:
        """Iterate over ids, and statistics of the columns."""
        size = max(1, min(num_rows, num_values // max(1, self._num_columns)))
        if self._kind == _TABLE:
            for table in self._stream.blocks(size, values=None, skip=skip):
                yield self._get_ids(table), {"table": TableStatistics.of(self._to_arrow(table)).to_dict()}
            return
        try:
            for table in self._stream.blocks(size, values=pa.float32(), skip=skip):
                x = self._to_matrix(table)
                if x is None:
                    break
                yield self._get_ids(table), self._describe(table, x)
            else:
                return
        except (ConversionError, ReadError):
            # Errors of the table itself are raised again when it is read as one of other columns.
            if self._stream.take_ids_as_text():
                raise RereadError from None
        self._kind = _TABLE
        self._stream.reset_ids()
        raise RereadError

    def _describe(self, table: Table, x: FloatArray) -> Facts:
        """Return what must be known of a block of numbers."""
        facts: Facts = {"num_nonzero": int(np.count_nonzero(x))}
        if self._can_be_marked:
            facts["table"] = TableStatistics.of(self._to_arrow(table)).to_dict()
        return facts

    @property
    def _can_be_marked(self) -> bool:
        """Whether columns of numbers get marks of missing ones, as nodes without a row would need them."""
        return self._feature_names is not None and self._num_columns <= MAX_MARKED

    @property
    def _feature_names(self) -> tuple[str, ...] | None:
        """Names of the columns, if they have different ones."""
        names = None if self._stream.names is None else self._stream.names[self._has_ids :]
        return None if names is None or len(set(names)) < len(names) else names

    def _to_arrow(self, table: Table) -> pa.Table:
        """Return the features of a block."""
        columns = table.columns[self._has_ids :]
        names = [table.column(i + self._has_ids) for i in range(len(columns))]
        if self._stream.names is not None:
            names = list(self._stream.names[self._has_ids :])
            check_names(names)
        return pa.table(list(columns), names=names)

    @property
    def _num_columns(self) -> int:
        return self._stream.num_columns - self._has_ids

    def _get_ids(self, table: Table) -> pa.Array:
        return table.columns[0] if self._has_ids else row_numbers(table.first_row, len(table.columns[0]))

    def _to_matrix(self, table: Table) -> FloatArray | None:
        """Return columns of numbers as a matrix, or None if one is missing."""
        columns = table.columns[self._has_ids :]
        if not columns:
            raise ReadError(f"each row of {self.name} must contain an id and features; it contains the id alone")
        if any(column.null_count for column in columns):
            return None
        x = np.empty((len(columns[0]), len(columns)), np.float32)
        for i, column in enumerate(columns):
            x[:, i] = column.to_numpy(zero_copy_only=False)
        return None if np.isnan(x.min(initial=0)) else x

    def finish(self, facts: Iterable[Facts], num_missing: int) -> FeatureLayout:
        """Return what the columns are."""
        rows = num_nonzero = 0
        statistics: TableStatistics | None = None
        for each in facts:
            rows, num_nonzero = rows + each["rows"], num_nonzero + each.get("num_nonzero", 0)
            if "table" in each:
                block = TableStatistics.from_dict(each["table"])
                statistics = block if statistics is None else merge_statistics([statistics, block])
        sparse = is_sparse(num_nonzero, rows, self._num_columns)
        layout = FeatureLayout(self._num_columns, sparse, self._feature_names)
        if statistics is not None and self._kind == _TABLE:
            layout = self._fit(statistics, 0)
        is_marked = layout.encoder is not None or self._can_be_marked
        if statistics is not None and num_missing and is_marked:
            with warnings.catch_warnings(action="ignore", category=IgnoredInputWarning):  # of the table itself
                layout = self._fit(statistics, num_missing)
        self._layout = layout
        return layout

    def _fit(self, statistics: TableStatistics, num_missing: int) -> FeatureLayout:
        try:
            found = statistics.fit(num_missing, self._count_missing_rows, numbers_as_text=not self._stream.is_typed)
        except WrongCellError as wrong:
            self._find_wrong_cell(wrong)
            raise
        names = found.names if found.encoder is not None else self._feature_names
        return FeatureLayout(len(found.names), found.is_sparse, names, found.encoder)

    def _count_missing_rows(self, columns: Sequence[AnyColumn]) -> int:
        """Count the rows that have no cell in some columns."""
        size = max(1, 2**20 // self._num_columns)
        values = pa.float32() if self._kind == _NUMBERS else None
        tables = map(self._to_arrow, self._stream.blocks(size, values=values))
        return sum(int(find_missing_rows(table, columns).sum()) for table in tables)

    def _find_wrong_cell(self, wrong: WrongCellError) -> None:
        """Raise an error that names the first wrong cell of a column."""
        for table in self._stream.blocks(max(1, 2**20 // self._num_columns), values=None):
            block = self._to_arrow(table)
            try:
                wrong.check(to_array(block.column(wrong.name)))
            except CellError as error:
                position = block.column_names.index(wrong.name) + self._has_ids
                raise table.locate(error, position) from None

    # -- second reading --------------------------------------------------------------------------------------------

    def rows(self, num_values: int, *, skip: int) -> Iterator[Features]:
        """Iterate over blocks of rows as numbers."""
        layout = self._layout
        assert layout is not None, "columns must be known before rows are read"  # noqa: S101
        size = max(1, num_values // max(self._num_columns, layout.num_features))
        values = pa.float32() if self._kind == _NUMBERS else None
        for table in self._stream.blocks(size, values=values, skip=skip):
            x = self._encode(self._to_arrow(table), layout) if self._is_encoded(layout) else self._to_matrix(table)
            if x is None:
                raise ReadError(f"{self.name} must not change while it is read; it has other cells now")
            yield x

    def _is_encoded(self, layout: FeatureLayout) -> bool:
        return layout.encoder is not None or self._kind == _TABLE

    def _encode(self, block: pa.Table, layout: FeatureLayout) -> Features:
        """Return the numbers of a block."""
        if layout.encoder is None:  # numbers as text
            cells = (pc.utf8_trim_whitespace(column.combine_chunks()) for column in block.columns)
            return np.column_stack([cell.cast(pa.float32()).to_numpy(zero_copy_only=False) for cell in cells])
        if not layout.encoder.columns:  # all rows are equal
            return np.zeros((block.num_rows, 1), np.float32)
        x = layout.encoder.transform(block)
        if layout.is_sparse or isinstance(x, np.ndarray):
            return x
        dense: FloatArray = x.toarray()
        return dense

    def missing(self, num_rows: int) -> Features:
        """Return rows of nodes that have none: missing cells, means, or rows without entries if they are sparse."""
        layout = self._layout
        if layout is not None and layout.encoder is not None:
            names = [column.name for column in layout.encoder.columns]
            block = (
                pa.table([pa.nulls(num_rows)] * len(names), names=names)
                if names
                else pa.table({"": pa.nulls(num_rows)})
            )
            return self._encode(block, layout)
        if layout is not None and layout.is_sparse:
            return empty_rows(num_rows, self._num_columns)
        return repeat_mean(self._mean, num_rows)

    @cached_property
    def _mean(self) -> Any:
        """Mean of each column."""
        total, count = np.zeros(self._num_columns), 0
        for block in self.rows(2**20, skip=0):
            total += np.asarray(block).sum(axis=0, dtype=np.float64)
            count += block.shape[0]
        return total / count
