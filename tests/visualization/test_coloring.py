"""Values of nodes become categories or numbers."""

from __future__ import annotations

from datetime import datetime

import numpy as np
import pandas as pd
import pytest

from graphprox import GraphError, ParameterError
from graphprox.visualization.coloring import Categories, Numbers, to_coloring

IDS = np.array(["ann", "bob", "cy"], dtype=object)


@pytest.mark.parametrize(
    ("color", "names", "codes"),
    [
        (["b", "a", None], ("a", "b"), [1, 0, -1]),
        (["b", "", float("nan")], ("b",), [0, -1, -1]),
        ([10, 9, 10], ("9", "10"), [1, 0, 1]),
        ([1.0, float("nan"), 0.0], ("0", "1"), [1, -1, 0]),
        (["10", "9", "10"], ("9", "10"), [1, 0, 1]),
        ([True, False, True], ("False", "True"), [1, 0, 1]),
        ({"bob": "x", "zoe": "y"}, ("x",), [-1, 0, -1]),
        (pd.Series(["x", "y", "x"]), ("x", "y"), [0, 1, 0]),
        (["x", "N/A", "null"], ("x",), [0, -1, -1]),
        (["75001", "01001", "75001"], ("01001", "75001"), [1, 0, 1]),
        (pd.Series([75001.5, 69001.5, 75001.5], dtype="category"), ("69001.5", "75001.5"), [1, 0, 1]),
        (["x", 1, None], ("1", "x"), [1, 0, -1]),
    ],
)
def test_categories(color, names, codes):
    found = to_coloring(color, IDS)
    assert isinstance(found, Categories)
    assert (found.names, found.codes.tolist(), found.has_other) == (names, codes, False)


@pytest.mark.parametrize(
    "color", [[0.5, 2, None], ["0.5", "2", ""], {"ann": 0.5, "bob": 2}, [0.5, 2, float("inf")], ["0.5", "2", "N/A"]]
)
def test_numbers(color):
    found = to_coloring(color, IDS)
    assert isinstance(found, Numbers)
    assert np.array_equal(found.values, [0.5, 2, np.nan], equal_nan=True)


@pytest.mark.parametrize(
    "color",
    [
        ["2024-01-31", "n/a", "2024-02-01"],
        pd.Series(["2024-01-31", None, "2024-02-01"], dtype="datetime64[ns]"),
        [datetime(2024, 1, 31), None, datetime(2024, 2, 1)],
    ],
)
def test_dates_are_days_since_1970(color):
    found = to_coloring(color, IDS)
    assert isinstance(found, Numbers)
    assert found.are_dates
    assert np.array_equal(found.values, [19753, np.nan, 19754], equal_nan=True)


def test_a_word_among_numbers_is_an_error_without_an_option_of_features():
    with pytest.raises(
        GraphError, match=r"column 'age' contains 'old' in row 1 .*: correct the cell, or leave it empty$"
    ):
        to_coloring(["31", "old", "52"], IDS, "age")


def test_many_integers_are_numbers():
    assert isinstance(to_coloring(range(12), np.arange(12)), Categories)
    assert isinstance(to_coloring(range(13), np.arange(13)), Numbers)


@pytest.mark.parametrize(("copies", "limit"), [(1, 12), (400, 10)])
def test_rare_categories_are_others(copies, limit):
    letters = [letter for i, letter in enumerate("abcdefghijklmnop") for _ in range(20 - i)] * copies
    found = to_coloring(letters, np.arange(len(letters)))
    assert found.names == (*"abcdefghijklmnop"[: limit - 1], "other")
    assert found.has_other
    assert (np.array(letters)[found.codes == limit - 1] >= found.names[limit - 2]).all()


@pytest.mark.parametrize(
    ("color", "words"),
    [
        (["a", "b"], r"each of the 3 nodes; got shape \(2,\)"),
        ("abc", r"each of the 3 nodes; got shape \(\)"),
        ({1: "a"}, "ids of the map, such as 'ann'; got 1"),
    ],
)
def test_values_must_match_the_nodes(color, words):
    with pytest.raises(ParameterError, match=words):
        to_coloring(color, IDS)
