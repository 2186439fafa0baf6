"""From a table with columns of any kind to a matrix of numbers, and from other tables to the same columns."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Self

import numpy as np
import pyarrow as pa
import scipy.sparse as sp
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, ValidationError

from graphprox._utils.arrays import Features, FloatArray
from graphprox._utils.stacklevel import warn
from graphprox._utils.suggestions import did_you_mean
from graphprox.errors import AssumedInputWarning, GraphError, IgnoredInputWarning
from graphprox.preprocessing.columns import EMPTY, IGNORED, AnyColumn, fit_column
from graphprox.preprocessing.columns.number import NumberColumn
from graphprox.preprocessing.table_cells import CellError, to_array

MAX_SPARSE_DENSITY = 0.1  # a table with fewer nonzeros becomes a sparse matrix
_KINDS = {"number": "numbers", "boolean": "yes and no", "category": "categories", "date": "dates"}
MISSING_ROW = "row is missing"
MAX_EMPTY = 0.1  # share of rows without cells
NO_KINDS: Mapping[str, str] = MappingProxyType({})
_NUM_NAMES = 5  # names of columns in a message


class ConstantTableError(GraphError):
    """No column of a table says anything about a node."""


class TableEncoder(BaseModel):
    """What the columns of a table contain, by which the rows of any table with these columns become numbers.

    Parameters
    ----------
    columns : tuple of ColumnEncoder
        What was found in each column; ``NumberColumn``, ``BooleanColumn``, ``CategoryColumn`` or ``DateColumn``.
    ignored : tuple of str
        Names of columns that say nothing about a node.
    has_missing_rows : bool
        Whether some rows had no cells at all, which then share a column of zeros and ones.

    Examples
    --------
    >>> table = pa.table({"age": [31, None, 52], "city": ["Paris", "Rome", "Paris"]})
    >>> encoder = TableEncoder.fit(table)
    >>> encoder.feature_names
    ('age', 'age is missing', 'city=Paris', 'city=Rome')
    >>> encoder.transform(table).tolist()
    [[31.0, 0.0, 1.0, 0.0], [41.5, 1.0, 0.0, 1.0], [52.0, 0.0, 1.0, 0.0]]
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    columns: tuple[AnyColumn, ...]
    ignored: tuple[str, ...] = ()
    has_missing_rows: bool = False

    @classmethod
    def fit(cls, table: pa.Table, *, kinds: Mapping[str, str] = NO_KINDS) -> Self:
        """Find out what the columns of a table contain.

        Parameters
        ----------
        table : pyarrow.Table
            A row for each node. Text is recognized as numbers, dates, yes and no, or categories.
        kinds : mapping of str to str, optional
            Kind of columns by their names, where that is known: ``"number"``, ``"category"``, ``"boolean"``, ``"date"``
            or ``"ignored"``.

        Returns
        -------
        TableEncoder

        Raises
        ------
        GraphError
            If a column contains text, or a column of numbers or dates has a cell that is none.

        Warns
        -----
        IgnoredInputWarning
            If a column says nothing about a node: it has the same value everywhere, or another one in every row.
        """
        check_names(table.column_names)
        left_out = tuple(name for name, kind in kinds.items() if kind == IGNORED)
        names = [name for name in table.column_names if name not in left_out]
        columns, ignored = select_columns(
            {name: fit_column(name, table.column(name), kinds.get(name)) for name in names}
        )
        missing = find_missing_rows(table, columns) if len(columns) > 1 else np.zeros(0, bool)
        if not missing.any():
            return cls(columns=columns, ignored=(*ignored, *left_out))
        present = table.filter(pa.array(~missing))
        marked = tuple(
            each.model_copy(update={"has_missing": each.has_missing and bool(find_missing_rows(present, [each]).any())})
            for each in columns
        )
        return cls(columns=marked, ignored=(*ignored, *left_out), has_missing_rows=True)

    @classmethod
    def of_numbers(cls, names: Sequence[str], means: NDArray[Any], *, ignored: Sequence[str] = ()) -> Self:
        """Return the encoder of a table of numbers without missing cells.

        Parameters
        ----------
        names : sequence of str
        means : ndarray of shape (num_features,)
            What becomes of a cell that is missing in another table.
        ignored : sequence of str, default=()
            Names of columns that are no features.

        Returns
        -------
        TableEncoder
        """
        return cls(
            columns=tuple(NumberColumn(name=name, mean=float(mean)) for name, mean in zip(names, means, strict=True)),
            ignored=tuple(ignored),
        )

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the columns of numbers, such as ``age``, ``age is missing`` and ``city=Paris``."""
        names = tuple(name for each in self.columns for name in each.feature_names)
        return (*names, MISSING_ROW) if self.has_missing_rows else names

    @property
    def has_numbers_only(self) -> bool:
        """Whether all columns are numbers, and none of them was missing."""
        return not (self.is_mixed or self.has_missing_rows or any(each.has_missing for each in self.columns))

    @property
    def is_mixed(self) -> bool:
        """Whether some columns are not numbers."""
        return not all(isinstance(each, NumberColumn) for each in self.columns)

    @property
    def is_quantity(self) -> NDArray[np.bool_]:
        """Whether each column of numbers measures something in a unit of its own, as ages and dates do."""
        flags = [flag for each in self.columns for flag in each.is_quantity]
        return np.array([*flags, False] if self.has_missing_rows else flags, dtype=bool)

    def transform(self, table: pa.Table) -> Features:
        """Return the rows of a table as numbers.

        Parameters
        ----------
        table : pyarrow.Table
            Columns are found by their names.

        Returns
        -------
        ndarray or csr_array of shape (n_rows, num_feature_names)
            Sparse if fewer than a tenth of the entries are nonzero.

        Raises
        ------
        GraphError
            If a column is missing, or contains something else than the fitted one.

        Warns
        -----
        IgnoredInputWarning
            If the table has other columns too, or categories that the fitted one did not have.
        """
        self._check_columns(table.column_names)
        x = np.empty((table.num_rows, len(self.feature_names)), np.float32)
        unseen, start = {}, 0
        for each in self.columns:
            column = to_array(table.column(each.name))
            stop = start + len(each.feature_names)
            try:
                x[:, start:stop] = each.transform(column)
            except CellError as error:
                rule = f"a column must contain {_KINDS[each.type]}, as that of the fitted table does"
                remedy = "correct the cell, leave it empty, or fit again if the column has changed"
                raise CellError(each.name, error.row, error.cell, rule, remedy) from None
            start = stop
            if found := each.find_unseen(column):
                unseen[each.name] = found
        if self.has_missing_rows:
            x[:, start] = find_missing_rows(table, self.columns)
        if unseen:
            listed = "; ".join(f"{name!r} has {', '.join(map(repr, found))}" for name, found in unseen.items())
            warn(
                f"categories must be those of the fitted table; {listed}: new ones count as none of the known ones",
                IgnoredInputWarning,
            )
        return to_features(x)

    def select(self, x: Features, names: Sequence[str]) -> Features:
        """Return columns of numbers in the order of the fitted ones, if those are numbers only.

        Parameters
        ----------
        x : ndarray or csr_array of shape (n_rows, num_columns)
        names : sequence of str
            Name of each column of ``x``.

        Returns
        -------
        ndarray or csr_array of shape (n_rows, num_feature_names)

        Raises
        ------
        GraphError
            If a column is missing.
        """
        if tuple(names) == self.feature_names:
            return x
        self._check_columns(names)
        position = {name: i for i, name in enumerate(names)}
        return x[:, [position[name] for name in self.feature_names]]

    def _check_columns(self, names: Sequence[str]) -> None:
        check_names(names)
        wanted = [each.name for each in self.columns]
        missing = [name for name in wanted if name not in set(names)]
        if missing:
            are = "are missing: add them, which may be empty"
            hint = ""
            if len(missing) == 1:
                are = "is missing: add it, which may be empty"
                near = did_you_mean(missing[0], [name for name in names if name not in wanted], otherwise="")
                hint = near and f", or {near}"
            raise GraphError(f"a table must have the columns of the fitted one; {_list_columns(missing)} {are}{hint}")
        extra = [name for name in names if name not in {*wanted, *self.ignored}]
        if extra:
            warn(f"{_list_columns(extra)} not in the fitted table; {_ignored(extra)}", IgnoredInputWarning)

    def to_dict(self) -> dict[str, Any]:
        """Return the encoder as what JSON can contain.

        Returns
        -------
        dict

        Examples
        --------
        >>> encoder = TableEncoder.fit(pa.table({"age": [31, 52]}))
        >>> TableEncoder.from_dict(encoder.to_dict()) == encoder
        True
        """
        return self.model_dump(mode="json")

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Self:
        """Return an encoder that `to_dict` has described.

        Parameters
        ----------
        stored : mapping

        Returns
        -------
        TableEncoder

        Raises
        ------
        ValueError
            If the description is not valid.
        """
        try:
            # Lists of JSON are tuples here, and nothing else is converted.
            found = cls.model_validate_json(json.dumps(stored))
            check_names([each.name for each in found.columns])
        except ValidationError as error:
            first = error.errors()[0]
            raise ValueError(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from None
        return found


def select_columns(found: Mapping[str, AnyColumn | str]) -> tuple[tuple[AnyColumn, ...], tuple[str, ...]]:
    """Return the columns that say something about a node, and the names of the others, with a warning.

    Parameters
    ----------
    found : mapping of str to AnyColumn or str
        What each column contains, or why it is ignored.

    Returns
    -------
    columns : tuple of AnyColumn
    ignored : tuple of str

    Raises
    ------
    GraphError
        If there are none.
    """
    columns = tuple(each for each in found.values() if not isinstance(each, str))
    ignored = {name: each for name, each in found.items() if isinstance(each, str)}
    if not columns:
        reasons = "; ".join(f"{name!r} has {why}" for name, why in list(ignored.items())[:_NUM_NAMES])
        has_values = any(why != EMPTY for why in ignored.values())
        raise (ConstantTableError if has_values else GraphError)(
            f"a table of features must have a column that differs between nodes; {reasons or 'it has none'}"
        )
    for why in dict.fromkeys(ignored.values()):
        names = [name for name, each in ignored.items() if each == why]
        warn(
            f"{_list_columns(names)} {'has' if len(names) == 1 else 'have'} {why}; {_ignored(names)}",
            IgnoredInputWarning,
        )
    _check_feature_names(columns)
    return columns, tuple(ignored)


def _check_feature_names(columns: Sequence[AnyColumn]) -> None:
    """Raise a `GraphError` if two columns of numbers would have the same name."""
    owner: dict[str, str] = {MISSING_ROW: "a row without cells"} if len(columns) > 1 else {}
    for each in columns:
        for name in each.feature_names:
            made_of = f"column {each.name!r}"
            if name in owner:
                raise GraphError(
                    f"the numbers of a table must have different names; {name!r} is made of {owner[name]} and of "
                    f"{made_of}: rename one"
                )
            owner[name] = made_of


def find_missing_rows(table: pa.Table, columns: Sequence[AnyColumn]) -> NDArray[np.bool_]:
    """Return which rows have no cell in any of the columns.

    Parameters
    ----------
    table : pyarrow.Table
    columns : sequence of AnyColumn

    Returns
    -------
    ndarray of shape (n_rows,)
    """
    missing = np.ones(table.num_rows, bool)
    for each in columns:
        missing &= each.find_missing(to_array(table.column(each.name)))
        if not missing.any():
            break
    return missing


def warn_about_empty_rows(table: pa.Table, encoder: TableEncoder) -> None:
    """Warn if many rows of another table than the fitted one have no cell in any of its columns.

    Parameters
    ----------
    table : pyarrow.Table
    encoder : TableEncoder
        Of the fitted table. One of a single column makes no difference between a cell and a row that is missing.
    """
    columns = [each for each in encoder.columns if each.name in table.column_names]
    count = np.count_nonzero(find_missing_rows(table, columns)) if len(columns) > 1 else 0
    if count > MAX_EMPTY * table.num_rows:
        warn(
            f"{count:,} of {table.num_rows:,} rows of features have no cells, so that their features are imputed by "
            "those of the fitted table, and say nothing about them or their neighbors: give the rows that these nodes "
            "had when the model was fitted",
            AssumedInputWarning,
        )


def to_features(x: FloatArray) -> Features:
    """Return a matrix as it is, or sparse if fewer than a tenth of its entries are nonzero.

    Parameters
    ----------
    x : ndarray of shape (n_rows, num_features)

    Returns
    -------
    ndarray or csr_array of shape (n_rows, num_features)
    """
    return sp.csr_array(x) if np.count_nonzero(x) < MAX_SPARSE_DENSITY * x.size else x


def check_names(names: Sequence[str]) -> None:
    """Raise a `GraphError` if two columns have the same name."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise GraphError(f"columns must have different names; {name!r} is the name of several: rename one of them")
        seen.add(name)


def _list_columns(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:_NUM_NAMES])
    more = f" and {len(names) - _NUM_NAMES} more" if len(names) > _NUM_NAMES else ""
    return f"column{'s' * (len(names) > 1)} {shown}{more}"


def _ignored(names: Sequence[str]) -> str:
    return "it is ignored" if len(names) == 1 else "they are ignored"
