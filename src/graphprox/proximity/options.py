"""The rules for the options of walks, subgraphs and the topology descriptor, each in one place."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator

from graphprox.errors import ParameterError

MOST_BIASED = 1e6


def check_whole(*, least: int = 1, most: int = 1_000_000, **options: Any) -> None:
    """Whether each option is a whole number from ``least`` to ``most``."""
    for name, value in options.items():
        whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
        if not whole or not least <= value <= most:
            raise ParameterError(f"{name} must be a whole number in {least}..{most:,}; got {value!r}")


def check_bias(**options: Any) -> None:
    """Whether each option is a number that node2vec's p or q can be."""
    for name, value in options.items():
        number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
        if not number or not 1 / MOST_BIASED <= value <= MOST_BIASED:
            raise ParameterError(f"{name} must be a number in {1 / MOST_BIASED:g}..{MOST_BIASED:g}; got {value!r}")


def check_tolerance(**options: Any) -> None:
    """Whether each option is a relative tolerance."""
    for name, value in options.items():
        if not isinstance(value, float | np.floating) or not 0 < value < 1:
            raise ParameterError(f"{name} must be a number in (0, 1), relative to the largest; got {value!r}")


def check_one_of(choices: tuple[str, ...], **options: Any) -> None:
    """Whether each option is one of the choices."""
    for name, value in options.items():
        if value not in choices:
            raise ParameterError(f"{name} must be {' or '.join(map(repr, choices))}; got {value!r}")


def draw_seed(rng: Any) -> np.uint64:
    """A 64-bit seed, for code that draws by itself."""
    if not isinstance(rng, Generator):
        raise ParameterError(f"rng must be a numpy Generator, as numpy.random.default_rng(seed) makes; got {rng!r}")
    return rng.integers(0, 2**64 - 1, dtype=np.uint64, endpoint=True)
