"""Columns are shown by the rules for columns of features."""

from __future__ import annotations

from datetime import datetime

import pyarrow as pa
import pytest

from graphprox import GraphError
from graphprox.preprocessing.column_values import read_values
from graphprox.preprocessing.table_cells import CellError

SENTENCES = [f"{name} writes long sentences about many different things" for name in ("ann", "bob", "cy")]


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["31", " n/a", "52.5"], [31, None, 52.5]),
        ([31.0, float("nan")], [31, None]),
        (["31.1.2024", "", "1.2.2024"], [datetime(2024, 1, 31), None, datetime(2024, 2, 1)]),
        (["Ulm ", "na", "Bonn"], ["Ulm", None, "Bonn"]),
        (["yes", "no"], ["yes", "no"]),
        ([True, None], ["True", None]),
        (["01001", "75001"], ["01001", "75001"]),
        (SENTENCES, SENTENCES),
        ([f"n{i}" for i in range(30)], [f"n{i}" for i in range(30)]),
        (["7", "7"], ["7", "7"]),
        (["", None], [None, None]),
    ],
)
def test_cells_become_numbers_dates_or_categories(cells, values):
    found = read_values("c", pa.array(cells))
    assert found.to_pylist() == values
    assert read_values("c", found).equals(found)


def test_a_word_among_numbers_is_an_error():
    with pytest.raises(CellError, match=r"'x' in row 1 \(from 0\): correct the cell, or leave it empty$"):
        read_values("c", pa.array(["1", "x", "3"]))


def test_lists_are_rejected():
    with pytest.raises(GraphError, match="column 'c' must contain a value in each cell; it contains list"):
        read_values("c", pa.array([[1], [2]]))
