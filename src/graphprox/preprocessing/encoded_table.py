"""A table as numbers, with what is needed to make the same numbers of its rows by another encoder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from graphprox._utils.arrays import Features, ReadOnlyArrays
from graphprox.errors import GraphError, ParameterError

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
        What the columns of the table contain; None if they are numbers without missing ones, and none is ignored.
    columns : pyarrow.Table or None
        The table itself, without what ``kinds`` ignore; None if it has numbers only, of which ``x`` has all that is
        known.
    kinds : mapping of str to str
        Kinds of columns that were given, and not found out.
    """

    x: Features
    feature_names: tuple[str, ...] | None = None
    encoder: TableEncoder | None = None
    columns: pa.Table | None = None
    kinds: Mapping[str, str] = field(default_factory=dict)

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


def encode_table(
    table: pa.Table, encoder: TableEncoder | None = None, *, kinds: Mapping[str, str] | None = None
) -> EncodedTable:
    """Return the rows of a table as numbers.

    Parameters
    ----------
    table : pyarrow.Table
        Columns of any kind, without that of the ids.
    encoder : TableEncoder, optional
        What the columns contain. By default it is found out; a table of numbers without missing ones is taken as it is.
    kinds : mapping of str to str, optional
        Kind of the columns that are not to be found out, by their names: ``"number"``, ``"category"``, ``"boolean"``,
        ``"date"``, or ``"ignored"`` for what is no feature.

    Returns
    -------
    EncodedTable

    Examples
    --------
    >>> import pyarrow as pa
    >>> encode_table(pa.table({"age": [31, 52], "member": ["yes", "no"]})).x.tolist()
    [[31.0, 1.0], [52.0, 0.0]]
    >>> encode_table(pa.table({"age": [31, 52], "zip": [75001, 69001]}), kinds={"zip": "category"}).feature_names
    ('age', 'zip=69001', 'zip=75001')
    """
    from graphprox.preprocessing.columns import check_kinds

    if kinds and encoder is not None:
        raise ParameterError("kinds must not be given with an encoder, which has those of its table; got both")
    check_kinds(kinds or {}, table.column_names)
    return encode_columns(table, encoder, kinds or {})


def encode_columns(table: pa.Table, encoder: TableEncoder | None, kinds: Mapping[str, str]) -> EncodedTable:
    """Return the rows of a table as numbers, as `encode_table` does, if columns that are ignored may be left out.

    Parameters
    ----------
    table : pyarrow.Table
    encoder : TableEncoder or None
    kinds : mapping of str to str
        Kinds of columns, and ``"ignored"`` for those that are left out.

    Returns
    -------
    EncodedTable
    """
    from graphprox.preprocessing.codes import warn_about_codes
    from graphprox.preprocessing.columns import IGNORED, NUMBER
    from graphprox.preprocessing.table_encoder import ConstantTableError, TableEncoder, warn_about_empty_rows

    ignored = [name for name, kind in kinds.items() if kind == IGNORED]
    table = table.select([name for name in table.column_names if name not in ignored]) if ignored else table
    if ignored and not table.num_columns:
        raise GraphError("a table of features must have a column that is not ignored; all of them are")
    if encoder is None:
        warn_about_codes(table, kinds)
    has_numbers = {NUMBER, IGNORED}.issuperset(kinds.values()) if encoder is None else encoder.has_numbers_only
    if has_numbers:
        numbers = _to_numbers(table)
        if numbers is not None and (encoder is None or numbers.feature_names is None):
            return _remember_ignored(numbers, kinds, ignored)
        if numbers is not None and encoder is not None and numbers.feature_names is not None:
            return EncodedTable(encoder.select(numbers.x, numbers.feature_names), encoder.feature_names)
    if encoder is None:
        try:
            encoder = TableEncoder.fit(table, kinds=kinds)
        except ConstantTableError:
            # Rows that a fitted model knows how to read; `Preprocessor.fit` raises the error if there is none.
            unread = TableEncoder(columns=(), ignored=(*table.column_names, *ignored))
            x = np.zeros((table.num_rows, 1), np.float32)
            return EncodedTable(x, (CONSTANT_TABLE,), unread, table, dict(kinds))
    else:
        warn_about_empty_rows(table, encoder)
    return EncodedTable(encoder.transform(table), encoder.feature_names, encoder, table, dict(kinds))


def _remember_ignored(numbers: EncodedTable, kinds: Mapping[str, str], ignored: Sequence[str]) -> EncodedTable:
    """Return a table of numbers with an encoder that knows which columns were ignored, if there are any."""
    from graphprox.preprocessing.table_encoder import TableEncoder

    if not ignored or numbers.feature_names is None:
        return replace(numbers, kinds=dict(kinds))
    means = np.asarray(numbers.x.mean(axis=0, dtype=np.float64)).ravel()
    means[~np.isfinite(means)] = 0  # of infinite numbers, which Graph rejects
    encoder = TableEncoder.of_numbers(numbers.feature_names, means, ignored=ignored)
    return replace(numbers, encoder=encoder, kinds=dict(kinds))


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
