"""Kinds of columns: how each is recognized, and the numbers that its cells become.

Covers graphprox.preprocessing.table_cells, graphprox.preprocessing.columns.base, graphprox.preprocessing.columns.number, graphprox.preprocessing.columns.boolean, graphprox.preprocessing.columns.category and graphprox.preprocessing.columns.date.
"""  # noqa: E501 - one line is read by tests/test_docs.py

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OneHotEncoder

from graphprox.errors import AssumedInputWarning, GraphError, ParameterError
from graphprox.preprocessing.columns import (
    CONSTANT,
    EMPTY,
    KINDS,
    NAMES,
    CategoryColumn,
    DateColumn,
    check_kinds,
    fit_column,
)
from graphprox.preprocessing.columns.category import MAX_CATEGORIES, RARE_SHARE
from graphprox.preprocessing.table_cells import CellError

DAY = datetime.date(2024, 2, 29)


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        ([1, 2, 3], "number"),
        ([1.5, None, 3], "number"),
        (["1", "2.5", "-3e5"], "number"),
        (["1", "NA", "", "n/a", "2"], "number"),
        ([True, False], "boolean"),
        (["yes", "no", "Yes"], "boolean"),
        (["TRUE", "false", "nan"], "boolean"),
        (["y", "N"], "boolean"),
        (["yes", "no", "maybe"], "category"),
        (["f", "m"], "category"),
        (["Paris", "Rome", "Paris"], "category"),
        (["2024-02-29", "2023-01-01"], "date"),
        (["2024-02-29T12:30:00Z", "2023-01-01 08:00"], "date"),
        (["29.2.2024", "1.1.2023"], "date"),
        (["12/31/2024", "01/02/2023"], "date"),
        (["2024-02", "2023-12"], "date"),
        ([DAY, None, datetime.date(2023, 1, 1)], "date"),
        ([datetime.datetime(2024, 2, 29, 12), None, datetime.datetime(2023, 1, 1)], "date"),
    ],
)
def test_kind_of_a_column_is_recognized(cells, kind):
    assert fit_column("c", pa.array(cells)).type == kind


def test_categories_of_pandas_are_categories_even_if_they_look_like_numbers():
    column = pa.array(pd.Series(["1", "2", "1"], dtype="category"))
    assert fit_column("c", column).value_names == ("c=1", "c=2")


@pytest.mark.parametrize("cells", [[1, 1, 1], ["a", "a"], [True, True]])
def test_a_column_with_the_same_value_everywhere_is_ignored(cells):
    assert fit_column("c", pa.array(cells)) == CONSTANT


def test_a_column_with_another_value_in_nearly_every_row_is_ignored():
    assert fit_column("c", pa.array([f"user {i}" for i in range(100)])) == NAMES
    # Each of 500 values is rare.
    assert fit_column("c", pa.array([f"user {i % 500}" for i in range(1000)])) == NAMES
    assert fit_column("c", pa.array(["a", "b", "c"])).type == "category"  # too few rows to know


def test_text_is_rejected_with_a_hint():
    text = [f"The {i}th of many long sentences about what somebody likes to read" for i in range(10)]
    with pytest.raises(
        GraphError,
        match=r"'about' contains text, such as 'The 0th .*set kinds={'about': 'ignored'} to leave it out, or embed it",
    ):
        fit_column("about", pa.array(text))


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        (
            ["1", "2", "x3", "4"],
            r"a column of numbers must contain nothing else; column 'c' contains 'x3' in row 2 \(from 0\)",
        ),
        (["2024-01-01", "2024-02-30"], "dates must be written as year-month-day; .* contains '2024-02-30'"),
        (
            ["2024-01-01", "2024-02-03", "soon"],
            r"dates must be written as year-month-day; .* 'soon' in row 2 \(from 0\)",
        ),
    ],
)
def test_one_cell_of_another_kind_is_a_typing_error(cells, words):
    with pytest.raises(CellError, match=words):
        fit_column("c", pa.array(cells))


def test_a_column_of_another_type_is_rejected():
    with pytest.raises(GraphError, match="must contain numbers, categories or dates; it contains list"):
        fit_column("c", pa.array([[1], [2]]))


