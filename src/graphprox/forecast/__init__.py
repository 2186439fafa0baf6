"""Forecasts of time and memory: the work that a method will do, and how fast this machine does it."""

from graphprox.forecast.forecasts import Forecast, make_forecast
from graphprox.forecast.ignoring import ignore_memory
from graphprox.forecast.machine import NOMINAL, Speeds, measure_speeds
from graphprox.forecast.work import Costs, Work

__all__ = [
    "NOMINAL",
    "Costs",
    "Forecast",
    "Speeds",
    "Work",
    "ignore_memory",
    "make_forecast",
    "measure_speeds",
]
