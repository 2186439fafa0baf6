"""Statistics of a column that is read in blocks, by which it is fitted as `fit_column` fits one that is read at once.

Those of blocks are merged. They have a bounded size: of a column with more than ``MAX_WORDS`` different words, it is
only known about how many there are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any, Self

import numpy as np
import pyarrow as pa

from graphprox.errors import GraphError
from graphprox.preprocessing.cell_statistics import (
    MAX_WORDS,
    Dates,
    Numbers,
    Words,
    restore_dates,
    restore_numbers,
    restore_words,
)
from graphprox.preprocessing.columns import CONSTANT, EMPTY, MIN_NUMBERS, NAMES, AnyColumn, fit_column
from graphprox.preprocessing.columns.boolean import BooleanColumn, are_booleans, find_true
from graphprox.preprocessing.columns.category import MAX_DISTINCT, MIN_ROWS, MIN_TEXT_LENGTH, CategoryColumn, text_error
from graphprox.preprocessing.columns.date import STORED, DateColumn, to_days
from graphprox.preprocessing.columns.number import NumberColumn
from graphprox.preprocessing.table_cells import (
    clean_text,
    is_number,
    is_text,
    reject_local_numbers,
    to_array,
    to_numbers,
)

Check = Callable[[pa.Array], None]


@dataclass(frozen=True)
class Fitted:
    """A column that was fitted.

    Attributes
    ----------
    column : AnyColumn or str
        Why it is ignored, if it says nothing about a node.
    num_nonzero : int
        Number of its cells that become a number other than zero, and of those that are set in other columns of numbers;
        missing ones are not counted.
    missing_value : float
        What a missing cell becomes in its first column of numbers.
    """

    column: AnyColumn | str
    num_nonzero: int = 0
    missing_value: float = 0.0


class WrongCellError(Exception):
    """Some cell of a column is wrong: the blocks are to be read again, and checked until it is found.

    Parameters
    ----------
    name : str
        The column.
    check : callable
        Function that raises an error about the first wrong cell of a block.
    """

    def __init__(self, name: str, check: Check) -> None:
        super().__init__()
        self.name, self.check = name, check


@dataclass
class ColumnStatistics:
    """Statistics of a column.

    Attributes
    ----------
    rows, nulls, nans : int
        Number of cells, and of those that are missing or not a number.
    kind : {"null", "number", "boolean", "date", "text", "category"}
        How the column is stored.
    numbers : Numbers
        Of numbers and booleans.
    dates : Dates
        Of dates.
    words : Words or None
        Of text.
    """

    rows: int
    nulls: int
    kind: str
    nans: int = 0
    numbers: Numbers = field(default_factory=Numbers)
    dates: Dates = field(default_factory=Dates)
    words: Words | None = None

    @classmethod
    def of(cls, name: str, given: pa.Array) -> Self:
        """Return the statistics of a block of a column.

        Parameters
        ----------
        name : str
        given : pyarrow.Array

        Raises
        ------
        GraphError
            If cells of its type are no features.
        """
        column = to_array(given)
        rows = len(column)
        if pa.types.is_null(column.type):
            return cls(rows, rows, "null")
        if pa.types.is_dictionary(given.type) or is_text(column.type):
            kind = "category" if pa.types.is_dictionary(given.type) else "text"
            text = clean_text(column)
            return cls(rows, text.null_count, kind, words=Words.of(text))
        if is_number(column.type):
            values = to_numbers(name, column)
            kind = "boolean" if pa.types.is_boolean(column.type) else "number"
            nans = int(np.isnan(values).sum()) - column.null_count
            return cls(rows, column.null_count, kind, nans, Numbers.of(values))
        is_date = pa.types.is_timestamp(column.type) or pa.types.is_date(column.type)
        if not is_date:
            fit_column(name, given)  # raises the error that says why
            return cls(rows, rows, "null")
        return cls(rows, column.null_count, "date", dates=Dates.of(to_days(name, column, STORED)))

    def add(self, name: str, other: ColumnStatistics) -> None:
        """Add those of another block."""
        if "null" in (self.kind, other.kind):
            self.kind = other.kind if self.kind == "null" else self.kind
        elif self.kind != other.kind:
            raise GraphError(
                f"a column must contain one kind of cells; {name!r} has a {self.kind} in some parts, and a "
                f"{other.kind} in others"
            )
        self.rows, self.nulls, self.nans = self.rows + other.rows, self.nulls + other.nulls, self.nans + other.nans
        self.numbers.add(other.numbers)
        self.dates.add(other.dates)
        if self.words is None:
            self.words = other.words
        elif other.words is not None:
            self.words.add(other.words)

    @property
    def num_missing(self) -> int:
        """Number of missing cells."""
        return self.nulls + self.nans

    def are_numbers(self, *, as_text: bool) -> bool:
        """Return whether all cells are numbers that are taken as they are; ``as_text`` if they may be strings."""
        if self.num_missing:
            return False
        if self.words is None:
            return self.kind == "number"
        is_text = as_text and self.kind == "text"
        return is_text and self.words.num_numbers == self.rows and not self.words.has_padded

    @property
    def num_numbers_nonzero(self) -> int:
        """Number of numbers other than zero."""
        return (self.numbers if self.words is None else self.words.numbers).num_nonzero

    def add_missing(self, count: int) -> ColumnStatistics:
        """Return the statistics with more missing cells."""
        return ColumnStatistics(**{**vars(self), "rows": self.rows + count, "nulls": self.nulls + count})

    def fit(self, name: str) -> Fitted:
        """Find out what the column contains, as `fit_column` does.

        Raises
        ------
        WrongCellError
            If a column of numbers or dates has a cell that is none.
        GraphError
            If it contains text, or too many words.
        """
        if self.num_missing == self.rows:
            return Fitted(EMPTY)
        if self.words is not None:
            return self._fit_text(name, self.words)
        values = self.numbers if self.kind in ("number", "boolean") else self.dates.days
        if values.low == values.high and not self.nulls and not self.nans:
            return Fitted(CONSTANT)
        has_missing = self.num_missing > 0
        if self.kind == "date":
            return _fit_dates(name, self.dates, STORED, has_missing=has_missing)
        if self.kind == "boolean":
            share = values.total / values.size
            return Fitted(BooleanColumn(name=name, share=share, has_missing=has_missing), values.num_nonzero, share)
        column = NumberColumn(name=name, mean=values.mean, has_missing=has_missing)
        return Fitted(column, values.num_nonzero, values.mean)

    def _fit_text(self, name: str, words: Words) -> Fitted:
        present, has_missing = self.rows - self.nulls, self.nulls > 0
        if words.num_distinct + has_missing < 2:
            return Fitted(CONSTANT)
        if self.kind == "category":
            return self._fit_category(name, words)
        if words.counts is not None and are_booleans(pa.array(list(words.counts), pa.string())):
            return self._fit_boolean(name, words.counts)
        if words.num_local and words.num_either > MIN_NUMBERS * present:
            raise WrongCellError(name, lambda block: reject_local_numbers(name, clean_text(block), -1))
        if words.num_numbers > MIN_NUMBERS * present and not words.has_padded:
            if words.num_numbers < present:
                raise WrongCellError(name, lambda block: _check_numbers(name, block))
            column = NumberColumn(name=name, mean=words.numbers.mean, has_missing=has_missing)
            return Fitted(column, words.numbers.num_nonzero, words.numbers.mean)
        form = _find_format(words, present)
        if form is not None:
            dates = words.dates[form]
            if dates.num_matches < present or not dates.is_valid:
                raise WrongCellError(name, lambda block: _check_dates(name, block, form))
            return _fit_dates(name, dates, form, has_missing=has_missing)
        if words.length >= MIN_TEXT_LENGTH * present and words.num_distinct > max(1, present / 2):
            raise WrongCellError(name, lambda block: _reject_text(name, block))
        if present >= MIN_ROWS and words.num_distinct >= MAX_DISTINCT * present:
            return Fitted(NAMES)
        return self._fit_category(name, words)

    def _fit_boolean(self, name: str, counts: dict[str, int]) -> Fitted:
        is_true = find_true(pa.array(list(counts), pa.string())).to_numpy(zero_copy_only=False)
        num_true = int(np.array(list(counts.values()))[is_true].sum())
        share = num_true / (self.rows - self.nulls)
        return Fitted(BooleanColumn(name=name, share=share, has_missing=self.nulls > 0), num_true, share)

    def _fit_category(self, name: str, words: Words) -> Fitted:
        if words.counts is None:
            raise GraphError(
                f"a column of categories must have at most {MAX_WORDS:,} different ones in a graph that is sharded; "
                f"{name!r} has more: leave it out, or replace the rare ones by one word"
            )
        values, sizes = pa.array(list(words.counts), pa.string()), np.array(list(words.counts.values()), np.int64)
        column = CategoryColumn.of_counts(name, values, sizes, self.rows, has_missing=self.nulls > 0)
        return Fitted(column if column.categories else NAMES, self.rows - self.nulls)

    # -- JSON ------------------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Return the statistics as what JSON can contain."""
        return asdict(self)

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> Self:
        """Return statistics that `to_dict` has described."""
        words = stored["words"]
        parts = {
            "numbers": restore_numbers(stored["numbers"]),
            "dates": restore_dates(stored["dates"]),
            "words": None if words is None else restore_words(words),
        }
        return cls(**{**stored, **parts})


