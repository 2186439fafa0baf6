from __future__ import annotations

import tomllib

import pytest
import tomli_w
from hypothesis import given
from hypothesis import strategies as st

from graphprox.errors import ParameterError
from graphprox.training.tables import MOST_SHOWN, did_you_mean, leaves, merge, nested, parsed_override, shown, toml

# -- tables -----------------------------------------------------------------------------------------------------------

names = st.text("ab0-_", min_size=1, max_size=3)
texts = st.text(st.characters(exclude_categories=["C"]), max_size=5)
single = st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts
leaf = single | st.lists(st.lists(texts, max_size=2), max_size=2)
inner = st.dictionaries(names, leaf, min_size=1, max_size=3)  # a table without fields has no text
tables = st.dictionaries(names, leaf | inner | st.dictionaries(names, leaf | inner, min_size=1, max_size=3), max_size=4)


@given(tables)
def test_a_table_comes_back_from_its_text_and_an_independent_writer_says_the_same(table):
    assert tomllib.loads(toml(table)) == table == tomllib.loads(tomli_w.dumps(table))


@given(tables)
def test_a_table_is_its_leaves_one_by_one(table):
    again = {}
    for name, value in leaves(table):
        again = merge(again, nested(name, value))
    assert again == table


@given(tables, tables)
def test_merging_takes_every_leaf_of_the_changes_and_leaves_what_it_is_given_as_it_was(table, changes):
    before = toml(table)
    merged = merge(table, changes)
    assert dict(leaves(changes)).items() <= dict(leaves(merged)).items()
    assert merge(merged, changes) == merged
    assert toml(table) == before


def test_a_value_gives_way_to_a_table_and_a_table_to_a_value():
    assert merge({"head": 1}, {"head": {"width": 2}}) == {"head": {"width": 2}}
    assert merge({"head": {"width": 2}}, {"head": 1}) == {"head": 1}


# -- overrides --------------------------------------------------------------------------------------------------------

TOML_VALUE = (
    'must be TOML, such as 256, true, "relu" or [["graph", "feature"]], with quotes that the shell leaves alone; got'
)


@pytest.mark.parametrize(
    ("override", "sentence"),
    [
        ("encoder.width", "an override must be FIELD=VALUE, such as encoder.width=256; got 'encoder.width'"),
        ("encoder.width=", "an override must be FIELD=VALUE, such as encoder.width=256; got 'encoder.width='"),
        ("=3", "an override must be FIELD=VALUE, such as encoder.width=256; got '=3'"),
        ("encoder..width=3", "an override must be FIELD=VALUE, such as encoder.width=256; got 'encoder..width=3'"),
        (3, "an override must be FIELD=VALUE, such as encoder.width=256; got 3"),
        (
            "turns=[[graph,feature]]",
            f"the value of turns {TOML_VALUE} '[[graph,feature]]'",
        ),
        (
            "steps=1\nseed=2",
            f"the value of steps {TOML_VALUE} '1\\nseed=2'",
        ),
    ],
)
def test_overrides_that_cannot_be_read(override, sentence):
    with pytest.raises(ParameterError) as refused:
        parsed_override(override)
    assert str(refused.value) == sentence


@given(names, single)
def test_an_override_is_a_line_of_toml(name, value):
    assert parsed_override(toml({name: value})) == (name, value)


# -- words ------------------------------------------------------------------------------------------------------------


def test_a_long_value_is_cut():
    assert shown(list(range(3))) == "[0, 1, 2]"
    assert shown("a" * (MOST_SHOWN - 2)) == repr("a" * (MOST_SHOWN - 2))
    assert shown("a" * MOST_SHOWN) == "'" + "a" * (MOST_SHOWN - 1) + "…"


def test_the_nearest_name_is_told_as_it_is_written():
    assert did_you_mean("cora", ["Cora", "DBLP"]) == "did you mean 'Cora'?"
    assert did_you_mean("zzz", ["Cora", "DBLP"]) == "there are Cora, DBLP"
