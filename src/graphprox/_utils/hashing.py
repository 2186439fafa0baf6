"""Hashing and random numbers from splitmix64, a bijection of 64-bit integers that looks random.

Random numbers depend only on the seed and on what they are used for, so results do not depend on the number of threads.
"""

from __future__ import annotations

import numpy as np

from graphprox._utils.numba_helpers import njit

# splitmix64, by Steele, Lea and Flood. Every constant is a uint64: numba turns a uint64 and an int into a float.
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_30, _27, _31, _11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)
_UNIT = 2.0**-53


@njit
def mix(value: np.uint64) -> np.uint64:
    """Return the hash of a 64-bit integer; different integers have different hashes."""
    value = (value ^ (value >> _30)) * _FIRST
    value = (value ^ (value >> _27)) * _SECOND
    return value ^ (value >> _31)


@njit
def stream(seed: np.uint64, node: int, number: int) -> np.uint64:
    """Return the first state of the random numbers of one walk of a node."""
    return mix(mix(seed ^ mix(np.uint64(node))) + GOLDEN * np.uint64(number))


@njit
def uniform(state: np.uint64) -> float:
    """Return the random number in [0, 1) of a state; the next state is ``state + GOLDEN``."""
    return np.int64(mix(state) >> _11) * _UNIT
