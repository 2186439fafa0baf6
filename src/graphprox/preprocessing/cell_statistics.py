"""Statistics of the cells of a column that is read in blocks: of numbers, of dates and of words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from graphprox._utils.hashing import hash_strings
from graphprox.preprocessing.columns.date import FORMATS, PARTS, STORED, find_cycle, parse_dates, to_days
from graphprox.preprocessing.table_cells import are_numbers, has_padded_numbers, is_local_number

MAX_WORDS = 100_000
_SMALLEST = 4096  # hashes by which the number of different words is estimated, to about 2 %
_MAX_FLOAT = float(np.finfo(np.float32).max)
_HASHES = 2.0**64


@dataclass
class Numbers:
    """Statistics of numbers.

    Attributes
    ----------
    size : int
        How many there are, without missing ones.
    count, total : int and float
        How many of them a float32 can be, and their sum.
    low, high : float
        The smallest and the largest.
    num_nonzero : int
        How many are not zero, as float32.
    """

    size: int = 0
    count: int = 0
    total: float = 0.0
    low: float = np.inf
    high: float = -np.inf
    num_nonzero: int = 0

    @classmethod
    def of(cls, values: NDArray[np.float64]) -> Self:
        """Return the statistics of an array; NaN is missing."""
        there = values[~np.isnan(values)]
        finite = there[np.abs(there) <= _MAX_FLOAT]  # larger ones are rejected by Graph
        with np.errstate(over="ignore"):
            nonzero = np.count_nonzero(there.astype(np.float32))
        low, high = there.min(initial=np.inf), there.max(initial=-np.inf)
        return cls(len(there), len(finite), float(finite.sum()), float(low), float(high), int(nonzero))

    def add(self, other: Numbers) -> None:
        """Add those of another block."""
        self.size, self.count, self.total = self.size + other.size, self.count + other.count, self.total + other.total
        self.low, self.high = min(self.low, other.low), max(self.high, other.high)
        self.num_nonzero += other.num_nonzero

    @property
    def mean(self) -> float:
        """Their mean, 0 if there are none."""
        return self.total / self.count if self.count else 0.0


@dataclass
class Dates:
    """Statistics of dates that are written in a format.

    Attributes
    ----------
    num_matches : int
        Number of cells that look like the format.
    is_valid : bool
        Whether all of them are dates.
    days : Numbers
        Days since 1970.
    places : dict of str to Numbers
        Places in each cycle.
    """

    num_matches: int = 0
    is_valid: bool = True
    days: Numbers = field(default_factory=Numbers)
    places: dict[str, Numbers] = field(default_factory=lambda: {part: Numbers() for part in PARTS})

    @classmethod
    def of(cls, days: NDArray[np.float64]) -> Self:
        """Return the statistics of days since 1970, NaN where a date is missing."""
        places: dict[str, Numbers] = {part: Numbers.of(find_cycle(part, days)) for part in PARTS}
        return cls(int(np.count_nonzero(~np.isnan(days))), True, Numbers.of(days), places)

    def add(self, other: Dates) -> None:
        """Add those of another block."""
        self.num_matches += other.num_matches
        self.is_valid &= other.is_valid
        self.days.add(other.days)
        for part, place in self.places.items():
            place.add(other.places[part])


@dataclass
class Words:
    """Statistics of text.

    Attributes
    ----------
    counts : dict of str to int, or None
        How often each word occurs; None if there are too many.
    smallest : list of int
        The smallest of their hashes.
    length : int
        Number of characters of all cells.
    num_numbers, num_local, num_either : int
        Number of cells that are numbers, numbers in a local notation, and either.
    has_padded : bool
        Whether some number has zeros in front.
    numbers : Numbers
        Those cells that are numbers.
    dates : dict of str to Dates
        Dates by their format.
    """

    counts: dict[str, int] | None = field(default_factory=dict)
    smallest: list[int] = field(default_factory=list)
    length: int = 0
    num_numbers: int = 0
    num_local: int = 0
    num_either: int = 0
    has_padded: bool = False
    numbers: Numbers = field(default_factory=Numbers)
    dates: dict[str, Dates] = field(default_factory=lambda: {form: Dates() for form in FORMATS})

    @classmethod
    def of(cls, text: pa.Array) -> Self:
        """Return the statistics of cells that are cleaned, null where they are missing."""
        there = text.drop_null()
        counted = pc.value_counts(there)
        words, sizes = counted.field("values"), counted.field("counts")
        numbers, local = are_numbers(there), is_local_number(there)
        counts = dict(zip(words.to_pylist(), sizes.to_pylist(), strict=True)) if len(words) <= MAX_WORDS else None
        found = cls(
            counts=counts,
            smallest=_smallest(hash_strings(words)),
            length=pc.sum(pc.utf8_length(there)).as_py() or 0,
            num_numbers=_count(numbers),
            num_local=_count(local),
            num_either=_count(pc.or_(numbers, local)),
            has_padded=has_padded_numbers(there),
            numbers=Numbers.of(there.filter(numbers).cast(pa.float64()).to_numpy(zero_copy_only=False)),
        )
        for form, (pattern, _) in FORMATS.items():
            matches = pc.match_substring_regex(there, pattern)
            if _count(matches):
                found.dates[form] = _read_dates(there.filter(matches), form)
        return found

    def add(self, other: Words) -> None:
        """Add those of another block."""
        if self.counts is not None and other.counts is not None:
            joined = Counter(self.counts)
            joined.update(other.counts)
            self.counts = dict(joined) if len(joined) <= MAX_WORDS else None
        else:
            self.counts = None
        self.smallest = _smallest(np.array([*self.smallest, *other.smallest], np.uint64))
        self.length += other.length
        self.num_numbers += other.num_numbers
        self.num_local += other.num_local
        self.num_either += other.num_either
        self.has_padded |= other.has_padded
        self.numbers.add(other.numbers)
        for form, dates in self.dates.items():
            dates.add(other.dates[form])

    @property
    def num_distinct(self) -> int:
        """Number of different words, which is an estimate if there are more than ``MAX_WORDS``."""
        if self.counts is not None:
            return len(self.counts)
        if len(self.smallest) < _SMALLEST:
            return len(self.smallest)
        return max(MAX_WORDS + 1, round((_SMALLEST - 1) / (self.smallest[-1] / _HASHES)))


def restore_numbers(stored: Mapping[str, Any]) -> Numbers:
    """Return numbers that `dataclasses.asdict` has described."""
    return Numbers(**stored)


def restore_dates(stored: Mapping[str, Any]) -> Dates:
    """Return dates that `dataclasses.asdict` has described."""
    places = {part: Numbers(**each) for part, each in stored["places"].items()}
    return Dates(stored["num_matches"], stored["is_valid"], Numbers(**stored["days"]), places)


def restore_words(stored: Mapping[str, Any]) -> Words:
    """Return words that `dataclasses.asdict` has described."""
    dates = {form: restore_dates(each) for form, each in stored["dates"].items()}
    return Words(**{**stored, "numbers": Numbers(**stored["numbers"]), "dates": dates})


def _count(flags: pa.Array) -> int:
    return pc.sum(flags).as_py() or 0


def _smallest(hashes: NDArray[np.uint64]) -> list[int]:
    found: list[int] = np.unique(hashes)[:_SMALLEST].tolist()
    return found


def _read_dates(text: pa.Array, form: str) -> Dates:
    stamps = parse_dates(text, form)
    return Dates(len(text), is_valid=False) if stamps is None else Dates.of(to_days(form, stamps, STORED))
