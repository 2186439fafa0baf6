"""Columns of numbers, such as an age or an income."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphprox.preprocessing.columns.base import ColumnEncoder, FiniteFloat, fill
from graphprox.preprocessing.table_cells import to_numbers


class NumberColumn(ColumnEncoder):
    """A column of numbers; a missing one becomes the mean of the others.

    Parameters
    ----------
    name : str
    mean : float
        Mean of the cells that are not missing.
    has_missing : bool
    """

    type: Literal["number"] = "number"
    mean: FiniteFloat

    @classmethod
    def fit(cls, name: str, column: pa.Array) -> NumberColumn:
        """Compute the mean of a column."""
        values = to_numbers(name, column)
        present = values[np.abs(values) <= np.finfo(np.float32).max]  # larger ones are rejected by Graph
        mean = float(present.mean()) if len(present) else 0.0
        return cls(name=name, mean=mean, has_missing=bool(np.isnan(values).any()))

    @property
    def value_names(self) -> tuple[str, ...]:
        """The name of the column."""
        return (self.name,)

    @property
    def quantities(self) -> tuple[bool, ...]:
        """A number measures something."""
        return (True,)

    def encode(self, column: pa.Array) -> NDArray[np.float64]:
        """Return the numbers, with the mean in place of missing ones."""
        return fill(to_numbers(self.name, column), self.mean)[:, None]

    def find_missing(self, column: pa.Array) -> NDArray[np.bool_]:
        """Return which cells are missing."""
        return np.isnan(to_numbers(self.name, column))