@pytest.mark.parametrize("as_text", [False, True])
def test_missing_numbers_equal_those_of_scikit_learn(as_text):
    values = np.random.default_rng(0).normal(size=50)
    values[::7] = np.nan
    given = pa.array([None if np.isnan(each) else each for each in values])
    column = given.cast(pa.string()) if as_text else given
    known = SimpleImputer(add_indicator=True).fit_transform(values[:, None])
    fitted = fit_column("age", column)
    assert np.allclose(fitted.transform(column), known)
    assert fitted.feature_names == ("age", "age is missing")


@pytest.mark.parametrize("num_categories", [5, 40, 50, 51, 90])
def test_categories_equal_those_of_scikit_learn(num_categories):
    rng = np.random.default_rng(num_categories)
    share = rng.dirichlet(np.full(num_categories, 0.5))
    cells = rng.choice([f"city {i:02}" for i in range(num_categories)], size=1000, p=share)
    fitted = CategoryColumn.fit("c", pa.array(cells))
    least = int(np.ceil(RARE_SHARE * len(cells)))
    known = OneHotEncoder(min_frequency=least, max_categories=MAX_CATEGORIES, sparse_output=False)
    assert np.array_equal(fitted.transform(pa.array(cells)), known.fit_transform(cells[:, None]))
    assert len(fitted.value_names) <= MAX_CATEGORIES


def test_an_unseen_category_is_none_of_the_known_ones():
    fitted = fit_column("c", pa.array(["a", "b", "a"]))
    known = OneHotEncoder(handle_unknown="ignore", sparse_output=False).fit([["a"], ["b"]])
    assert np.array_equal(fitted.transform(pa.array(["b", "z"])), known.transform([["b"], ["z"]]))
    assert fitted.find_unseen(pa.array(["b", "z", None])) == ["z"]


def test_missing_categories_have_a_column_of_their_own():
    fitted = fit_column("c", pa.array(["a", "", "b"]))
    assert fitted.feature_names == ("c=a", "c=b", "c is missing")
    assert fitted.transform(pa.array(["b", "N/A"])).tolist() == [[0, 1, 0], [0, 0, 1]]


def test_a_missing_boolean_is_the_share_of_yes():
    fitted = fit_column("c", pa.array(["yes", "no", "no", "no", None]))
    assert fitted.transform(pa.array(["yes", None])).tolist() == [[1, 0], [0.25, 1]]
    assert fitted.transform(pa.array([True, False])).tolist() == [[1, 0], [0, 0]]
    assert fitted.transform(pa.array([1, 0])).tolist() == [[1, 0], [0, 0]]
    with pytest.raises(
        CellError, match=r"yes and no must contain nothing else; column 'c' contains 'perhaps' in row 1 \(from 0\)"
    ):
        fitted.transform(pa.array(["no", "perhaps"]))


@pytest.mark.parametrize(
    "texts",
    [
        ["2024-02-29", "2023-11-05", "1999-12-31"],
        ["2024/2/29", "2023/11/5", "1999/12/31"],
        ["29.2.2024", "5.11.2023", "31.12.1999"],
        ["2/29/2024", "11/5/2023", "12/31/1999"],
        ["29/02/2024", "05/11/2023", "31/12/1999"],
    ],
)
def test_a_date_is_the_same_however_it_is_written(texts):
    stored = pa.array([DAY, datetime.date(2023, 11, 5), datetime.date(1999, 12, 31)])
    fitted = fit_column("c", pa.array(texts))
    assert np.allclose(fitted.transform(pa.array(texts)), fit_column("c", stored).transform(stored))
    assert fitted.transform(stored)[0, 0] == (DAY - datetime.date(1970, 1, 1)).days
    assert fitted.value_names[0] == "c"
    assert fitted.quantities == (True, False, False, False, False)


def test_places_in_a_cycle_are_close_at_its_ends():
    column = pa.array(["2023-12-31", "2024-01-01", "2024-07-01"])
    places = fit_column("c", column).transform(column)[:, 1:3]
    assert np.linalg.norm(places[0] - places[1]) < 0.02
    assert np.linalg.norm(places[0] - places[2]) > 0.9


