"""The interface of all kinds of columns: what is known of one, and the numbers that its cells become."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Annotated, Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from graphprox._utils.arrays import FloatArray

FiniteFloat: TypeAlias = Annotated[float, Field(allow_inf_nan=False)]
MISSING_SUFFIX = " is missing"


class ColumnEncoder(BaseModel, ABC):
    """What was found in a column of a table, by which cells of other tables become the same numbers.

    Parameters
    ----------
    name : str
        Name of the column.
    has_missing : bool
        Whether cells were missing, which then have a column of zeros and ones of their own.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    name: str
    has_missing: bool = False

    @property
    @abstractmethod
    def value_names(self) -> tuple[str, ...]:
        """Names of the columns of numbers, without that of missing cells."""

    @property
    def quantities(self) -> tuple[bool, ...]:
        """Whether each of these columns measures something, in a unit of its own."""
        return (False,) * len(self.value_names)

    @abstractmethod
    def encode(self, column: pa.Array) -> NDArray[Any]:
        """Return the numbers of each cell, (n_rows, num_values)."""

    @abstractmethod
    def find_missing(self, column: pa.Array) -> NDArray[np.bool_]:
        """Return which cells are missing, (n_rows,)."""

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the columns of numbers."""
        return (*self.value_names, f"{self.name}{MISSING_SUFFIX}") if self.has_missing else self.value_names

    @property
    def is_quantity(self) -> tuple[bool, ...]:
        """Whether each column of numbers measures something, in a unit of its own."""
        return (*self.quantities, False) if self.has_missing else self.quantities

    def transform(self, column: pa.Array) -> FloatArray:
        """Return the numbers of each cell.

        Parameters
        ----------
        column : pyarrow.Array

        Returns
        -------
        ndarray of shape (n_rows, num_feature_names)
        """
        with np.errstate(over="ignore"):  # too large for float32 becomes inf, which Graph rejects
            values: FloatArray = self.encode(column).astype(np.float32)
        if not self.has_missing:
            return values
        return np.column_stack([values, self.find_missing(column).astype(np.float32)])

    def find_unseen(self, column: pa.Array) -> Sequence[str]:  # noqa: ARG002 - only categories can be unseen
        """Return values that the column did not have when it was fitted."""
        return ()


def fill(values: NDArray[np.float64], replacement: Any) -> NDArray[np.float64]:
    """Return numbers with a replacement for those that are missing."""
    return np.where(np.isnan(values), replacement, values)
