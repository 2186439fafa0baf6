"""Seconds and peak memory of a call, in a separate process, so that measurements do not share memory."""

from __future__ import annotations

import multiprocessing
import resource
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Measured:
    """The best time of several repetitions in seconds, and the largest peak memory that any of them added."""

    seconds: float
    peak_mb: float
    result: Any = None  # what the call of the best run returned


def measure(call: Callable[..., Any], *arguments: Any, repeat: int = 3) -> Measured:
    """Measure ``call(*arguments)``; the function is called once before, so that imports are not measured."""
    runs = []
    for _ in range(repeat):
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as process:
            runs.append(process.submit(_time_call, call, arguments).result())
    best = min(runs, key=lambda run: run[0])
    return Measured(best[0], max(peak for _, peak, _ in runs) / 2**20, best[2])


def _time_call(call: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[float, float, Any]:
    warm_up = getattr(call, "warm_up", None)
    if warm_up is not None:
        warm_up()
    before = _reset_peak()
    start = time.perf_counter()
    result = call(*arguments)
    seconds = time.perf_counter() - start
    peak = _peak() - before
    # Only numbers are sent back: pickling a graph would take time and memory.
    return seconds, peak, result if isinstance(result, float | dict) else None


def _reset_peak() -> int:
    """Reset the peak memory, if the system supports it, and return the bytes in use."""
    if Path("/proc/self/clear_refs").exists():
        Path("/proc/self/clear_refs").write_text("5")
    return _peak()


def _peak() -> int:
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
