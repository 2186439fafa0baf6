"""Limits of parameters: which values they accept, and how they are described."""

from __future__ import annotations

import numpy as np
import pytest

from graphprox import ParameterError
from graphprox.methods.parameters import check_value, describe_values, parameter


@pytest.mark.parametrize(
    ("declared", "rule", "valid", "invalid"),
    [
        (parameter(1, min=1), "a positive integer", (1, np.int64(7)), (0, 1.0, True, "1", None)),
        (parameter(1, min=0), "a non-negative integer", (0, 7), (-1,)),
        (parameter(3, min=2), "an integer of at least 2", (2,), (1,)),
        (parameter(1, min=0, max=2), "an integer between 0 and 2", (0, 2), (-1, 3)),
        (parameter(1.0, max=2), "a finite number of at most 2", (-5, 2.0), (2.1, float("nan"), float("-inf"))),
        (parameter(0.5, above=0), "a finite number above 0", (1e-9, 1, np.float32(2)), (0, 0.0, -1.0, np.inf)),
        (parameter(0.5, above=0, max=1), "a finite number above 0 and at most 1", (1e-9, 1), (0, 1.1)),
        (parameter(True), "true or false", (True, False), (1, "true", None)),
        (parameter("a", choices=("a", "b")), "one of a, b", ("a", "b"), ("c", ["a"], None)),
        (parameter(None, min=1, kind=int), "a positive integer", (None, 1), (0, "1")),
        (parameter(1, min=1, optional=True), "a positive integer", (None, 1), (0,)),
        (parameter("", is_setting=False), "", ("anything", 3), ()),
    ],
)
def test_value_is_accepted_within_the_limits_and_rejected_with_them(declared, rule, valid, invalid):
    assert describe_values(declared) == rule
    for value in valid:
        check_value("size", value, declared)
    for value in invalid:
        with pytest.raises(ParameterError) as refused:
            check_value("size", value, declared)
        assert str(refused.value).startswith(f"size must be {rule}; got ")
