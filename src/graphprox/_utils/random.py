"""Random states, as in scikit-learn, and the integer seeds that all random streams are derived from."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from graphprox.errors import ParameterError

RandomState: TypeAlias = int | np.random.RandomState | np.random.Generator | None


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
