"""Cells of a table: which of them are missing, and which are numbers."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from graphprox.errors import GraphError

NUMBER = r"[+-]?(\d+\.?\d*([eE][+-]?\d+)?|\.\d+([eE][+-]?\d+)?|(?i:nan|inf(inity)?))"
# Zeros in front, as in zip codes: a number has none.
PADDED = r"^[+-]?0\d+$"
# 1,5 and 1.234,5 in many languages, and 1,234 and 1,234.5 in others.
_LOCAL = r"^[+-]?(\d{1,3}(,\d{3})+(\.\d+)?|\d+,\d+|\d{1,3}(\.\d{3})+,\d+)$"
CORRECT_CELL = "correct the cell, or leave it empty"
MISSING = ("", "na", "n/a", "null", "none", "nan")  # whatever their case


class CellError(GraphError):
    """A cell is not what the other cells of its column are.

    Parameters
    ----------
    column : str
        Name of the column.
    row : int
        Row of the cell, from 0.
    cell : str
    rule : str
        What the cells of the column must be.
    remedy : str, default="correct the cell, or leave it empty"
        What to do.
    """

    def __init__(self, column: str, row: int, cell: str, rule: str, remedy: str = CORRECT_CELL) -> None:
        super().__init__(f"{rule}; column {column!r} contains {cell!r} in row {row} (from 0): {remedy}")
        self.column, self.row, self.cell, self.rule, self.remedy = column, row, cell, rule, remedy

    def with_remedy(self, remedy: str) -> CellError:
        """Return the error with another remedy.

        Parameters
        ----------
        remedy : str

        Returns
        -------
        CellError
        """
        return CellError(self.column, self.row, self.cell, self.rule, remedy)


def to_array(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return a column in one piece, with the values of a dictionary.

    Parameters
    ----------
    column : pyarrow.Array or pyarrow.ChunkedArray

    Returns
    -------
    pyarrow.Array
    """
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(array, pa.ChunkedArray):  # of a table without rows
        array = pa.array([], array.type)
    return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array


def is_text(kind: pa.DataType) -> bool:
    """Return whether cells of a type are strings."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def is_number(kind: pa.DataType) -> bool:
    """Return whether cells of a type are numbers or booleans."""
    checks = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_boolean)
    return any(check(kind) for check in checks)


def clean_text(column: pa.Array) -> pa.Array:
    """Return cells as strings without whitespace around them, null where they are missing.

    Parameters
    ----------
    column : pyarrow.Array
        Cells of any type that can be written as text.

    Returns
    -------
    pyarrow.Array of str

    Examples
    --------
    >>> clean_text(pa.array([" Paris", "N/A", "", None])).to_pylist()
    ['Paris', None, None, None]
    """
    text = pc.utf8_trim_whitespace(column.cast(pa.string()))
    return pc.if_else(pc.is_in(pc.utf8_lower(text), pa.array(MISSING)), None, text)


def are_numbers(text: pa.Array) -> pa.Array:
    """Return whether each string is a number; null where it is missing."""
    return pc.match_substring_regex(text, f"^({NUMBER})$")


def has_padded_numbers(text: pa.Array) -> bool:
    """Return whether a cell is a number with zeros in front, as a zip code may be."""
    return bool(pc.any(pc.match_substring_regex(text, PADDED)).as_py())


def is_local_number(text: pa.Array) -> pa.Array:
    """Return whether each string is a number with a comma; null where it is missing."""
    return pc.match_substring_regex(text, _LOCAL)


def reject_local_numbers(name: str, text: pa.Array, share: float) -> None:
    """Raise a `CellError` if numbers are written with a comma.

    Parameters
    ----------
    name : str
    text : pyarrow.Array of str
        Cells; missing ones are null.
    share : float
        Share of cells that are numbers in any notation, above which the column is one of numbers.

    Examples
    --------
    >>> reject_local_numbers("height", pa.array(["1.5", "2"]), 0.5)
    """
    is_local = is_local_number(text)
    at = pc.index(is_local, True).as_py()
    if at >= 0 and pc.mean(pc.or_(is_local, are_numbers(text)).cast(pa.int8())).as_py() > share:
        rule = "numbers must be written with a decimal point and without thousands separators"
        raise CellError(name, at, text[at].as_py(), rule, "write 1.5 for 1,5, and 1234 for 1,234")


def to_numbers(name: str, column: pa.Array) -> NDArray[np.float64]:
    """Return cells as numbers.

    Parameters
    ----------
    name : str
        Name of the column, for the error.
    column : pyarrow.Array
        Numbers, booleans, or numbers as text.

    Returns
    -------
    ndarray of shape (n_rows,)
        NaN where a cell is missing.

    Raises
    ------
    CellError
        If a cell is not a number.

    Examples
    --------
    >>> to_numbers("age", pa.array(["31", "NA", "2.5"])).tolist()
    [31.0, nan, 2.5]
    """
    if is_text(column.type):
        column = clean_text(column)
        at = pc.index(are_numbers(column), False).as_py()
        if at >= 0:
            raise CellError(name, at, column[at].as_py(), "a column of numbers must contain nothing else")
    elif not (is_number(column.type) or pa.types.is_null(column.type)):
        raise GraphError(f"column {name!r} must contain numbers; it contains {column.type}")
    numbers = column.cast(pa.int8()) if pa.types.is_boolean(column.type) else column
    values: NDArray[np.float64] = numbers.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return values
