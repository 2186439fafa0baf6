"""Columns of integers whose names say that they are codes, such as zip codes, and no quantities."""

from __future__ import annotations

from collections.abc import Collection

import pyarrow as pa
import pyarrow.compute as pc

from graphprox._utils.column_names import is_id, split_words
from graphprox._utils.stacklevel import warn
from graphprox.errors import AssumedInputWarning
from graphprox.preprocessing.columns.category import names_nodes
from graphprox.preprocessing.table_cells import clean_text, is_number, to_array

_CODE_WORDS = frozenset(("code", "codes", "zip", "zipcode", "postcode", "postalcode", "plz"))
_MIN_DISTINCT = 3  # of two codes, a number says as much as a category
_CODES = r"^(0|[1-9]\d*)(\.0)?$"  # with other zeros in front, they are categories already


def warn_about_codes(table: pa.Table, known: Collection[str] = ()) -> None:
    """Warn about columns of integers that are read as quantities, although they are named as codes.

    Parameters
    ----------
    table : pyarrow.Table
    known : collection of str, default=()
        Columns whose kind is known.

    Warns
    -----
    AssumedInputWarning
    """
    for name in table.column_names:
        if name in known or not is_code(name):
            continue
        column = to_array(table.column(name))
        texts = clean_text(column) if pa.types.is_string(column.type) or is_number(column.type) else None
        if texts is None or pa.types.is_dictionary(table.column(name).type) or not _are_codes(texts):
            continue
        remedy = "'ignored'} to leave it out" if names_nodes(texts.drop_null()) else "'category'} to read it as codes"
        warn(
            f"column {name!r} is named as a code and read as a quantity: set kinds={{{name!r}: {remedy}, or "
            f"kinds={{{name!r}: 'number'}} to confirm it",
            AssumedInputWarning,
        )


def is_code(name: str) -> bool:
    """Return whether a column is named as a code or as an id.

    Parameters
    ----------
    name : str

    Returns
    -------
    bool

    Examples
    --------
    >>> is_code("postal code"), is_code("department_id"), is_code("zip"), is_code("coded_errors")
    (True, True, True, False)
    """
    return not _CODE_WORDS.isdisjoint(split_words(name)[-1:]) or is_id(name)


def _are_codes(texts: pa.Array) -> bool:
    """Return whether cells are several integers that are not negative, or missing."""
    distinct = pc.unique(texts).drop_null()
    return len(distinct) >= _MIN_DISTINCT and bool(pc.all(pc.match_substring_regex(distinct, _CODES)).as_py())
