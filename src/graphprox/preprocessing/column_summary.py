"""What became of the columns of a table of features."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import pyarrow as pa

from graphprox.errors import AssumedInputWarning, GraphError
from graphprox.preprocessing.columns import IGNORED, NUMBER, AnyColumn, fit_column
from graphprox.preprocessing.columns.category import CategoryColumn
from graphprox.preprocessing.encoded_table import EncodedTable
from graphprox.preprocessing.table_cells import to_array


@dataclass(frozen=True)
class ColumnSummary:
    """What became of a column of features.

    Attributes
    ----------
    name : str
        Its name.
    kind : str
        ``"number"``, ``"category"``, ``"boolean"``, ``"date"`` or ``"ignored"``.
    features : int
        Number of features that were made of it.
    missing : int
        Number of nodes without a value; 0 if the column is ignored.
    values : int or None
        Number of different categories.
    rare : int or None
        Number of those that share a feature.
    reason : str
        Why it is ignored; empty if it is not.
    """

    name: str
    kind: str
    features: int = 1
    missing: int = 0
    values: int | None = None
    rare: int | None = None
    reason: str = ""


def summarize_columns(
    table: EncodedTable | None, feature_names: Sequence[str] | None = None
) -> tuple[ColumnSummary, ...]:
    """Say what became of the columns of a table of features.

    Parameters
    ----------
    table : EncodedTable or None
        The table that a graph has kept, if there is one.
    feature_names : sequence of str, optional
        Names of the features of a graph without one, which are numbers.

    Returns
    -------
    tuple of ColumnSummary

    Examples
    --------
    >>> from graphprox.preprocessing import encode_table
    >>> table = encode_table(pa.table({"age": [31, None, 52], "city": ["Paris", "Rome", "Paris"]}))
    >>> [(each.name, each.kind, each.missing, each.values) for each in summarize_columns(table)]
    [('age', 'number', 1, None), ('city', 'category', 0, 2)]
    """
    if table is None or table.encoder is None:
        return tuple(ColumnSummary(name, NUMBER) for name in feature_names or ())
    used = [_summarize(each, table.columns) for each in table.encoder.columns]
    return (*used, *(_summarize_ignored(name, table) for name in table.encoder.ignored))


def _summarize(column: AnyColumn, table: pa.Table | None) -> ColumnSummary:
    missing = 0 if table is None else int(column.find_missing(to_array(table.column(column.name))).sum())
    values = rare = None
    if isinstance(column, CategoryColumn):
        rare = len(column.rare)
        values = len(column.categories) + rare
    return ColumnSummary(column.name, column.type, len(column.feature_names), missing, values, rare)


def _summarize_ignored(name: str, table: EncodedTable) -> ColumnSummary:
    """Find out again why a column is ignored: it is not part of a model."""
    reason = "as given" if table.kinds.get(name) == IGNORED else ""
    if table.columns is not None and name in table.columns.column_names:
        with suppress(GraphError), warnings.catch_warnings(action="ignore", category=AssumedInputWarning):
            cells = table.columns.column(name).drop_null()  # nodes without a row came later
            found = fit_column(name, cells, table.kinds.get(name))
            reason = found if isinstance(found, str) else ""
    return ColumnSummary(name, IGNORED, features=0, reason=reason)
