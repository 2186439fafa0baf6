"""Hashing and randomness out of one function: a bijection of 64-bit numbers that looks random.

What is drawn depends on nothing but the seed and what it is drawn for, so it is the same on any number of threads.
"""

from __future__ import annotations

import numpy as np

from graphprox.proximity.compiled import compiled

# splitmix64, by Steele, Lea and Flood. Every constant is a uint64: numba makes a float of a uint64 and an int.
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_30, _27, _31, _11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)
_UNIT = 2.0**-53


@compiled
def mix(value: np.uint64) -> np.uint64:
    """A number that looks unrelated to the value; different values have different ones."""
    value = (value ^ (value >> _30)) * _FIRST
    value = (value ^ (value >> _27)) * _SECOND
    return value ^ (value >> _31)


@compiled
def stream(seed: np.uint64, node: int, number: int) -> np.uint64:
    """Where the random numbers of one walk of a node begin."""
    return mix(mix(seed ^ mix(np.uint64(node))) + GOLDEN * np.uint64(number))


@compiled
def uniform(state: np.uint64) -> float:
    """The random number in [0, 1) that belongs to a state; the next state is ``state + GOLDEN``."""
    return np.int64(mix(state) >> _11) * _UNIT
