"""Helpers of the benchmarks of training steps: timing, and rows against a reference and against a lower bound."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

from benchmarks.measure import Measured

Row = dict[str, object]
REPETITIONS = 12  # the best one is used, because other processes may use the cores at any time


class Reference(NamedTuple):
    """What a step is compared with; the result of its measurement is the time of one step in seconds."""

    description: str
    measured: Measured


def compare_step(what: str, ours: Measured, reference: Reference, floor: Reference, *, digits: int) -> Iterator[Row]:
    """Yield a row that compares a step with a reference, and one that compares it with a lower bound."""

    def to_text(seconds: float) -> str:
        return f"{seconds:.{digits}f}"

    yield {
        "what": what,
        "seconds": to_text(ours.result),
        "reference": f"{reference.description}: {to_text(reference.measured.result)} s",
        "ratio": f"{reference.measured.result / ours.result:.1f} x faster",
        "peak memory": f"{ours.peak_mb:,.0f} MB (reference: {reference.measured.peak_mb:,.0f} MB)",
    }
    yield {
        "what": what,
        "seconds": to_text(ours.result),
        "reference": f"its floor, {floor.description}: {to_text(floor.measured.result)} s",
        "ratio": f"{ours.result / floor.measured.result:.2f} x the floor",
        "peak memory": "",
    }


def time_best(call: Callable[[], object], *, repetitions: int = REPETITIONS) -> float:
    """Return the best time of some calls, in seconds."""
    seconds = []
    for _ in range(repetitions):
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    return min(seconds)
