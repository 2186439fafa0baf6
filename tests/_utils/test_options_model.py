"""Options: validated, immutable tables of settings."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest
from pydantic import ValidationError

from graphprox import ParameterError
from graphprox._utils.options_model import (
    FrozenMapping,
    NonNegativeFloat,
    Options,
    PositiveInt,
    Probability,
    field_rule,
    integer,
)


class SampleOptions(Options):
    prefix = "sample."

    size: PositiveInt = 8
    rate: Probability = 0.5
    decay: NonNegativeFloat = 0.0
    mode: Literal["sum", "mean"] = "sum"
    is_wide: bool = False


@pytest.mark.parametrize(
    ("fields", "rule"),
    [
        ({"size": 0}, "sample.size must be a positive integer; got 0"),
        ({"size": 1.0}, "sample.size must be a positive integer; got 1.0"),
        ({"rate": 1}, "sample.rate must be a number in [0, 1); got 1"),
        ({"decay": float("inf")}, "sample.decay must be a non-negative, finite number; got inf"),
        ({"mode": "max"}, "sample.mode must be one of sum, mean; got 'max'"),
    ],
)
def test_invalid_value_is_rejected_in_one_sentence(fields, rule):
    with pytest.raises(ParameterError) as refused:
        SampleOptions(**fields)
    assert str(refused.value) == rule


def test_unknown_field_is_rejected_with_its_full_name():
    with pytest.raises(ParameterError, match=r"has no field 'sample\.zzz'; valid names are sample\.size, sample\.rate"):
        SampleOptions(zzz=1)


def test_options_are_immutable():
    with pytest.raises(ValidationError, match="frozen"):
        SampleOptions().size = 3


def test_equal_values_are_stored_equally():
    options = SampleOptions(size=np.int64(3), rate=np.float64(0.25), decay=-0.0)
    assert options == SampleOptions(size=3, rate=0.25)
    assert options.model_dump_json() == SampleOptions(size=3, rate=0.25).model_dump_json()
    assert type(options.size) is int


def test_every_field_states_its_rule():
    assert [field_rule(SampleOptions, name) for name in ("mode", "is_wide")] == ["one of sum, mean", "true or false"]
    assert integer(2).description == "an integer of at least 2"


def test_frozen_mappings_are_equal_regardless_of_order():
    one, other = FrozenMapping({"b": 1, "a": 2}), FrozenMapping({"a": 2, "b": 1})
    assert one == other
    assert hash(one) == hash(other)
    assert repr(one) == repr(other)
    assert list(one) == ["a", "b"]
    assert len(one) == 2
    with pytest.raises(TypeError):
        one["c"] = 3
