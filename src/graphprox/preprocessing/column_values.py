"""The values of a column, to be shown: numbers, dates or categories, by the rules for columns of features."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from graphprox.errors import GraphError
from graphprox.preprocessing.columns import CATEGORY, AnyColumn, fit_column
from graphprox.preprocessing.columns.category import to_names
from graphprox.preprocessing.columns.date import DateColumn, to_timestamps
from graphprox.preprocessing.columns.number import NumberColumn
from graphprox.preprocessing.table_cells import CORRECT_CELL, CellError, to_array, to_numbers


def read_values(name: str, given: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return what the cells of a column contain.

    Cells are missing, and columns contain numbers or dates, where they would as features. All other columns contain
    categories, those that are no features too: names, text, and the same value in all rows.

    Parameters
    ----------
    name : str
        Name of the column, for messages.
    given : pyarrow.Array or pyarrow.ChunkedArray

    Returns
    -------
    pyarrow.Array
        Numbers (float64), dates (timestamp) or categories (a dictionary of strings); null where a cell is missing. Of
        such an array, the same array is returned.

    Raises
    ------
    CellError
        If a column of numbers or dates has a cell that is none.
    GraphError
        If cells cannot be written as text.

    Examples
    --------
    >>> read_values("age", pa.array(["31", "N/A", "52.5"])).to_pylist()
    [31.0, None, 52.5]
    >>> read_values("town", pa.array(["Ulm", " Bonn", "na"])).to_pylist()
    ['Ulm', 'Bonn', None]
    """
    column = to_array(given)
    found = _find_kind(name, given)
    if isinstance(found, NumberColumn):
        return pa.array(to_numbers(name, column), from_pandas=True)
    if isinstance(found, DateColumn):
        return to_timestamps(name, column, found.format)
    if pa.types.is_boolean(column.type):
        column = pc.if_else(column, "True", "False")
    try:
        return to_names(column).dictionary_encode()
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise GraphError(f"column {name!r} must contain a value in each cell; it contains {column.type}") from None


def _find_kind(name: str, given: pa.Array | pa.ChunkedArray) -> AnyColumn | str:
    try:
        return fit_column(name, given)
    except CellError as error:
        raise error.with_remedy(CORRECT_CELL) from None
    except GraphError:  # what is no feature, such as text
        return CATEGORY
