"""From a table to a matrix: names, other tables with the same columns, storage."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp

from graphprox.errors import GraphError, IgnoredInputWarning
from graphprox.preprocessing import TableEncoder

TABLE = pa.table(
    {
        "age": [31, None, 52, 40],
        "city": ["Paris", "Rome", "Paris", ""],
        "member": ["yes", "no", "no", "yes"],
        "joined": ["2024-01-31", "2023-05-06", "2022-02-03", "2021-01-01"],
    }
)


@pytest.fixture
def encoder():
    return TableEncoder.fit(TABLE)


def test_names_say_what_each_column_of_numbers_is(encoder):
    assert encoder.feature_names == (
        "age",
        "age is missing",
        "city=Paris",
        "city=Rome",
        "city is missing",
        "member",
        "joined",
        "joined year cos",
        "joined year sin",
        "joined weekday cos",
        "joined weekday sin",
    )
    assert encoder.is_quantity.nonzero()[0].tolist() == [0, 6]
    assert encoder.transform(TABLE).shape == (4, 11)


def test_columns_are_found_by_their_names(encoder):
    shuffled = TABLE.select(["joined", "city", "age", "member"])
    assert np.array_equal(encoder.transform(shuffled), encoder.transform(TABLE))


def test_rows_are_encoded_one_by_one(encoder):
    assert np.array_equal(encoder.transform(TABLE.slice(1, 2)), encoder.transform(TABLE)[1:3])
    assert encoder.transform(TABLE.slice(0, 0)).shape == (0, 11)


def test_a_missing_column_is_an_error_that_names_it(encoder):
    with pytest.raises(
        GraphError, match="column 'city' is missing: add it, which may be empty, or did you mean 'City'"
    ):
        encoder.transform(TABLE.rename_columns(["age", "City", "member", "joined"]))
    with pytest.raises(GraphError, match="columns 'age', 'city' are missing: add them, which may be empty"):
        encoder.transform(TABLE.select(["member", "joined"]))


def test_another_column_is_ignored_with_a_warning(encoder):
    with pytest.warns(IgnoredInputWarning, match="column 'height' not in the fitted table; it is ignored"):
        x = encoder.transform(TABLE.append_column("height", pa.array([1, 2, 3, 4])))
    assert np.array_equal(x, encoder.transform(TABLE))


def test_unseen_categories_are_named_in_one_warning(encoder):
    other = TABLE.set_column(1, "city", pa.array(["Lyon", "Nice", "Paris", "Rome"]))
    with pytest.warns(IgnoredInputWarning, match="'city' has 'Lyon', 'Nice': new ones count as none") as caught:
        x = encoder.transform(other)
    assert len(caught) == 1
    assert x[:2, 2:5].tolist() == [[0, 0, 0], [0, 0, 0]]


def test_columns_that_say_nothing_are_named_in_a_warning():
    table = TABLE.append_column("planet", pa.array(["Earth"] * 4)).append_column("species", pa.array(["human"] * 4))
    with pytest.warns(
        IgnoredInputWarning, match="columns 'planet', 'species' have the same value in all rows; they are"
    ):
        encoder = TableEncoder.fit(table)
    assert encoder.ignored == ("planet", "species")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        encoder.transform(table)  # they are known to be ignored
    with pytest.raises(GraphError, match="must have a column that differs between nodes; 'planet' has the same value"):
        TableEncoder.fit(table.select(["planet"]))


def test_columns_must_have_different_names():
    with pytest.raises(GraphError, match="different names; 'a' is the name of several"):
        TableEncoder.fit(pa.table([pa.array([1, 2]), pa.array([1, 2])], names=["a", "a"]))


def test_many_categories_become_a_sparse_matrix():
    rng = np.random.default_rng(0)
    table = pa.table({name: rng.choice([f"c{i}" for i in range(30)], 300) for name in "ab"})
    assert isinstance(TableEncoder.fit(table).transform(table), sp.csr_array)


def test_an_encoder_is_the_same_after_json(encoder):
    again = TableEncoder.from_dict(json.loads(json.dumps(encoder.to_dict())))
    assert again == encoder
    assert np.array_equal(again.transform(TABLE), encoder.transform(TABLE))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"columns": "age"}, "columns"),
        ({"more": 1}, "more"),
        ({"columns": [{"type": "magic", "name": "a"}]}, "columns.0"),
        ({"columns": [{"type": "number", "name": "a", "mean": "3"}]}, "mean"),
        ({"columns": [{"type": "number", "name": "a", "mean": float("nan")}]}, "mean"),
        ({"columns": [{"type": "number", "name": 5, "mean": 1.0}]}, "name"),
        ({"columns": [{"type": "number", "name": "a", "mean": 1.0, "more": 1}]}, "more"),
        ({"columns": [{"type": "number", "name": "a", "mean": 1.0}] * 2}, "different names"),
        ({"columns": [{"type": "date", "name": "a", "mean": 1.0, "format": "%Y"}]}, "format"),
    ],
)
def test_a_damaged_description_is_rejected(encoder, change, words):
    with pytest.raises(ValueError, match=words):
        TableEncoder.from_dict({**encoder.to_dict(), **change})


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"age": [1, None, 3], "age is missing": [1, 2, 3]}, "column 'age' and of column 'age is missing': rename one"),
        ({"city": ["a", "b", "a"], "city=a": [1, 2, 3]}, "'city=a' is made of column 'city' and of column 'city=a'"),
        ({"x": [1, 2, 3], "row is missing": [1, 2, 3]}, "a row without cells and of column 'row is missing'"),
        ({"city": ["(other)"] * 300 + ["b"] * 300 + ["c"]}, "'city=\\(other\\)' is made of column 'city' and of"),
    ],
)
def test_names_that_collide_are_an_error_that_names_both(table, words):
    with pytest.raises(GraphError, match=words):
        TableEncoder.fit(pa.table(table))


@pytest.mark.parametrize(
    ("fitted", "cells", "words"),
    [
        (
            [1, 2],
            ["3", "x"],
            r"must contain numbers, as that of the fitted table does; column 'a' contains 'x' in row 1 \(from 0\)",
        ),
        (["2024-01-31", "2024-02-01"], ["2024-01-31", "soon"], "must contain dates, as that of the fitted .*: correct"),
        ([True, False], ["yes", "perhaps"], "must contain yes and no, as .* fit again if the column has changed"),
    ],
)
def test_a_cell_of_another_kind_names_what_was_fitted(fitted, cells, words):
    encoder = TableEncoder.fit(pa.table({"a": fitted}))
    with pytest.raises(GraphError, match=words):
        encoder.transform(pa.table({"a": cells}))


@pytest.mark.parametrize("cells", [[1, 2], ["a", "b"], ["yes", "no"], ["2024-01-31", "2024-02-01"]])
def test_a_column_that_is_missing_may_be_added_empty(cells):
    encoder = TableEncoder.fit(pa.table({"income": cells, "age": [1, 2]}))
    with pytest.raises(GraphError, match=r"column 'income' is missing: add it, which may be empty$"):
        encoder.transform(pa.table({"age": [1, 2]}))
    for empty in (pa.array(["", ""]), pa.nulls(2)):
        x = encoder.transform(pa.table({"income": empty, "age": [1, 2]}))
        assert x.shape == (2, len(encoder.feature_names))
