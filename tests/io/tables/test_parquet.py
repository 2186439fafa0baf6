"""Parquet files of pandas and pyarrow with all types and indexes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

from graphprox import IgnoredInputWarning, ReadError, read_graph

pytestmark = pytest.mark.filterwarnings("ignore::graphprox.StructuralFeaturesWarning")


@pytest.fixture
def edges(write):
    return write("e.csv", "10,20\n20,30\n")


@pytest.mark.parametrize(
    "kind", [pa.int8(), pa.uint16(), pa.int64(), pa.uint64(), pa.float64(), pa.dictionary(pa.int32(), pa.int64())]
)
def test_ids_of_any_integer_type_are_integers(tmp_path, read_edge_set, kind):
    table = pa.table({"a": pa.array([1, 2], kind), "b": pa.array([2, 3], kind)})
    pa.parquet.write_table(table, tmp_path / "e.parquet")
    assert read_edge_set(read_graph(tmp_path / "e.parquet")) == {frozenset({1, 2}), frozenset({2, 3})}


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.binary(), pa.dictionary(pa.int8(), pa.string())])
def test_ids_of_any_string_type_are_strings(tmp_path, read_edge_set, kind):
    table = pa.table({"a": pa.array(["007", "é"]).cast(kind), "b": pa.array(["é", "x"]).cast(kind)})
    pa.parquet.write_table(table, tmp_path / "e.pq")
    assert read_edge_set(read_graph(tmp_path / "e.pq")) == {frozenset({"007", "é"}), frozenset({"é", "x"})}


def test_integer_and_string_columns_become_strings(tmp_path, read_edge_set):
    pd.DataFrame({"a": [1, 2], "b": ["2", "x"]}).to_parquet(tmp_path / "e.parquet")
    assert read_edge_set(read_graph(tmp_path / "e.parquet")) == {frozenset({"1", "2"}), frozenset({"2", "x"})}


def test_damaged_pandas_metadata_is_ignored(tmp_path):
    table = pa.table({"a": [1], "b": [2]}).replace_schema_metadata({"pandas": "{"})
    pa.parquet.write_table(table, tmp_path / "e.parquet")
    assert read_graph(tmp_path / "e.parquet").num_edges == 1


def test_all_row_groups_are_read(tmp_path):
    table = pa.table({"a": np.arange(1000), "b": np.arange(1000) + 1})
    pa.parquet.write_table(table, tmp_path / "e.parquet", row_group_size=7)
    assert read_graph(tmp_path / "e.parquet").num_edges == 1000


X = {"f": [1.0, 2.0, 3.0], "g": [0.5, 0.25, 4.0]}


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame({"id": [30, 10, 20], **X}),
        pd.DataFrame({"node": [30, 10, 20], **X}, index=[7, 5, 6]),  # an index of former row numbers is ignored
        pd.DataFrame({"paper": [30, 10, 20], **X}).sample(frac=1, random_state=1),
        pd.DataFrame(X, index=pd.Index([30, 10, 20], name="id")),
        pd.DataFrame(X, index=[30, 10, 20]),
        pd.DataFrame(X, index=["30", "10", "20"]),
        pd.DataFrame({"id": [30, 10, 20], **X}).set_index("id", drop=True),
    ],
)
def test_features_are_joined_by_the_first_column_or_the_index(tmp_path, edges, table):
    table.to_parquet(tmp_path / "x.parquet")
    graph = read_graph(edges, features=tmp_path / "x.parquet")
    rows = dict(zip(map(int, graph.ids), graph.x.tolist(), strict=True))
    assert rows == {30: [1, 0.5], 10: [2, 0.25], 20: [3, 4]}


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame({"id": [20, 10], "label": ["x", "y"]}),
        pd.DataFrame({"id": [20, 10], "label": ["x", "y"]}, index=[3, 1]),
        pd.DataFrame({"label": ["x", "y"]}, index=[20, 10]),
        pd.DataFrame({"label": pd.Categorical(["x", "y"])}, index=pd.Index([20, 10], name="paper")),
    ],
)
def test_labels_are_joined_by_the_first_column_or_the_index(tmp_path, edges, table):
    table.to_parquet(tmp_path / "y.parquet")
    graph = read_graph(edges, labels=tmp_path / "y.parquet")
    assert (graph.y.tolist(), graph.class_names) == ([1, 0, -1], ("x", "y"))


def test_integer_labels_stored_as_floats_by_pandas_are_integers(tmp_path, edges):
    pd.DataFrame({"id": [10, 20, 30], "label": [3, None, 0]}).to_parquet(tmp_path / "y.parquet")
    assert read_graph(edges, labels=tmp_path / "y.parquet").y.tolist() == [3, -1, 0]


def test_edges_may_be_a_multi_index(tmp_path, read_edge_set):
    table = pd.DataFrame({"source": ["a", "b"], "target": ["b", "c"], "weight": [1.0, 2.5]})
    table.set_index(["source", "target"]).to_parquet(tmp_path / "e.parquet")
    assert read_edge_set(read_graph(tmp_path / "e.parquet")) == {(frozenset("ab"), 1.0), (frozenset("bc"), 2.5)}


def test_a_selection_of_a_table_causes_no_warning(tmp_path, recwarn):
    table = pd.DataFrame({"source": list("abcd"), "target": list("bcda"), "weight": [1.0, 2, 3, 4]})
    table[table.weight > 2].to_parquet(tmp_path / "e.parquet")
    assert read_graph(tmp_path / "e.parquet").num_edges == 2
    assert not [each for each in recwarn if each.category is IgnoredInputWarning]


def test_an_unnamed_third_column_is_reported_as_ignored(tmp_path):
    pd.DataFrame({"a": [1], "b": [2], "c": [3]}).to_parquet(tmp_path / "e.parquet")
    with pytest.warns(IgnoredInputWarning, match="column 'c'"):
        assert read_graph(tmp_path / "e.parquet").edge_weight is None


def test_features_of_any_numeric_type_are_accepted(tmp_path, edges):
    table = pd.DataFrame({"id": [10, 20, 30], "year": [2**24 + 1, 1, 2], "flag": [True, False, True]})
    table.to_parquet(tmp_path / "x.parquet")
    assert read_graph(edges, features=tmp_path / "x.parquet").x.tolist() == [[2**24, 1], [1, 0], [2, 1]]


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"a": pa.array([1, 2**63], pa.uint64()), "b": [2, 3]}, "less than 2\\^63.*9223372036854775808"),
        ({"a": [1.5, 2], "b": [2, 3]}, "'a'.*fractions"),
        ({"a": [[1], [2]], "b": [2, 3]}, "must contain strings; it contains list"),
        ({"a": [b"\xff", b"x"], "b": ["2", "3"]}, "UTF8"),
        ({"a": ["x", None], "b": ["2", "3"]}, "row 1 .from 0. of .* lacks one"),
        ({"a": [1, 2]}, "at least 2 columns of ids; it has 1"),
        ({"a": [1, 2], "b": [2, 3], "weight": ["x", "y"]}, "weights must be numbers.*'x'"),
        ({"a": [1, 2], "b": [2, 3], "weight": [[1], [2]]}, "weights must be numbers.*list"),
        ({"a": [1, 2], "b": [2, 3], "weight": [1, None]}, "row 1 .from 0. of .* is empty"),
        ({"a": pa.array([], pa.int64()), "b": pa.array([], pa.int64())}, "lists none"),
    ],
)
def test_invalid_tables_are_rejected(tmp_path, table, words):
    pa.parquet.write_table(pa.table(table), tmp_path / "e.parquet")
    with pytest.raises(ReadError, match=words):
        read_graph(tmp_path / "e.parquet")


def test_invalid_utf8_is_rejected(tmp_path):
    broken = pa.Array.from_buffers(pa.string(), 2, pa.array([b"\xff", b"x"]).buffers())  # not validated yet
    pa.parquet.write_table(pa.table({"a": broken, "b": ["x", "y"]}), tmp_path / "e.parquet")
    with pytest.raises(ReadError, match="UTF8"):
        read_graph(tmp_path / "e.parquet")


def test_names_of_columns_that_are_not_utf8_are_rejected(tmp_path):
    path = tmp_path / "g.parquet"
    pa.parquet.write_table(pa.table({"a": [0], "targe": [1]}), path, store_schema=False)
    path.write_bytes(path.read_bytes().replace(b"targe", b"targ\xea"))
    with pytest.raises(ReadError, match="must be a valid Parquet file"):
        read_graph(path)
