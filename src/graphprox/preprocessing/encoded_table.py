"""A table as numbers, with what is needed to make the same numbers of its rows by another encoder."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from graphprox._utils.arrays import Features, ReadOnlyArrays

if TYPE_CHECKING:
    import pyarrow as pa

    from graphprox.preprocessing.table_encoder import TableEncoder


CONSTANT_TABLE = "(all rows are equal)"  # the only feature of a table whose columns do not differ between nodes


@dataclass(frozen=True, eq=False)
class EncodedTable(ReadOnlyArrays):
    """The rows of a table as numbers.

    Parameters
    ----------
    x : ndarray or csr_array of shape (n_rows, num_features)
        The numbers.
    feature_names : tuple of str or None
        Name of each column of ``x``.
    encoder : TableEncoder or None
        What the columns of the table contain; None if they are numbers without missing ones.
    columns : pyarrow.Table or None
        The table itself, if there is an encoder: of numbers, ``x`` has all that is known.
    """

    x: Features
    feature_names: tuple[str, ...] | None = None
    encoder: TableEncoder | None = None
    columns: pa.Table | None = None

    def take(self, rows: Any) -> EncodedTable:
        """Select rows.

        Parameters
        ----------
        rows : ndarray of shape (n_selected,)
            Their positions.

        Returns
        -------
        EncodedTable
        """
        columns = None if self.columns is None else self.columns.take(np.asarray(rows, np.int64))
        return replace(self, x=self.x[rows], columns=columns)


def encode_table(table: pa.Table, encoder: TableEncoder | None = None) -> EncodedTable:
    """Return the rows of a table as numbers.

    Parameters
    ----------
    table : pyarrow.Table
        Columns of any kind, without that of the ids.
    encoder : TableEncoder, optional
        What the columns contain. By default it is found out; a table of numbers without missing ones is taken as it is.

    Returns
    -------
    EncodedTable

    Examples
    --------
    >>> import pyarrow as pa
    >>> encode_table(pa.table({"age": [31, 52], "member": ["yes", "no"]})).x.tolist()
    [[31.0, 1.0], [52.0, 0.0]]
    """
    from graphprox.preprocessing.table_encoder import ConstantTableError, TableEncoder

    if encoder is None or encoder.has_numbers_only:
        numbers = _to_numbers(table)
        if numbers is not None and (encoder is None or numbers.feature_names is None):
            return numbers
        if numbers is not None and encoder is not None and numbers.feature_names is not None:
            return EncodedTable(encoder.select(numbers.x, numbers.feature_names), encoder.feature_names)
    if encoder is None:
        try:
            encoder = TableEncoder.fit(table)
        except ConstantTableError:
            # Rows that a fitted model knows how to read; `Preprocessor.fit` raises the error if there is none.
            unread = TableEncoder(columns=(), ignored=tuple(table.column_names))
            return EncodedTable(np.zeros((table.num_rows, 1), np.float32), (CONSTANT_TABLE,), unread, table)
    return EncodedTable(encoder.transform(table), encoder.feature_names, encoder, table)


def _to_numbers(table: pa.Table) -> EncodedTable | None:
    """Return a table of numbers as it is, or None if a column contains something else or a cell is missing."""
    import pyarrow as pa

    from graphprox.preprocessing.table_cells import is_number, to_array
    from graphprox.preprocessing.table_encoder import to_features

    if not table.num_columns or any(
        not is_number(each.type) or pa.types.is_boolean(each.type) or each.null_count for each in table.columns
    ):
        return None
    x = np.empty((table.num_rows, table.num_columns), np.float32)
    for i, column in enumerate(table.columns):
        x[:, i] = to_array(column).cast(pa.float32(), safe=False).to_numpy(zero_copy_only=False)
    if x.size and np.isnan(x.min()):
        return None
    names = tuple(table.column_names)
    return EncodedTable(to_features(x), names if len(set(names)) == len(names) else None)
