"""Columns of dates and times."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, TypeAlias, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from graphprox._utils.stacklevel import warn
from graphprox.errors import AssumedInputWarning, GraphError
from graphprox.preprocessing.columns.base import ColumnEncoder, FiniteFloat, fill
from graphprox.preprocessing.table_cells import CellError, clean_text, is_text

_TIME = r"([ T]\d{1,2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)?"
# How a date is written, and how it is rewritten. Of two formats that fit all cells, the first is taken.
FORMATS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "year-month-day": (
            rf"^(\d{{4}})[-/](\d{{1,2}})[-/](\d{{1,2}}){_TIME}(?:Z|[+-]\d{{2}}:?\d{{2}})?$",
            r"\1-\2-\3\4",
        ),
        "year-month": (r"^(\d{4})-(\d{2})$", r"\1-\2-01"),
        "day.month.year": (rf"^(\d{{1,2}})\.(\d{{1,2}})\.(\d{{4}}){_TIME}$", r"\3-\2-\1\4"),
        "month/day/year": (rf"^(\d{{1,2}})/(\d{{1,2}})/(\d{{4}}){_TIME}$", r"\3-\1-\2\4"),
        "day/month/year": (rf"^(\d{{1,2}})/(\d{{1,2}})/(\d{{4}}){_TIME}$", r"\3-\2-\1\4"),
    }
)
_OFFSET = r"(?P<sign>[+-])(?P<hours>\d{2}):?(?P<minutes>\d{2})$"
STORED = "stored"  # as dates, rather than as text
_DAY = 86_400 * 1_000_000  # microseconds
_WEEKDAY_OFFSET = 3  # the first of January 1970 was a Thursday
CYCLE_SIZE = 0.5  # amplitude: a month and a weekday count about as much as a yes or no
_YEAR, _WEEK = 365.2425, 7.0
Part: TypeAlias = Literal["year", "weekday", "time of day"]
PARTS: tuple[Part, ...] = get_args(Part)


def find_format(text: pa.Array) -> str | None:
    """Return how the dates of a column are written, or None if less than half of its cells look like dates.

    Parameters
    ----------
    text : pyarrow.Array of str
        Cells; missing ones are null.

    Examples
    --------
    >>> find_format(pa.array(["31/01/2024", "02/02/2024"])), find_format(pa.array(["a", "2024-02-01"]))
    ('day/month/year', None)
    """
    found = None
    for name, (pattern, _) in FORMATS.items():
        share = pc.mean(pc.match_substring_regex(text, pattern).cast(pa.int8())).as_py() or 0
        if share > 0.5:
            found = found or name
            if share == 1 and parse_dates(text, name) is not None:
                return name
    return found


def are_mixed_dates(text: pa.Array) -> bool:
    """Return whether every cell is a date, but some are written in other formats than others.

    Parameters
    ----------
    text : pyarrow.Array of str
        Cells; missing ones are null.

    Examples
    --------
    >>> are_mixed_dates(pa.array(["2024-01-31", "31.12.2024", None])), are_mixed_dates(pa.array(["2024-01-31", "a"]))
    (True, False)
    """
    fits = [pc.match_substring_regex(text, pattern) for pattern, _ in FORMATS.values()]
    is_date = fits[0]
    for each in fits[1:]:
        is_date = pc.or_(is_date, each)
    return pc.all(is_date).as_py() is True and not any(pc.all(each).as_py() for each in fits)


def _warn_if_ambiguous(name: str, text: pa.Array) -> None:
    """Warn if dates that are read as month/day/year can be day/month/year as well, and are other days then."""
    read, other = (parse_dates(text, form) for form in ("month/day/year", "day/month/year"))
    at = -1 if read is None or other is None else pc.index(pc.not_equal(read, other), True).as_py()
    if read is not None and at >= 0:
        warn(
            f"dates in column {name!r} are read as month/day/year and can be day/month/year too; "
            f"{text[at].as_py()!r} is read as {read[at].as_py():%Y-%m-%d}: write them as in 2024-02-01 to decide",
            AssumedInputWarning,
        )


class DateColumn(ColumnEncoder):
    """A column of dates, which becomes the days since 1970 and the place in the year, in the week and in the day.

    The places are a cosine and a sine each, so that December is close to January. Those that are the same in all rows
    are left out. A missing date has the mean of the days, and no place.

    Parameters
    ----------
    name : str
    format : str
        How dates are written: one of ``FORMATS``, or ``"stored"``.
    mean : float
        Mean of the days.
    parts : tuple of str
        Cycles that differ between rows.
    has_missing : bool
    """

    type: Literal["date"] = "date"
    format: Literal["year-month-day", "year-month", "day.month.year", "month/day/year", "day/month/year", "stored"]
    mean: FiniteFloat
    parts: tuple[Part, ...] = PARTS

    @classmethod
    def fit(cls, name: str, column: pa.Array) -> DateColumn:
        """Find the format, the mean and the cycles of a column."""
        form = (find_format(clean_text(column)) or "year-month-day") if is_text(column.type) else STORED
        days = to_days(name, column, form)
        if form == "month/day/year":
            _warn_if_ambiguous(name, clean_text(column))
        present = days[~np.isnan(days)]
        cycles = {part: find_cycle(part, present) for part in PARTS}
        return cls.model_validate(
            {
                "name": name,
                "format": form,
                "mean": float(present.mean()) if len(present) else 0.0,
                "parts": tuple(part for part, place in cycles.items() if len(present) and np.ptp(place) > 0),
                "has_missing": len(present) < len(days),
            }
        )

    @property
    def value_names(self) -> tuple[str, ...]:
        """The name of the column, and of each cycle."""
        return (self.name, *(f"{self.name} {part} {which}" for part in self.parts for which in ("cos", "sin")))

    @property
    def quantities(self) -> tuple[bool, ...]:
        """The number of days measures something."""
        return (True, *(False,) * (2 * len(self.parts)))

    def encode(self, column: pa.Array) -> NDArray[np.float64]:
        """Return days and places in cycles."""
        days = to_days(self.name, column, self.format)
        places = [2 * np.pi * find_cycle(part, days) for part in self.parts]
        cycles = [CYCLE_SIZE * fill(turn(place), 0) for place in places for turn in (np.cos, np.sin)]
        return np.column_stack([fill(days, self.mean), *cycles])

    def find_missing(self, column: pa.Array) -> NDArray[np.bool_]:
        """Return which cells are missing."""
        return np.isnan(to_days(self.name, column, self.format))


def find_cycle(part: str, days: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the place of each day in a cycle, from 0 to 1.

    Parameters
    ----------
    part : {"year", "weekday", "time of day"}
    days : ndarray of shape (n_rows,)
        Days since 1970.
    """
    if part == "year":
        return days / _YEAR % 1
    return (np.floor(days) + _WEEKDAY_OFFSET) / _WEEK % 1 if part == "weekday" else days % 1


