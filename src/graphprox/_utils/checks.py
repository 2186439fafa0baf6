"""Checks of arguments, with errors that state the rule and the invalid value."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.random import Generator

from graphprox.errors import ParameterError

MAX_BIAS = 1e6  # of node2vec's p and q


def is_integer(value: object) -> bool:
    """Check whether a value is an integer, of Python or numpy; booleans are none.

    Examples
    --------
    >>> is_integer(2), is_integer(np.int32(2)), is_integer(2.0), is_integer(True)
    (True, True, False, False)
    """
    return isinstance(value, Integral) and not isinstance(value, bool)


def check_positive(**arguments: Any) -> None:
    """Raise a `ParameterError` unless each argument is a positive integer.

    Examples
    --------
    >>> check_positive(n_splits=np.int64(2))
    >>> check_positive(n_splits=0)
    Traceback (most recent call last):
    graphprox.errors.ParameterError: n_splits must be a positive integer; got 0
    """
    for name, value in arguments.items():
        if not is_integer(value) or value < 1:
            raise ParameterError(f"{name} must be a positive integer; got {value!r}")


def check_integer(*, min: int = 1, max: int = 1_000_000, **arguments: Any) -> None:  # noqa: A002
    """Raise a `ParameterError` unless each argument is an integer between ``min`` and ``max``.

    Parameters
    ----------
    min, max : int
        Smallest and largest value allowed.
    **arguments : object
        Values to check, by the names that the message shows.

    Examples
    --------
    >>> check_integer(num_walks=30, hops=2)
    >>> check_integer(hops=0)
    Traceback (most recent call last):
    graphprox.errors.ParameterError: hops must be an integer between 1 and 1,000,000; got 0
    """
    for name, value in arguments.items():
        if not is_integer(value) or not min <= value <= max:
            raise ParameterError(f"{name} must be an integer between {min} and {max:,}; got {value!r}")


def check_bias(**arguments: Any) -> None:
    """Raise a `ParameterError` unless each argument is a valid p or q of node2vec."""
    for name, value in arguments.items():
        is_number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
        if not is_number or not 1 / MAX_BIAS <= value <= MAX_BIAS:
            raise ParameterError(f"{name} must be a number between {1 / MAX_BIAS:g} and {MAX_BIAS:g}; got {value!r}")


def check_tolerance(**arguments: Any) -> None:
    """Raise a `ParameterError` unless each argument is a relative tolerance."""
    for name, value in arguments.items():
        if not isinstance(value, float | np.floating) or not 0 < value < 1:
            raise ParameterError(f"{name} must be a number in (0, 1); got {value!r}")


def check_choice(choices: tuple[str, ...], **arguments: Any) -> None:
    """Raise a `ParameterError` unless each argument is one of the choices."""
    for name, value in arguments.items():
        if value not in choices:
            raise ParameterError(f"{name} must be one of {', '.join(map(repr, choices))}; got {value!r}")


def sample_seed(rng: Any) -> np.uint64:
    """Generate a 64-bit seed for compiled code from a numpy Generator."""
    if not isinstance(rng, Generator):
        raise ParameterError(f"rng must be a numpy Generator; got {rng!r}: use numpy.random.default_rng(seed)")
    return rng.integers(0, 2**64 - 1, dtype=np.uint64, endpoint=True)