def test_times_of_day_are_found_and_a_missing_date_has_no_place():
    column = pa.array(["2024-01-01 06:00:00.5", None, "2024-01-01T18:00"])
    fitted = fit_column("c", column)
    assert fitted.feature_names[-3:] == ("c time of day cos", "c time of day sin", "c is missing")
    assert np.allclose(fitted.transform(column)[:, -3:], [[0, 0.5, 0], [0, 0, 1], [0, -0.5, 0]], atol=1e-3)


def test_numbers_whose_sum_is_infinite_have_a_finite_mean():
    assert np.isfinite(fit_column("f", pa.chunked_array([[1e308, 1.7e308, 1.6e308, 2, None]])).mean)


def test_dates_with_an_offset_are_converted_to_utc():
    texts = ["2024-01-31T10:00:00+02:00", "2024-01-31 08:00Z", None, "2024-01-31 03:30-0430"]
    stored = pa.array(["2024-01-31 08:00", "2024-01-31 08:00", None, "2024-01-31 08:00"]).cast(pa.timestamp("us"))
    encoder = DateColumn.fit("t", pa.array([*texts[:3], "2024-01-30T00:00:00"]))
    assert np.array_equal(encoder.encode(pa.array(texts)), encoder.encode(stored.cast(pa.timestamp("us", "UTC"))))


@pytest.mark.parametrize(
    "cells", [["1,5", "2,25", "3"], ["1,234", "12,345", "900"], ["1.234,5", "-2,5", ""], ["1,234,567.5", "1", "2"]]
)
def test_numbers_in_local_notation_are_rejected_with_a_remedy(cells):
    with pytest.raises(GraphError, match=r"decimal point and without thousands separators.*: write 1\.5 for 1,5"):
        fit_column("x", pa.array(cells))


def test_some_words_with_a_comma_are_categories():
    assert fit_column("x", pa.array(["1,5", "red", "blue", "red"])).type == "category"


def test_numbers_with_zeros_in_front_are_categories():
    assert fit_column("zip", pa.array(["01234", "99999", "01234"])).type == "category"
    assert fit_column("x", pa.array(["0", "0.5", "-0.5", "10"])).type == "number"


@pytest.mark.parametrize(
    "cells", [pa.nulls(3), pa.array([None, None], pa.int64()), pa.array([np.nan]), pa.array(["", "NA"])]
)
def test_a_column_without_values_is_reported_as_such(cells):
    assert fit_column("x", cells) == "no values"


# -- kinds that the user gives --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cells", "kind", "names"),
    [
        ([75001, 69001, 75001], "category", ("c=69001", "c=75001")),
        ([75001.0, None, 69001], "category", ("c=69001", "c=75001", "c is missing")),
        (["75001.0", "", "69001"], "category", ("c=69001", "c=75001", "c is missing")),
        ([True, False, True], "category", ("c=false", "c=true")),
        ([DAY, DAY, datetime.date(2023, 1, 1)], "category", ("c=2023-01-01", "c=2024-02-29")),
        (["yes", "no", "no"], "category", ("c=no", "c=yes")),
        (["007", "012", "007"], "number", ("c",)),
        ([True, False, True], "number", ("c",)),
        (["0", "1", "1"], "boolean", ("c",)),
        ([0, 1, None], "boolean", ("c", "c is missing")),
        (["2024-02-29", "", ""], "date", ("c", "c is missing")),
    ],
)
def test_a_kind_that_is_given_is_taken(cells, kind, names):
    fitted = fit_column("c", pa.array(cells), kind)
    assert (fitted.type, fitted.feature_names) == (kind, names)


@pytest.mark.parametrize(
    "cells", [[1, 2, 3], ["1", "2.5", ""], [True, False], ["a", "b", "a"], ["2024-02-29", "2023-01-01"]]
)
def test_the_kind_that_is_found_may_be_given_as_well(cells):
    found = fit_column("c", pa.array(cells))
    assert fit_column("c", pa.array(cells), found.type) == found


def test_codes_are_the_categories_that_the_same_words_are():
    codes = np.random.default_rng(0).integers(0, 70, 900)
    given = fit_column("c", pa.array(codes), "category").transform(pa.array(codes))
    words = pa.array([f"c{code}" for code in codes])
    found = fit_column("c", words).transform(words)
    assert np.array_equal(np.sort(given.sum(axis=0)), np.sort(found.sum(axis=0)))
    assert given.shape == found.shape


