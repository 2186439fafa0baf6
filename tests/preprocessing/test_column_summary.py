"""What became of the columns of a table is what the encoder and the cells say."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from graphprox import IgnoredInputWarning
from graphprox.preprocessing import encode_table
from graphprox.preprocessing.column_summary import ColumnSummary, summarize_columns

ROWS = 400
RNG = np.random.default_rng(0)
TABLE = pa.table(
    {
        "age": [None if i % 10 == 0 else i for i in range(ROWS)],
        "city": RNG.choice(["Paris", "Rome", "Oslo"], ROWS),
        "code": [min(i, 80) for i in range(ROWS)],
        "member": [None, *RNG.choice(["yes", "no"], ROWS - 1)],
        "joined": ["", "NA", *[f"2024-0{1 + i % 9}-01" for i in range(ROWS - 2)]],
        "planet": ["Earth"] * ROWS,
        "name": [f"n{i}" for i in range(ROWS)],
        "empty": pa.nulls(ROWS),
        "note": ["x"] * ROWS,
    }
)


@pytest.mark.filterwarnings("ignore::graphprox.IgnoredInputWarning")
def test_columns_of_all_kinds_are_counted():
    encoded = encode_table(TABLE, kinds={"code": "category", "note": "ignored"})
    found = {each.name: each for each in summarize_columns(encoded)}
    assert list(found) == TABLE.column_names
    assert found["age"] == ColumnSummary("age", "number", 2, missing=40)
    assert found["city"] == ColumnSummary("city", "category", 3, values=3, rare=0)
    assert found["code"] == ColumnSummary("code", "category", 2, values=81, rare=80)
    assert found["member"] == ColumnSummary("member", "boolean", 2, missing=1)
    assert (found["joined"].kind, found["joined"].missing) == ("date", 2)
    assert {name: found[name].reason for name in ("planet", "name", "empty", "note")} == {
        "planet": "the same value in all rows",
        "name": "another value in nearly every row, as ids and names have",
        "empty": "no values",
        "note": "as given",
    }
    assert sum(each.features for each in found.values()) == encoded.x.shape[1]


def test_features_of_numbers_have_names_alone():
    encoded = encode_table(TABLE.select(["code"]).rename_columns(["size"]))
    assert summarize_columns(encoded, ["size"]) == (ColumnSummary("size", "number"),)
    assert summarize_columns(None) == ()


def test_an_ignored_column_beside_numbers_is_known():
    encoded = encode_table(TABLE.select(["code", "note"]).rename_columns(["size", "note"]), kinds={"note": "ignored"})
    kinds = [(each.name, each.kind, each.reason) for each in summarize_columns(encoded)]
    assert kinds == [("size", "number", ""), ("note", "ignored", "as given")]


def test_rows_that_are_all_equal_are_ignored_columns():
    with pytest.warns(IgnoredInputWarning):
        encode_table(TABLE.select(["planet", "city"]))
    encoded = encode_table(TABLE.select(["planet"]))
    assert [(each.kind, each.reason) for each in summarize_columns(encoded)] == [
        ("ignored", "the same value in all rows")
    ]
