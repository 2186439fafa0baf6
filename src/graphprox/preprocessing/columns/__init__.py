"""Kinds of columns, one file each, and which kind a column is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Annotated, Any, TypeAlias, get_args

import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field

from graphprox._utils.stacklevel import warn
from graphprox._utils.suggestions import did_you_mean
from graphprox.errors import AssumedInputWarning, GraphError, ParameterError
from graphprox.preprocessing.columns.boolean import BooleanColumn, are_booleans
from graphprox.preprocessing.columns.category import CategoryColumn, names_nodes, reject_text
from graphprox.preprocessing.columns.date import DateColumn, are_mixed_dates, find_format
from graphprox.preprocessing.columns.number import NumberColumn
from graphprox.preprocessing.table_cells import (
    CORRECT_CELL,
    CellError,
    are_numbers,
    clean_text,
    has_padded_numbers,
    is_number,
    is_text,
    reject_local_numbers,
    to_array,
)

_AnyKind: TypeAlias = NumberColumn | BooleanColumn | CategoryColumn | DateColumn
AnyColumn: TypeAlias = Annotated[_AnyKind, Field(discriminator="type")]
# What a user may say that a column is; an ignored one is no feature.
KINDS: Mapping[str, type[_AnyKind]] = MappingProxyType(
    {each.model_fields["type"].default: each for each in get_args(_AnyKind)}
)
NUMBER, CATEGORY, IGNORED = "number", "category", "ignored"
EMPTY = "no values"
CONSTANT = "the same value in all rows"
NAMES = "another value in nearly every row, as ids and names have"
MIN_NUMBERS = 0.5  # share of cells from which the others of a column are taken for typing errors


def check_kinds(
    kinds: Mapping[Any, Any], names: Iterable[str] | None = None, *, of: str = "columns of the table"
) -> None:
    """Check what a user says about the kinds of columns.

    Parameters
    ----------
    kinds : mapping of str to str
        Kind of each column that is named: one of ``KINDS``, or ``"ignored"``.
    names : iterable of str, optional
        Names of the columns that there are; not checked by default.
    of : str, default="columns of the table"
        What these are, for the message.

    Raises
    ------
    ParameterError
        If a kind is unknown, or there is no such column.

    Examples
    --------
    >>> check_kinds({"zip": "category"}, ["zip", "age"])
    """
    if not isinstance(kinds, Mapping):
        raise ParameterError(f"kinds must be a mapping, as in {{'zip': 'category'}}; got {type(kinds).__name__}")
    known = (*KINDS, IGNORED)
    for name, kind in kinds.items():
        if kind not in known:
            hint = did_you_mean(str(kind), known, otherwise="")
            listed = f"kinds must be among {', '.join(known)}; got {kind!r} for {name!r}"
            raise ParameterError(f"{listed}: {hint}" if hint else listed)
    there = list(kinds) if names is None else list(names)
    for name in kinds:
        if name not in there:
            raise ParameterError(f"kinds must name {of}; got {name!r}: {did_you_mean(str(name), there)}")


def fit_column(name: str, given: pa.Array | pa.ChunkedArray, kind: str | None = None) -> AnyColumn | str:
    """Find out what a column contains.

    Parameters
    ----------
    name : str
    given : pyarrow.Array or pyarrow.ChunkedArray
    kind : str, optional
        One of ``KINDS``, if that is known; found out by default.

    Returns
    -------
    NumberColumn, BooleanColumn, CategoryColumn, DateColumn or str
        Why the column is ignored, if it says nothing about a node.

    Raises
    ------
    CellError
        If a column of numbers or dates has a cell that is none.
    GraphError
        If it contains text, or something else that is no feature.

    Warns
    -----
    AssumedInputWarning
        If dates can be read in two ways, or are written in several.

    Examples
    --------
    >>> fit_column("age", pa.array(["31", "", "52"]))
    NumberColumn(name='age', has_missing=True, type='number', mean=41.5)
    >>> fit_column("zip", pa.array([75001, 69001, 75001]), "category").value_names
    ('zip=69001', 'zip=75001')
    """
    is_category = pa.types.is_dictionary(given.type)
    column = to_array(given)
    stored = column.type
    if is_text(stored):
        column = clean_text(column)
    elif (pa.types.is_duration(stored) or pa.types.is_time(stored)) and kind != CATEGORY:
        raise GraphError(
            f"column {name!r} must contain numbers, categories or dates; it contains {stored}: write it in "
            f"seconds, as by dt.total_seconds() of pandas, or set kinds={{{name!r}: 'ignored'}} to leave it out"
        )
    if column.is_null(nan_is_null=True).true_count == len(column):
        return EMPTY
    if not (is_text(stored) or is_number(stored) or pa.types.is_temporal(stored)):
        raise GraphError(f"column {name!r} must contain numbers, categories or dates; it contains {stored}")
    if pc.count_distinct(column, mode="all").as_py() < 2:
        return CONSTANT
    kind = kind or (CATEGORY if is_category else None)
    if kind is not None:
        return _fit_kind(name, column, kind)
    if is_text(stored):
        return _fit_text(name, column)
    if pa.types.is_boolean(stored):
        return BooleanColumn.fit(name, column)
    return NumberColumn.fit(name, column) if is_number(stored) else DateColumn.fit(name, column)


def _fit_kind(name: str, column: pa.Array, kind: str) -> AnyColumn | str:
    """Fit a column of a kind that is known."""
    try:
        if kind == NUMBER and is_text(column.type):
            reject_local_numbers(name, column, 0)
        fitted: _AnyKind = KINDS[kind].fit(name, column)
    except CellError as error:
        is_other = error.remedy == CORRECT_CELL
        raise error.with_remedy("correct the cell, or choose another kind" if is_other else error.remedy) from None
    return NAMES if isinstance(fitted, CategoryColumn) and not fitted.categories else fitted


def _fit_text(name: str, text: pa.Array) -> AnyColumn | str:
    if are_booleans(text):
        return BooleanColumn.fit(name, text)
    reject_local_numbers(name, text, MIN_NUMBERS)
    is_number_text = (pc.mean(are_numbers(text).cast(pa.int8())).as_py() or 0) > MIN_NUMBERS
    try:
        if is_number_text and not has_padded_numbers(text):
            return NumberColumn.fit(name, text)
        if find_format(text) is not None:
            return DateColumn.fit(name, text)
    except CellError as error:
        remedy = f"correct the cell, leave it empty, or set kinds={{{name!r}: {CATEGORY!r}}}"
        raise error.with_remedy(remedy) from None
    if are_mixed_dates(text):
        warn(
            f"column {name!r} contains dates in several formats and is not read as dates: write all of them as in "
            "2024-02-01",
            AssumedInputWarning,
        )
    present = text.drop_null()
    reject_text(name, present)
    return NAMES if names_nodes(present) else _fit_kind(name, text, CATEGORY)
