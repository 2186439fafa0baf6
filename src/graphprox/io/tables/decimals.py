"""Numbers with a decimal comma, as in files that Excel separates by semicolons or tabs.

``1,5`` is a number in such a file, and ``1,234`` may be 1.234 or 1234. A file is read with decimal commas if one of its
columns of numbers cannot be read otherwise, and none has decimal points.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from graphprox.preprocessing.table_cells import MISSING, NUMBER, CellError, are_numbers, clean_text

POINT, COMMA = ".", ","
_EXPONENT = r"([eE][+-]?\d+)?"
_WHOLE = r"[+-]?(\d+|\d{1,3}(\.\d{3})+)"
_WITH_COMMA = rf"{_WHOLE},\d+{_EXPONENT}"
_WITH_BOTH = rf"[+-]?\d{{1,3}}(\.\d{{3}})+,\d+{_EXPONENT}"
_LOCAL = re.compile(rf"{_WHOLE}(,\d+)?{_EXPONENT}")
_PROOF = re.compile(rf"(?![+-]?[1-9]\d{{0,2}}(,\d{{3}})+$){_WITH_COMMA}")  # in which the comma is none of thousands
_NUMBER = re.compile(NUMBER)
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(\.\d{3})+")
_ENGLISH = re.compile(r"[+-]?\d{1,3}(,\d{3})+\.\d+")
_DECIMAL, _OTHER = "decimal", "other"
_MIN_NUMBERS = 0.5  # share of cells from which a column is one of numbers


def is_local_number(cell: str) -> bool:
    """Return whether a cell may be a number with a decimal comma.

    Examples
    --------
    >>> is_local_number("1.234,5"), is_local_number("Rome, IT")
    (True, False)
    """
    return _LOCAL.fullmatch(cell.strip()) is not None


def to_point(cell: str) -> str:
    """Return a cell with a point in place of a decimal comma, if it is a number with one.

    Examples
    --------
    >>> to_point("1.234,5"), to_point("1.234"), to_point("a,b")
    ('1234.5', '1.234', 'a,b')
    """
    return cell.replace(POINT, "").replace(COMMA, POINT) if COMMA in cell and is_local_number(cell) else cell


def detect_decimal(rows: Sequence[Sequence[str]]) -> str:
    """Return what the numbers of a file, whose cells are not separated by commas, have before their fractions.

    Parameters
    ----------
    rows : sequence of sequences of str
        Cells of the first rows, of which the first may be a header.

    Returns
    -------
    str
        A comma, if one column of numbers has one where there are no thousands, and no column has points; else a point.

    Examples
    --------
    >>> detect_decimal([["ann", "1,5"], ["bob", "2,25"]]), detect_decimal([["ann", "1,234"], ["bob", "2,250"]])
    (',', '.')
    """
    columns = [[row[i].strip() for row in rows] for i in range(min(map(len, rows), default=0))]
    found = {_judge(part) for column in columns for part in (column, column[1:])}
    return COMMA if _DECIMAL in found and _OTHER not in found else POINT


def _judge(cells: Sequence[str]) -> str:
    """Return whether commas of a column of numbers are decimal, or its points, or whether it does not show."""
    present = [cell for cell in cells if cell.lower() not in MISSING]
    numbers, local = ([cell for cell in present if kind.fullmatch(cell)] for kind in (_NUMBER, _LOCAL))
    is_plain, is_local = (len(each) > _MIN_NUMBERS * len(present) for each in (numbers, local))
    if is_plain and any(POINT in cell and not _THOUSANDS.fullmatch(cell) for cell in numbers):
        return _OTHER
    if any(map(_ENGLISH.fullmatch, present)):
        return _OTHER
    return _DECIMAL if is_local and any(map(_PROOF.fullmatch, local)) else ""


def to_points(name: str, column: pa.Array) -> pa.Array:
    """Return cells of a file with decimal commas, with points in the numbers of a column of numbers.

    Parameters
    ----------
    name : str
        Name of the column, for the error.
    column : pyarrow.Array of str

    Returns
    -------
    pyarrow.Array of str
        The same cells, if the column is not one of numbers.

    Raises
    ------
    CellError
        If a number has a decimal point, or what may be one.

    Examples
    --------
    >>> to_points("price", pa.array(["1,5", "1.234,5", "7", "", "?"])).to_pylist()
    ['1.5', '1234.5', '7', '', '?']
    """
    text = clean_text(column)
    has_comma = _matches(text, _WITH_COMMA)
    is_number = pc.or_(has_comma, are_numbers(text))
    if not (pc.mean(is_number.cast(pa.int8())).as_py() or 0) > _MIN_NUMBERS:
        return column
    # Points of thousands occur in all numbers of a column that are large enough, or in none.
    has_thousands = pc.any(_matches(text, _WITH_BOTH)).as_py() is True
    has_point = pc.and_(is_number, pc.match_substring(text, POINT))
    known = has_comma if not has_thousands else pc.or_(has_comma, _matches(text, _THOUSANDS.pattern))
    at = pc.index(pc.and_(has_point, pc.invert(known)), True).as_py()
    if at >= 0:
        rule = "numbers must all have a decimal comma, as others of this file have"
        raise CellError(name, at, text[at].as_py(), rule, "write 1,5 for 1.5, and 1234 for 1.234")
    plain = pc.replace_substring(pc.replace_substring(text, POINT, ""), COMMA, POINT)
    return pc.if_else(pc.fill_null(pc.and_(is_number, known), False), plain, column)


def _matches(text: pa.Array, pattern: str) -> pa.Array:
    return pc.match_substring_regex(text, f"^({pattern})$")
