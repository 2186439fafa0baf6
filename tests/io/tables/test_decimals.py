"""Decimal commas are read where they cannot be anything else."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphprox import ReadError, read_graph
from graphprox.io.tables.decimals import detect_decimal, to_point, to_points
from graphprox.preprocessing.table_cells import CellError


def columns(*cells):
    return [*zip(*cells, strict=True)]


@pytest.mark.parametrize(
    "rows",
    [
        columns(["1,5", "2,25"]),
        columns(["height", "1,5"]),
        columns(["0,5"]),
        columns(["0,125", "0,250"]),
        columns(["1.234,5", "2.000,75"]),
        columns(["1234,567", "1,5"]),
        columns(["-1,5", "+2,5e3", "3"]),
        columns(["", "NA", "1,5"]),
        columns(["1,234", "5,678"], ["1,5", "2,5"]),
        columns(["1,5", "2,5"], ["31.12.2024", "1.2.2024"], ["1.234", "5.678"], ["10.0.0.1", "10.0.0.2"]),
    ],
)  # fmt: skip
def test_a_comma_that_cannot_be_one_of_thousands_is_decimal(rows):
    assert detect_decimal(rows) == ","


@pytest.mark.parametrize(
    "rows",
    [
        [],
        columns(["1,234", "5,678"]),
        columns(["1,234,567", "2"]),
        columns(["1.5", "2.5"]),
        columns(["1,5", "2,5"], ["1.5", "2.25"]),
        columns(["1,234.5", "2,5"]),
        columns(["Rome, IT", "Oslo, NO", "1,5"]),
        columns(["1", "2"], ["a", "b"]),
    ],
)
def test_a_comma_that_may_be_something_else_is_not_decimal(rows):
    assert detect_decimal(rows) == "."


def test_numbers_of_a_column_get_points():
    assert to_points("c", pa.array(["1,5", " 2,25 ", "1.234,5", "7.000", "3", "", None, "?"])).to_pylist() == [
        *("1.5", "2.25", "1234.5", "7000", "3", "", None, "?")
    ]
    assert to_points("c", pa.array(["1,5e3", "-0,5", "nan"])).to_pylist() == ["1.5e3", "-0.5", "nan"]


@pytest.mark.parametrize(
    "cells", [["Rome, IT", "Oslo"], ["31.12.2024", "1.1.2024"], ["10.0.0.1", "10.0.0.2"], ["a", "b", "1,5"], ["", ""]]
)
def test_other_columns_stay_as_they_are(cells):
    assert to_points("c", pa.array(cells)).to_pylist() == cells


@pytest.mark.parametrize("cells", [["1,5", "1.5"], ["1,5", "1.234"], ["1.234", "5.678"], ["1.234,5", "1.5"]])
def test_a_point_that_may_be_decimal_is_rejected(cells):
    with pytest.raises(CellError, match=r"must all have a decimal comma, .* contains '1\.\d+' .*: write 1,5 for 1\.5"):
        to_points("c", pa.array(cells))


@given(st.lists(st.floats(-1e7, 1e7).map(lambda number: round(number, 2)), min_size=1), st.booleans())
def test_numbers_of_a_column_are_those_that_were_written(numbers, with_thousands):
    written = [f"{number:,.2f}" if with_thousands else f"{number:.2f}" for number in numbers]
    local = [each.translate(str.maketrans(",.", ".,")) for each in written]
    assert [float(each) for each in to_points("c", pa.array(local)).to_pylist()] == numbers
    assert [float(to_point(each)) for each in local] == numbers
    assert detect_decimal([[each] for each in local]) == ","


@pytest.mark.parametrize(("ending", "delimiter"), [("csv", ";"), ("txt", ";"), ("tsv", "\t"), ("csv", "\t")])
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("kind", ["category", None])
def test_a_file_with_decimal_commas_is_the_one_with_points(write, tmp_path, ending, delimiter, missing, kind):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"id": range(30), "height": rng.normal(1.7, 0.1, 30).round(2), "sales": rng.normal(0, 9999, 30).round(3),
         "count": rng.integers(0, 9, 30)}
    )  # fmt: skip
    if missing:
        frame.loc[3, "height"] = None
    if kind:
        frame["city"] = rng.choice(["Köln", "Rome, IT"], 30)
    edges = write("e.csv", "source;target;weight\n" + "".join(f"{i};{i + 1};{i},5\n" for i in range(29)))
    frame.to_csv(tmp_path / f"comma.{ending}", index=False, sep=delimiter, decimal=",")
    frame.to_csv(tmp_path / "point.csv", index=False)
    with warnings.catch_warnings(action="error"):
        graph = read_graph(edges, features=tmp_path / f"comma.{ending}")
    expected = read_graph(edges, features=tmp_path / "point.csv")
    assert graph.feature_names == expected.feature_names
    assert np.array_equal(graph.x, expected.x)
    assert sorted(graph.edge_weight.tolist()[::2]) == sorted(expected.edge_weight.tolist()[::2])
    assert graph.edge_weight.max() == 28.5


def test_weights_without_a_header_may_have_commas(write):
    with pytest.warns(UserWarning, match=r"column 3|no features"):
        graph = read_graph(write("e.csv", "a;b;0,5\nb;c;1\nc;d;1.234,5\n"), weight=3)
    assert sorted(set(graph.edge_weight.tolist())) == [0.5, 1, 1234.5]


def test_codes_that_are_given_as_categories_keep_their_points(write):
    edges = write("e.csv", "source;target\na;b\nb;c\n")
    path = write("x.csv", "id;price;version\na;1,5;1.2\nb;2,5;1.3\nc;3;1.2\n")
    with pytest.raises(ReadError, match=r"with a decimal point|contains '1,5'"):
        read_graph(edges, features=path)  # versions look like numbers with points
    path = write("x.csv", "id;price;version\na;1,5;1.201\nb;2,5;1.301\nc;3;1.201\n")
    with pytest.raises(
        ReadError, match=r"must all have a decimal comma, .*; column 3 in row 2 of .* contains '1\.201'"
    ):
        read_graph(edges, features=path)
    graph = read_graph(edges, features=path, kinds={"version": "category"})
    assert graph.feature_names == ("price", "version=1.201", "version=1.301")
    assert graph.x[:, 0].tolist() == [1.5, 2.5, 3]


def test_labels_keep_their_commas(write):
    edges = write("e.csv", "source;target\na;b\nb;c\n")
    labels = write("y.csv", "id;score;team\na;1,5;1,5\nb;2,5;2,5\nc;3;1,5\n")
    with pytest.warns(UserWarning, match="no features|ignored"):
        assert read_graph(edges, labels=labels, label="team").class_names == ("1,5", "2,5")
