"""Tables of features with columns of any kind, read from text and Parquet."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import pytest

from graphprox import GraphError, IgnoredInputWarning, ReadError, read_graph
from graphprox.preprocessing import TableEncoder

EDGES = "source,target\nann,bob\nbob,cy\ncy,dan\n"
PEOPLE = """id,age,city,member,joined
ann,31,Paris,yes,2024-01-31
bob,NA,Rome,no,2023-05-06
cy,52,Paris,no,
dan,40,,yes,2021-01-01
"""
NAMES = ("age", "age is missing", "city=Paris", "city=Rome", "city is missing", "member", "joined")


@pytest.fixture
def edges(write):
    return write("edges.csv", EDGES)


def test_columns_of_a_text_file_may_be_of_any_kind(edges, write):
    graph = read_graph(edges, features=write("people.csv", PEOPLE))
    assert graph.feature_names[:7] == NAMES
    assert graph.x[:, :6].tolist() == [
        [31, 0, 1, 0, 0, 1],
        [41, 1, 0, 1, 0, 0],
        [52, 0, 1, 0, 0, 0],
        [40, 0, 0, 0, 1, 1],
    ]
    assert graph.ids.tolist() == ["ann", "bob", "cy", "dan"]
    assert graph.table.columns.column_names == ["age", "city", "member", "joined"]


def test_parquet_gives_the_same_features_as_text(edges, write, tmp_path):
    table = pd.DataFrame(
        {
            "id": ["ann", "bob", "cy", "dan"],
            "age": [31, None, 52, 40],
            "city": pd.Series(["Paris", "Rome", "Paris", None], dtype="category"),
            "member": [True, False, False, True],
            "joined": [datetime.date(2024, 1, 31), datetime.date(2023, 5, 6), None, datetime.date(2021, 1, 1)],
        }
    )
    table.to_parquet(tmp_path / "people.parquet")
    stored = read_graph(edges, features=tmp_path / "people.parquet")
    text = read_graph(edges, features=write("people.csv", PEOPLE))
    assert stored.feature_names == text.feature_names
    assert np.array_equal(stored.x, text.x)


def test_numbers_without_missing_ones_are_read_as_before(edges, write):
    graph = read_graph(edges, features=write("x.csv", "id,a,b\nann,1,2\nbob,3,0.1\ncy,5,6\ndan,7,8\n"))
    assert graph.x.tolist() == np.array([[1, 2], [3, 0.1], [5, 6], [7, 8]], np.float32).tolist()
    assert (graph.feature_names, graph.table) == (("a", "b"), None)
    bare_edges = write("bare_edges.csv", EDGES.partition("\n")[2])
    bare = read_graph(bare_edges, features=write("bare.csv", "ann,1,2\nbob,3,0.1\ncy,5,6\ndan,7,8\n"), header=False)
    assert np.array_equal(bare.x, graph.x)
    assert bare.feature_names is None


def test_columns_without_a_header_are_named_by_their_number(write):
    edges = write("bare_edges.csv", EDGES.partition("\n")[2])
    path = write("x.csv", "ann,1,red\nbob,3,blue\ncy,5,red\ndan,7,blue\n")
    assert read_graph(edges, features=path, header=False).feature_names == ("column 2", "column 3=blue", "column 3=red")


@pytest.mark.parametrize("cell", ["", "NA", "n/a", "null", "None", "NaN"])
def test_a_missing_number_is_the_mean_and_has_a_mark(edges, write, cell):
    graph = read_graph(edges, features=write("x.csv", f"id,a\nann,1\nbob,{cell}\ncy,5\ndan,6\n"))
    assert graph.x.tolist() == [[1, 0], [4, 1], [5, 0], [6, 0]]


def test_one_word_among_numbers_is_reported_with_its_place(edges, write):
    path = write("x.csv", "id,a,b\nann,1,2\nbob,3,thre\ncy,5,6\n\ndan,7,8\n")
    with pytest.raises(ReadError, match=r"must be numbers; column 3 in row 3 of .*x\.csv contains 'thre'"):
        read_graph(edges, features=path)


def test_text_and_other_types_are_rejected(edges, write, tmp_path):
    rows = "".join(
        f"{name},{name} writes long sentences about many different things\n" for name in ["ann", "bob", "cy", "dan"]
    )
    with pytest.raises(GraphError, match="'about' contains text"):
        read_graph(edges, features=write("x.csv", f"id,about\n{rows}"))
    pd.DataFrame({"id": ["ann", "bob"], "a": [{"b": 1}, {"b": 2}]}).to_parquet(tmp_path / "x.parquet")
    with pytest.raises(GraphError, match="column 'a' must contain numbers, categories or dates; it contains struct"):
        read_graph(edges, features=tmp_path / "x.parquet")


def test_rows_of_another_graph_are_encoded_as_those_of_the_first(edges, write):
    first = read_graph(edges, features=write("people.csv", PEOPLE))
    other = """id,joined,city,age,member
ann,2020-02-29,Paris,12,no
bob,,Oslo,13,no
cy,2020-02-29,Rome,,no
dan,,Rome,1,no
"""
    with pytest.warns(IgnoredInputWarning, match="'city' has 'Oslo'"):
        graph = read_graph(edges, features=write("other.csv", other), encoder=first.table.encoder)
    assert graph.feature_names == first.feature_names
    assert graph.x[:, :6].tolist() == [
        [12, 0, 1, 0, 0, 0],
        [13, 0, 0, 0, 0, 0],
        [41, 1, 0, 1, 0, 0],
        [1, 0, 0, 1, 0, 0],
    ]


def test_numbers_are_found_by_their_names(edges, write):
    path = write("x.csv", "id,b,a\nann,2,1\nbob,4,3\ncy,6,5\ndan,8,7\n")
    graph = read_graph(edges, features=path, encoder=TableEncoder.of_numbers(["a", "b"], np.zeros(2)))
    assert graph.x.tolist() == [[1, 2], [3, 4], [5, 6], [7, 8]]
    assert graph.table is None


def test_rows_of_features_are_joined_with_the_nodes_of_a_complete_graph(write, tmp_path):
    np.savez(tmp_path / "g.npz", edge_index=[[0, 1], [1, 2]], num_nodes=3)
    path = write("x.csv", "id,color\n2,red\n1,blue\n0,blue\n")
    graph = read_graph(tmp_path / "g.npz", features=path)
    assert graph.x.tolist() == [[1, 0], [1, 0], [0, 1]]
    assert graph.table.columns.column("color").to_pylist() == ["blue", "blue", "red"]
