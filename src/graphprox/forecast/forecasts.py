"""Forecast: seconds and peak memory, from costs, coefficients and the speed of this machine."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from graphprox._utils.amounts import format_duration, format_memory
from graphprox._utils.memory import current_memory, peak_memory
from graphprox.forecast.machine import Speeds, machine_speeds
from graphprox.forecast.work import Costs

START = "start"  # coefficient of what does not depend on the graph: seconds, or bytes


@dataclass(frozen=True)
class Forecast:
    """What a method will take on this machine, as estimated; the memory is more reliable than the time.

    Parameters
    ----------
    seconds : float
        Time of fitting, without that of reading the graph.
    peak_memory : int
        Peak memory of the process in bytes, with all that it has loaded already.

    Examples
    --------
    >>> print(Forecast(seconds=190.0, peak_memory=3_200_000_000))
    about 3 min 10 s and 3.2 GB of memory, on this machine if it is idle
    """

    seconds: float
    peak_memory: int

    def __str__(self) -> str:
        cost = f"about {format_duration(self.seconds)} and {format_memory(self.peak_memory)} of memory"
        return f"{cost}, on this machine if it is idle"


def make_forecast(costs: Costs, *, speeds: Speeds | None = None, base: int | None = None) -> Forecast:
    """Forecast time and memory of some costs.

    Parameters
    ----------
    costs : Costs
    speeds : Speeds, optional
        Speeds of the machine; measured if they are not given.
    base : int, optional
        Bytes that the process uses before; its resident memory by default.

    Returns
    -------
    Forecast
    """
    speeds = machine_speeds() if speeds is None else speeds
    coefficients = load_coefficients()[costs.model]
    seconds, memory = coefficients["seconds"], coefficients["memory"]
    # No graph of the fit has every kind of work: what is not known counts as it is.
    total = seconds[START] + sum(seconds.get(name, 1.0) * speeds.seconds(work) for name, work in costs.work.items())
    needed = memory[START] + sum(memory.get(name, 1.0) * amount for name, amount in costs.memory.items())
    needed += current_memory() if base is None else base
    return Forecast(total, max(int(needed), 0 if base is not None else peak_memory() or 0))


@cache
def load_coefficients() -> Mapping[str, Mapping[str, Mapping[str, float]]]:
    """Return the coefficients that ``python -m benchmarks.forecasting fit`` has written."""
    text = files("graphprox.forecast").joinpath("coefficients.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)