def to_days(name: str, column: pa.Array, form: str) -> NDArray[np.float64]:
    """Return days since 1970, NaN where a date is missing.

    Parameters and errors are those of `to_timestamps`.
    """
    micros = to_timestamps(name, column, form).cast(pa.int64())
    days: NDArray[np.float64] = micros.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False) / _DAY
    return days


def to_timestamps(name: str, column: pa.Array, form: str) -> pa.Array:
    """Return dates as timestamps in microseconds, null where a date is missing.

    Parameters
    ----------
    name : str
        Name of the column, for errors.
    column : pyarrow.Array
    form : str
        One of ``FORMATS``, or ``"stored"``.

    Raises
    ------
    CellError
        If a cell is no date.
    """
    if is_text(column.type):
        text = clean_text(column)
        parsed = parse_dates(text, form if form in FORMATS else find_format(text) or "year-month-day")
        if parsed is None:
            _raise_first(name, text, form)
        column = parsed
    elif not (pa.types.is_temporal(column.type) or pa.types.is_null(column.type)):
        raise GraphError(f"column {name!r} must contain dates; it contains {column.type}")
    is_finer = pa.types.is_timestamp(column.type) and column.type.unit == "ns"
    try:
        return column.cast(pa.timestamp("us"), safe=not is_finer)
    except pa.ArrowInvalid:
        raise GraphError(f"column {name!r} must contain dates before the year 200,000; it has later ones") from None


def parse_dates(text: pa.Array, form: str) -> pa.Array | None:
    """Return strings as timestamps, or None if some of them are no dates.

    Parameters
    ----------
    text : pyarrow.Array of str
        Cells; missing ones are null.
    form : str
        One of ``FORMATS``.
    """
    pattern, rewritten = FORMATS[form]
    if pc.all(pc.match_substring_regex(text, pattern)).as_py() is False:
        return None
    plain = pc.replace_substring_regex(text, pattern, rewritten)
    padded = pc.replace_substring_regex(plain, r"([- T:])(\d)\b", r"\10\2")
    try:
        local = padded.cast(pa.timestamp("us"))
    except pa.ArrowInvalid:  # such as the 30th of February
        return None
    return pc.subtract(local, _find_offsets(text))


def _find_offsets(text: pa.Array) -> pa.Array:
    """Return how far the clocks of each date are ahead of UTC; nothing if it does not say so."""
    parts = pc.extract_regex(text, _OFFSET)
    sign, hours, minutes = (parts.field(name) for name in ("sign", "hours", "minutes"))
    found = pc.is_valid(parts)
    size = pc.add(
        pc.multiply(pc.if_else(found, hours, "0").cast(pa.int64()), 60),
        pc.if_else(found, minutes, "0").cast(pa.int64()),
    )
    signed = pc.if_else(pc.and_(found, pc.equal(sign, "-")), pc.negate(size), size)
    return pc.multiply(pc.fill_null(signed, 0), 60_000_000).cast(pa.duration("us"))


def _raise_first(name: str, text: pa.Array, form: str) -> None:
    """Raise an error that names the first cell which is no date."""
    form = form if form in FORMATS else "year-month-day"
    for row, cell in enumerate(text.to_pylist()):
        if cell is not None and parse_dates(pa.array([cell]), form) is None:
            raise CellError(name, row, cell, f"dates must be written as {form}")