def test_codes_are_the_same_in_text_and_as_numbers():
    fitted = fit_column("c", pa.array(["75001", "69001", "75001"]), "category")
    for cells in ([75001, 69001], [75001.0, 69001.0], ["75001.0", " 69001 "]):
        assert fitted.transform(pa.array(cells)).tolist() == [[0, 1], [1, 0]]
        assert fitted.find_unseen(pa.array(cells)) == []


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("cells", "why"), [([1, 1, 1], CONSTANT), (["", None, "NA"], EMPTY), ([None, None], EMPTY)])
def test_a_column_that_says_nothing_is_ignored_whatever_its_kind(kind, cells, why):
    assert fit_column("c", pa.array(cells), kind) == why


def test_categories_of_which_each_is_rare_are_ignored():
    assert fit_column("c", pa.array(range(500)), "category") == NAMES


@pytest.mark.parametrize(
    ("cells", "kind", "words"),
    [
        (["1", "x", "3"], "number", r"numbers must .*; column 'c' contains 'x' in row 1 \(from 0\): correct the"),
        (["1,5", "x", "3"], "number", r"decimal point .*; column 'c' contains '1,5' in row 0 .*: write 1.5 for"),
        ([1, 2, 1], "boolean", r"yes and no must contain nothing else; .* contains '2' in row 1 \(from 0\): correct"),
        (["1", "2", "3"], "date", r"must be written as year-month-day; .* contains '1' in row 0 \(from 0\): correct"),
        ([1, 2, 3], "date", "column 'c' must contain dates; it contains int64"),
        ([DAY, None], "number", "column 'c' must contain numbers; it contains date32"),
        ([[1], [2]], "category", "must contain numbers, categories or dates; it contains list"),
    ],
)  # fmt: skip
def test_cells_of_another_kind_than_the_given_one_are_rejected(cells, kind, words):
    with pytest.raises(GraphError, match=words):
        fit_column("c", pa.array(cells), kind)


def test_every_kind_of_a_column_can_be_given():
    assert {name: cls.model_fields["type"].default for name, cls in KINDS.items()} == {name: name for name in KINDS}
    assert set(KINDS) == {"number", "category", "boolean", "date"}


@pytest.mark.parametrize(
    ("kinds", "words"),
    [
        (
            {"zip": "categroy"},
            "kinds must be among number, .*, ignored; got 'categroy' for 'zip': did you mean 'category'",
        ),
        ({"zip": None}, "got None for 'zip'"),
        ({"zpi": "category"}, "kinds must name columns of the table; got 'zpi': did you mean 'zip'?"),
        (["zip"], "kinds must be a mapping, as in {'zip': 'category'}; got list"),
    ],
)
def test_unknown_kinds_and_columns_are_rejected_with_a_suggestion(kinds, words):
    with pytest.raises(ParameterError, match=words):
        check_kinds(kinds, ["zip", "age"])


def test_dates_whose_days_can_be_months_are_reported_with_the_order_that_is_assumed():
    given = pa.array(["01/02/2024", "03/03/2024", None, "11/12/2024 10:30"])
    words = "'joined' are read as month/day/year .* '01/02/2024' is read as 2024-01-02: write them as in 2024-02-01"
    with pytest.warns(AssumedInputWarning, match=words):
        assert fit_column("joined", given).format == "month/day/year"


@pytest.mark.parametrize("texts", [["01/31/2024", "02/01/2024"], ["31/01/2024", "02/01/2024"], ["01/01/24", "x", "y"],
                                   ["01/01/2024", "02/02/2023"], ["2024-01-02", "2024-02-01"]])  # fmt: skip
def test_other_dates_are_read_without_a_warning(texts):
    fit_column("joined", pa.array(texts))


@pytest.mark.parametrize(
    "texts", [["2024-01-01", "31.12.2024", "1/31/2024", "2024/02/03"], ["2024-01-01", "31.12.2024"] * 2]
)
def test_dates_in_several_formats_are_reported(texts):
    with pytest.warns(AssumedInputWarning, match="'joined' contains dates in several formats .* as in 2024-02-01"):
        assert not isinstance(fit_column("joined", pa.array(texts)), DateColumn)
