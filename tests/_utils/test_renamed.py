"""Names of version 0.1: each has a present name that exists."""

from __future__ import annotations

from graphprox import METHODS
from graphprox._utils.renamed import (
    RENAMED_FIELDS,
    RENAMED_PARAMETERS,
    RENAMED_PROTOCOLS,
    renamed_field,
    renamed_parameter,
)
from graphprox.evaluation import PROTOCOLS
from graphprox.ftgcl.recipe_fields import field_names


def test_new_names_of_old_fields_are_fields():
    known = set(field_names())
    for old, new in RENAMED_FIELDS.items():
        assert renamed_field(old) == new
        assert set(new.split(" and ")) <= known
    assert renamed_field("topology.iterations") == "views.topology.iterations"
    assert {renamed_field(name) for name in known} == {None}


def test_every_renamed_parameter_is_one_of_a_method():
    known = {name for kind in METHODS.values() for name in kind.parameters()}
    for old, names in RENAMED_PARAMETERS.items():
        assert set(names) <= known
        assert renamed_parameter(old, names[-1:]) == names[-1]
        assert renamed_parameter(old, ()) is None


def test_new_names_of_protocols_are_protocols():
    assert set(RENAMED_PROTOCOLS.values()) <= set(PROTOCOLS)
    assert not set(RENAMED_PROTOCOLS) & set(PROTOCOLS)
