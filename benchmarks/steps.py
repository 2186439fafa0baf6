"""What benchmarks of a training step share: how a step is timed, and the two rows that hold it to account."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

from benchmarks.measure import Measured

Row = dict[str, object]
STEPS = 12  # the best of so many counts, as another process may have a core at any moment


class Other(NamedTuple):
    """What a step is held against: in words, and measured; the result is the seconds of one step."""

    words: str
    measured: Measured


def compared(what: str, ours: Measured, reference: Other, floor: Other, *, digits: int) -> Iterator[Row]:
    """A step beside a reference, and beside the least that it could take."""

    def shown(seconds: float) -> str:
        return f"{seconds:.{digits}f}"

    (plain, theirs), (least, bound) = reference, floor
    yield {
        "what": what,
        "seconds": shown(ours.result),
        "reference": f"{plain}: {shown(theirs.result)} s",
        "ratio": f"{theirs.result / ours.result:.1f} x faster",
        "peak memory": f"{ours.peak_mb:,.0f} MB (reference: {theirs.peak_mb:,.0f} MB)",
    }
    yield {
        "what": what,
        "seconds": shown(ours.result),
        "reference": f"its floor, {least}: {shown(bound.result)} s",
        "ratio": f"{ours.result / bound.result:.2f} x the floor",
        "peak memory": "",
    }


def best_of(call: Callable[[], object], *, times: int = STEPS) -> float:
    """Seconds of a call, the best of some."""
    seconds = []
    for _ in range(times):
        began = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - began)
    return min(seconds)
