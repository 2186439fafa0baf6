"""Hashing and random numbers from splitmix64, a bijection of 64-bit integers that looks random.

Random numbers depend only on the seed and on what they are used for, so results do not depend on the number of threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

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


def hash_strings(strings: Any) -> NDArray[np.uint64]:
    """Return a hash of each string, which depends on nothing else.

    Parameters
    ----------
    strings : pyarrow.Array of str
        Without missing ones.

    Returns
    -------
    ndarray of uint64 of shape (n_strings,)

    Examples
    --------
    >>> import pyarrow as pa
    >>> first, second, third = hash_strings(pa.array(["ann", "bob", "ann"]))
    >>> bool(first == third), bool(first == second)
    (True, False)
    """
    _, offsets, text = strings.buffers()
    ends = np.frombuffer(offsets, np.int32)[strings.offset : strings.offset + len(strings) + 1]
    hashes = np.empty(len(strings), np.uint64)
    _hash_text(np.frombuffer(text or b"", np.uint8), ends, hashes)
    return hashes


@njit
def _hash_text(text: NDArray[np.uint8], ends: NDArray[np.int32], hashes: NDArray[np.uint64]) -> None:
    for i in range(len(hashes)):
        state = mix(np.uint64(ends[i + 1] - ends[i]))
        for at in range(ends[i], ends[i + 1]):
            state = mix(state ^ np.uint64(text[at]))
        hashes[i] = state
