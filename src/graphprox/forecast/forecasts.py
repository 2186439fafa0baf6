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
    seconds : float or None
        Time of fitting, without that of reading the graph; None if it is not forecast.
    peak_memory : int
        Peak memory of the process in bytes, with all that it has loaded already. If the time is not forecast, what the
        largest arrays need at least.

    Examples
    --------
    >>> print(Forecast(seconds=190.0, peak_memory=3_200_000_000))
    about 3 min 10 s and 3.2 GB of memory, on this machine if it is idle
    >>> print(Forecast(seconds=None, peak_memory=3_200_000_000))
    at least 3.2 GB of memory; the time is not forecast
    """

    seconds: float | None
    peak_memory: int

    def __str__(self) -> str:
        if self.seconds is None:
            return f"at least {format_memory(self.peak_memory)} of memory; the time is not forecast"
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
    coefficients = {} if costs.model is None else load_coefficients()[costs.model]
    # No graph of the fit has every kind of work and of memory: what is not known counts as it is.
    memory = coefficients.get("memory", {START: 0.0})
    needed = memory[START] + sum(memory.get(name, 1.0) * amount for name, amount in costs.memory.items())
    needed += current_memory() if base is None else base
    seconds = None if costs.model is None else _forecast_seconds(costs, coefficients["seconds"], speeds)
    return Forecast(seconds, max(int(needed), 0 if base is not None else peak_memory() or 0))


def _forecast_seconds(costs: Costs, factors: Mapping[str, float], speeds: Speeds | None) -> float:
    speeds = machine_speeds() if speeds is None else speeds
    return factors[START] + sum(factors.get(name, 1.0) * speeds.seconds(work) for name, work in costs.work.items())


@cache
def load_coefficients() -> Mapping[str, Mapping[str, Mapping[str, float]]]:
    """Return the coefficients that ``python -m benchmarks.forecasting fit`` has written."""
    text = files("graphprox.forecast").joinpath("coefficients.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)
