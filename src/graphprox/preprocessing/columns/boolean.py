"""Columns of two values that mean yes and no."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from graphprox.preprocessing.columns.base import ColumnEncoder, FiniteFloat, fill
from graphprox.preprocessing.table_cells import CellError, clean_text, is_text, to_numbers

WORDS = (("true", "false"), ("yes", "no"), ("y", "n"), ("t", "f"))  # whatever their case
_TRUE = pa.array([true for true, _ in WORDS])
_FALSE = pa.array([false for _, false in WORDS])


def are_booleans(text: pa.Array) -> bool:
    """Return whether all strings that are not missing are the words of one pair, such as yes and no.

    Examples
    --------
    >>> are_booleans(pa.array(["Yes", None, "no"])), are_booleans(pa.array(["yes", "false"]))
    (True, False)
    """
    words = set(pc.unique(pc.utf8_lower(text)).drop_null().to_pylist())
    return bool(words) and any(words <= set(pair) for pair in WORDS)


def find_true(text: pa.Array) -> pa.Array:
    """Return which strings mean yes.

    Examples
    --------
    >>> find_true(pa.array(["Yes", "no", "1"])).to_pylist()
    [True, False, True]
    """
    return pc.is_in(pc.utf8_lower(text), pa.concat_arrays([_TRUE, pa.array(["1"])]))


class BooleanColumn(ColumnEncoder):
    """A column of two values that mean yes and no, which becomes 1 and 0; a missing one becomes the share of yes.

    Parameters
    ----------
    name : str
    share : float
        Share of yes among the cells that are not missing.
    has_missing : bool
    """

    type: Literal["boolean"] = "boolean"
    share: FiniteFloat

    @classmethod
    def fit(cls, name: str, column: pa.Array) -> BooleanColumn:
        """Compute the share of yes in a column."""
        values = _to_bits(name, column)
        return cls(name=name, share=float(np.nanmean(values)), has_missing=bool(np.isnan(values).any()))

    @property
    def value_names(self) -> tuple[str, ...]:
        """The name of the column."""
        return (self.name,)

    def encode(self, column: pa.Array) -> NDArray[np.float64]:
        """Return 1 for yes and 0 for no."""
        return fill(_to_bits(self.name, column), self.share)[:, None]

    def find_missing(self, column: pa.Array) -> NDArray[np.bool_]:
        """Return which cells are missing."""
        return np.isnan(_to_bits(self.name, column))


def _to_bits(name: str, column: pa.Array) -> NDArray[np.float64]:
    """Return 1 for yes, 0 for no and NaN for a missing cell."""
    rule = "a column of yes and no must contain nothing else"
    if is_text(column.type):
        words = pc.utf8_lower(clean_text(column))
        # Of a model that was fitted on words, another table may have the numbers 0 and 1.
        is_true = find_true(words)
        known = pc.or_(is_true, pc.is_in(words, pa.concat_arrays([_FALSE, pa.array(["0"])])))
        at = pc.index(pc.or_(known, pc.is_null(words)), False).as_py()
        if at >= 0:
            raise CellError(name, at, words[at].as_py(), rule)
        column = pc.if_else(pc.is_null(words), None, is_true)
    values = to_numbers(name, column)
    odd = np.flatnonzero(~(np.isnan(values) | (values == 0) | (values == 1)))
    if len(odd):
        raise CellError(name, int(odd[0]), f"{values[odd[0]]:g}", rule)
    return values
