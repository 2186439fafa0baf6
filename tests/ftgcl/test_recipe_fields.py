"""Fields of a recipe by their names with dots."""

from __future__ import annotations

import pytest

from graphprox import Recipe
from graphprox._utils.toml import leaves, to_plain
from graphprox.ftgcl.recipe_fields import field_names, field_rules, get_field, has_field


def test_every_field_has_a_unique_name_and_a_rule():
    names = list(field_names())
    assert len(set(names)) == len(names)
    is_view = {name for name in names if name.startswith("views.") and name.count(".") == 1}
    assert {name for name in names if name not in field_rules()} <= is_view


@pytest.mark.parametrize(
    "recipe", [Recipe(), Recipe(encoder={"name": "gat"}, views={"topology": {"k_max": 4}}, objective={"name": "node"})]
)
def test_every_value_of_a_recipe_is_found_by_its_name(recipe):
    for name, value in leaves(to_plain(recipe)):
        assert has_field(recipe, name), name
        assert get_field(recipe, name) == value, name


def test_fields_of_other_encoders_and_views_are_missing():
    assert not has_field(Recipe(), "encoder.heads")
    assert not has_field(Recipe(), "views.shape")
    assert not has_field(Recipe(), "augmentations.light.drop_edges")
