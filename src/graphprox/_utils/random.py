"""Random states, as in scikit-learn, and the integer seeds that all random streams are derived from."""

from __future__ import annotations

import zlib
from typing import Literal, TypeAlias

import numpy as np

from graphprox.errors import ParameterError

RandomState: TypeAlias = int | np.random.RandomState | np.random.Generator | None
Stream: TypeAlias = Literal["own", "legacy"]


def check_seed(random_state: RandomState) -> int:
    """Return the integer seed of a random state.

    Parameters
    ----------
    random_state : int, RandomState, Generator or None
        A non-negative integer is its own seed. A generator is advanced, and None gives a random seed.

    Returns
    -------
    int

    Examples
    --------
    >>> check_seed(3)
    3
    """
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    if isinstance(random_state, int | np.integer) and not isinstance(random_state, bool) and 0 <= random_state < 2**63:
        return int(random_state)
    if random_state is None or isinstance(random_state, np.random.RandomState):
        from sklearn.utils import check_random_state  # takes a second to import

        return int(check_random_state(random_state).randint(2**31))
    raise ParameterError(
        "random_state must be a non-negative integer below 2^63, a RandomState, a Generator or None; "
        f"got {random_state!r}"
    )


def make_generator(random_state: RandomState, purpose: str, *, stream: Stream = "own") -> np.random.Generator:
    """Create a generator for one purpose, independent of those that others make from the same seed.

    Labels of a published graph may have been drawn by ``numpy.random.default_rng(seed).permutation(n)``: a split that
    makes the same call has all nodes of one class in one part.

    Parameters
    ----------
    random_state : int, RandomState, Generator or None
    purpose : str
        Names the stream.
    stream : {"own", "legacy"}, default="own"
        ``"legacy"`` is ``numpy.random.default_rng(seed)`` itself, as in version 0.1 and in the reproduction.

    Returns
    -------
    numpy.random.Generator

    Raises
    ------
    ParameterError
        If there is no such stream.

    Examples
    --------
    >>> int(make_generator(0, "split").integers(100)) == int(np.random.default_rng(0).integers(100))
    False
    """
    seed = check_seed(random_state)
    if stream == "own":
        return np.random.default_rng([seed, zlib.crc32(purpose.encode())])
    if stream == "legacy":
        return np.random.default_rng(seed)
    raise ParameterError(f"stream must be own or legacy; got {stream!r}")
