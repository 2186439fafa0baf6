"""Nested tables and their text."""

from __future__ import annotations

import tomllib

import pytest
import tomli_w
from hypothesis import given
from hypothesis import strategies as st

from graphprox._utils.toml import leaves, merge, nest, parse_override, to_toml
from graphprox.errors import ParameterError

# -- tables ---------------------------------------------------------------------------------------------------------

names = st.text("ab0-_", min_size=1, max_size=3)
texts = st.text(st.characters(exclude_categories=["C"]), max_size=5)
single = st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts
leaf = single | st.lists(st.lists(texts, max_size=2), max_size=2)
inner = st.dictionaries(names, leaf, min_size=1, max_size=3)  # an empty table has no text
tables = st.dictionaries(names, leaf | inner | st.dictionaries(names, leaf | inner, min_size=1, max_size=3), max_size=4)


@given(tables)
def test_table_is_the_same_after_a_round_trip_and_as_another_library_writes_it(table):
    assert tomllib.loads(to_toml(table)) == table == tomllib.loads(tomli_w.dumps(table))


@given(tables)
def test_table_can_be_rebuilt_from_its_leaves(table):
    again = {}
    for name, value in leaves(table):
        again = merge(again, nest(name, value))
    assert again == table


@given(tables, tables)
def test_merged_table_has_all_changes_and_the_original_is_unchanged(table, changes):
    before = to_toml(table)
    merged = merge(table, changes)
    assert dict(leaves(changes)).items() <= dict(leaves(merged)).items()
    assert merge(merged, changes) == merged
    assert to_toml(table) == before


def test_value_replaces_a_table_and_a_table_a_value():
    assert merge({"head": 1}, {"head": {"out_channels": 2}}) == {"head": {"out_channels": 2}}
    assert merge({"head": {"out_channels": 2}}, {"head": 1}) == {"head": 1}


# -- overrides ------------------------------------------------------------------------------------------------------

TOML_VALUE = 'must be TOML, such as 256, true, "relu" or [["graph", "feature"]], quoted for the shell; got'


@pytest.mark.parametrize(
    ("override", "message"),
    [
        (
            "encoder.n_components",
            "a setting must be NAME=VALUE, such as n_components=256; got 'encoder.n_components'",
        ),
        (
            "encoder.n_components=",
            "a setting must be NAME=VALUE, such as n_components=256; got 'encoder.n_components='",
        ),
        ("=3", "a setting must be NAME=VALUE, such as n_components=256; got '=3'"),
        (
            "encoder..n_components=3",
            "a setting must be NAME=VALUE, such as n_components=256; got 'encoder..n_components=3'",
        ),
        (3, "a setting must be NAME=VALUE, such as n_components=256; got 3"),
        (
            "pairs=[[graph,feature]]",
            f"the value of pairs {TOML_VALUE} '[[graph,feature]]'",
        ),
        (
            "epochs=1\nseed=2",
            f"the value of epochs {TOML_VALUE} '1\\nseed=2'",
        ),
    ],
)
def test_invalid_override_is_rejected(override, message):
    with pytest.raises(ParameterError) as refused:
        parse_override(override)
    assert str(refused.value) == message


@given(names, single)
def test_line_of_toml_is_an_override(name, value):
    assert parse_override(to_toml({name: value})) == (name, value)
