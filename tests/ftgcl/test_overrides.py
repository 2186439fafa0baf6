"""Names of settings: parameters, and fields of a recipe named by dots."""

from __future__ import annotations

import pytest

from graphprox import FTGCL, ParameterError, Recipe
from graphprox.ftgcl.overrides import FIELDS, check_names, check_overrides, without_ranges
from graphprox.ftgcl.recipe_fields import get_field


def test_parameter_and_field_that_it_stands_for_have_the_same_default():
    parameters, recipe = FTGCL.parameters(), Recipe()
    for name, field in FIELDS.items():
        assert parameters[name].default == get_field(recipe, field), name


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (3, "overrides must map fields of a recipe to values"),
        ({"method": "dgi"}, "overrides must not contain 'method'; got 'dgi': use the class of another method"),
        ({"random_state": 3}, "overrides must not contain 'random_state'; got 3: set the parameter random_state"),
    ],
)
def test_fixed_fields_cannot_be_overridden(overrides, message):
    with pytest.raises(ParameterError, match=message):
        check_overrides(overrides)


def test_recipe_may_have_a_name_of_its_own():
    assert check_overrides({"method": "mine", "encoder.residual": True}) == {"method": "mine", "encoder.residual": True}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("temprature", "FT-GCL has no setting 'temprature'; did you mean 'temperature'"),
        ("width", "'width'; it was renamed to 'n_components' in version 0.2"),
        ("encoder.width", "'encoder.width'; it was renamed to 'encoder.n_components' in version 0.2"),
        ("random_state", "FT-GCL has no setting 'random_state'"),
    ],
)
def test_unknown_setting_is_rejected(name, message):
    check_names(FTGCL, ["epochs", "encoder.residual"])
    with pytest.raises(ParameterError, match=message):
        check_names(FTGCL, [name])


def test_only_ranges_of_single_views_are_removed():
    assert without_ranges({"k_min": 2, "topology": {"k_min": 1, "p": 2.0}}) == {"k_min": 2, "topology": {"p": 2.0}}
