"""Columns of integers that are named as codes are stated, and others are not."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from graphprox import AssumedInputWarning
from graphprox.preprocessing import encode_table

ZIPS = [75001, 69001, 13001, 75001]


@pytest.mark.parametrize("name", ["zip", "Postal Code", "product_code", "PLZ", "department_id", "zipCode"])
@pytest.mark.parametrize(
    "cells", [ZIPS, [float(each) for each in ZIPS], [*ZIPS[:3], None], [*map(str, ZIPS)], ["75001.0", "1.0", "2", ""]]
)
def test_integers_that_are_named_as_codes_are_stated(name, cells):
    words = rf"column '{name}' is named as a code and read as a quantity: set kinds={{'{name}': 'category'}} to read it"
    with pytest.warns(AssumedInputWarning, match=words) as caught:
        encode_table(pa.table({name: cells, "age": [31, 52, 40, 28]}))
    assert len(caught) == 1


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("age", ZIPS),
        ("code_lines", ZIPS),
        ("zip", [0, 1, 0, 1]),
        ("zip", [0.5, 1, 2, 3]),
        ("zip", [-1, 1, 2, 3]),
        ("zip", ["01234", "69001", "13001", "75001"]),
        ("zip", ["A1", "B2", "A1", "C3"]),
        ("zip", pd.Categorical(ZIPS)),
        ("area_code", [True, False, True, True]),
    ],
)
def test_other_columns_are_not_stated(name, cells):
    with warnings.catch_warnings(action="error"):
        encode_table(pa.Table.from_pandas(pd.DataFrame({name: cells, "age": [31, 52, 40, 28]})))


@pytest.mark.parametrize("kind", ["category", "number", "ignored"])
def test_a_kind_that_is_given_is_not_stated(kind):
    with warnings.catch_warnings(action="error"):
        encode_table(pa.table({"zip": ZIPS, "age": [31, 52, 40, 28]}), kinds={"zip": kind})


def test_ids_of_rows_are_better_left_out():
    with pytest.warns(
        AssumedInputWarning, match="kinds={'account_id': 'ignored'} to leave it out, or kinds={'account_i"
    ):
        encode_table(pa.table({"account_id": np.arange(40), "age": np.arange(40) % 7}))
