"""Random states as seeds."""

from __future__ import annotations

import numpy as np
import pytest

from graphprox import ParameterError
from graphprox._utils.random import check_seed


@pytest.mark.parametrize("seed", [0, 3, np.int64(3), np.uint8(3), 2**63 - 1])
def test_integer_is_its_own_seed(seed):
    assert check_seed(seed) == seed
    assert type(check_seed(seed)) is int


@pytest.mark.parametrize("make", [np.random.RandomState, np.random.default_rng])
def test_generator_is_advanced_and_reproducible(make):
    state = make(0)
    seeds = [check_seed(state) for _ in range(3)]
    assert len(set(seeds)) == 3
    again = make(0)
    assert [check_seed(again) for _ in range(3)] == seeds


def test_none_gives_a_random_seed():
    assert len({check_seed(None) for _ in range(3)}) > 1


@pytest.mark.parametrize("wrong", [-1, 2**63, True, np.True_, 0.5, 1.0, "0", [0], object()])
def test_anything_else_is_rejected(wrong):
    with pytest.raises(ParameterError, match=r"^random_state must be a non-negative integer below 2\^63, .*; got "):
        check_seed(wrong)
