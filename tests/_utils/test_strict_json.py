"""JSON that every program reads."""

from __future__ import annotations

import json

import numpy as np
import pytest

from graphprox._utils.strict_json import dump_json


@pytest.mark.parametrize("value", [{"a": [1, 2.5, None, True, "ä"]}, [], {}, 3, "text", [{"b": {"c": [0.1]}}]])
def test_finite_values_are_as_in_json(value):
    assert json.loads(dump_json(value)) == value
    assert dump_json(value, indent=2, ensure_ascii=False) == json.dumps(value, indent=2, ensure_ascii=False)


@pytest.mark.parametrize("number", [float("inf"), -float("inf"), float("nan"), np.float64("nan")])
def test_numbers_that_are_not_finite_are_null(number):
    assert json.loads(dump_json({"a": number, "b": [number, (1, {"c": number})]})) == {
        "a": None,
        "b": [None, [1, {"c": None}]],
    }
