"""Amounts are rounded to what a person reads, across the borders of units."""

from __future__ import annotations

import pytest

from graphprox._utils.amounts import format_duration, format_memory


@pytest.mark.parametrize(
    ("amount", "expected"),
    [(0, "0 MB"), (999.4e6, "999 MB"), (999.6e6, "1.0 GB"), (9.94e9, "9.9 GB"), (9.96e9, "10 GB"), (2e12, "2,000 GB")],
)
def test_memory(amount, expected):
    assert format_memory(amount) == expected


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (0, "1 s"),
        (59.4, "59 s"),
        (59.6, "1 min"),
        (61, "1 min 1 s"),
        (599.6, "10 min"),
        (3599, "1 h"),
        (5400, "1 h 30 min"),
    ],
)
def test_duration(seconds, expected):
    assert format_duration(seconds) == expected