def _fit_dates(name: str, dates: Dates, form: str, *, has_missing: bool) -> Fitted:
    parts = tuple(part for part, place in dates.places.items() if place.low < place.high)
    about = {"name": name, "format": form, "mean": dates.days.mean, "parts": parts, "has_missing": has_missing}
    # A cosine and a sine are hardly ever exactly zero.
    nonzero = dates.days.num_nonzero + 2 * len(parts) * dates.days.size
    return Fitted(DateColumn.model_validate(about), nonzero, dates.days.mean)


def _find_format(words: Words, present: int) -> str | None:
    """Return how the dates of a column are written, as `find_format` does."""
    likely = [form for form, dates in words.dates.items() if dates.num_matches > present / 2]
    whole = [form for form in likely if words.dates[form].num_matches == present and words.dates[form].is_valid]
    return next(iter([*whole, *likely]), None)


def _check_numbers(name: str, block: pa.Array) -> None:
    to_numbers(name, block)


def _check_dates(name: str, block: pa.Array, form: str) -> None:
    DateColumn.model_validate({"name": name, "format": form, "mean": 0.0, "parts": ()}).encode(block)


def _reject_text(name: str, block: pa.Array) -> None:
    """Raise the error about a column of text that `fit_column` raises, with the first cell as its example."""
    present = clean_text(block).drop_null()
    if len(present):
        raise text_error(name, present[0].as_py())
