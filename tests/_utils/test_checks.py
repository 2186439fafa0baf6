"""Checks of arguments: what they accept, and the sentence for what they do not."""

from __future__ import annotations

import numpy as np
import pytest

from graphprox import ParameterError
from graphprox._utils.checks import (
    check_bias,
    check_choice,
    check_integer,
    check_positive,
    check_tolerance,
    sample_seed,
)


@pytest.mark.parametrize(
    ("check", "valid", "invalid"),
    [
        (check_integer, (1, 1_000_000, np.int32(5)), (0, 1_000_001, 2.0, True, "3", None)),
        (check_positive, (1, 10**7, np.int64(2), np.uint8(3)), (0, -1, 2.0, np.float64(2), True, np.True_, "3", None)),
        (check_bias, (1e-6, 1, 0.25, np.float32(2), 10**6), (0, -1, 1e7, True, np.nan, "1")),
        (check_tolerance, (1e-9, 0.5, np.float64(0.1)), (0.0, 1.0, 1, np.nan, "0.1")),
    ],
)
def test_only_numbers_in_range_are_accepted(check, valid, invalid):
    assert [check(value=value) for value in valid] == [None] * len(valid)
    for value in invalid:
        with pytest.raises(ParameterError, match=r"value must be an? .*; got "):
            check(value=value)


def test_range_of_integers_can_be_given():
    assert check_integer(min=0, max=2, hops=0) is None
    with pytest.raises(ParameterError, match="hops must be an integer between 0 and 2; got 3"):
        check_integer(min=0, max=2, hops=3)


def test_only_the_choices_are_accepted():
    assert check_choice(("walks", "egonet"), subgraphs="egonet") is None
    with pytest.raises(ParameterError, match="subgraphs must be one of 'walks', 'egonet'; got 'balls'"):
        check_choice(("walks", "egonet"), subgraphs="balls")


def test_seeds_are_64_bits_of_a_generator():
    seeds = [sample_seed(np.random.default_rng(seed)) for seed in (0, 0, 1)]
    assert seeds[0] == seeds[1] != seeds[2]
    assert {type(seed) for seed in seeds} == {np.uint64}
    with pytest.raises(ParameterError, match=r"rng must be a numpy Generator; got 3: use numpy\.random\.default_rng"):
        sample_seed(3)
