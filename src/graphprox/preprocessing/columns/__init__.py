"""Kinds of columns, one file each, and which kind a column is."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field

from graphprox.errors import GraphError
from graphprox.preprocessing.columns.boolean import BooleanColumn, are_booleans
from graphprox.preprocessing.columns.category import CategoryColumn, names_nodes, reject_text
from graphprox.preprocessing.columns.date import DateColumn, find_format
from graphprox.preprocessing.columns.number import NumberColumn
from graphprox.preprocessing.table_cells import (
    are_numbers,
    clean_text,
    has_padded_numbers,
    is_number,
    is_text,
    reject_local_numbers,
    to_array,
)

AnyColumn: TypeAlias = Annotated[
    NumberColumn | BooleanColumn | CategoryColumn | DateColumn, Field(discriminator="type")
]
EMPTY = "no values"
CONSTANT = "the same value in all rows"
NAMES = "another value in nearly every row, as ids and names have"
MIN_NUMBERS = 0.5  # share of cells from which the others of a column are taken for typing errors


def fit_column(name: str, given: pa.Array | pa.ChunkedArray) -> AnyColumn | str:
    """Find out what a column contains.

    Parameters
    ----------
    name : str
    given : pyarrow.Array or pyarrow.ChunkedArray

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

    Examples
    --------
    >>> fit_column("age", pa.array(["31", "", "52"]))
    NumberColumn(name='age', has_missing=True, type='number', mean=41.5)
    """
    is_category = pa.types.is_dictionary(given.type)
    column = to_array(given)
    kind = column.type
    if is_category or is_text(kind):
        return _fit_text(name, clean_text(column), is_category=is_category)
    if pa.types.is_duration(kind) or pa.types.is_time(kind):
        raise GraphError(f"column {name!r} must contain numbers, categories or dates; it contains {kind}: use seconds")
    if column.is_null(nan_is_null=True).true_count == len(column):
        return EMPTY
    if not (is_number(kind) or pa.types.is_temporal(kind)):
        raise GraphError(f"column {name!r} must contain numbers, categories or dates; it contains {kind}")
    if pc.count_distinct(column, mode="all").as_py() < 2:
        return CONSTANT
    if pa.types.is_boolean(kind):
        return BooleanColumn.fit(name, column)
    return NumberColumn.fit(name, column) if is_number(kind) else DateColumn.fit(name, column)


def _fit_text(name: str, text: pa.Array, *, is_category: bool) -> AnyColumn | str:
    if text.null_count == len(text):
        return EMPTY
    if pc.count_distinct(text, mode="all").as_py() < 2:
        return CONSTANT
    if not is_category:
        if are_booleans(text):
            return BooleanColumn.fit(name, text)
        reject_local_numbers(name, text, MIN_NUMBERS)
        is_number_text = (pc.mean(are_numbers(text).cast(pa.int8())).as_py() or 0) > MIN_NUMBERS
        if is_number_text and not has_padded_numbers(text):
            return NumberColumn.fit(name, text)
        if find_format(text) is not None:
            return DateColumn.fit(name, text)
        present = text.drop_null()
        reject_text(name, present)
        if names_nodes(present):
            return NAMES
    fitted = CategoryColumn.fit(name, text)
    return fitted if fitted.categories else NAMES
