"""Files of many layouts are read: with a header or not, an index of pandas, long rows and comments, quotes."""

from __future__ import annotations

import csv

import pandas as pd
import pytest

from graphprox import ReadError, read_graph
from graphprox.io.tables.layout import detect_layout

pytestmark = pytest.mark.filterwarnings("ignore::graphprox.GraphproxWarning")


@pytest.mark.parametrize(("header", "nodes"), [(True, {"bob", "eve"}), (False, {"ann", "bob", "eve"})])
def test_header_option_overrides_detection(write, header, nodes):
    path = write("e.csv", "ann,bob\nbob,eve\n")
    assert set(read_graph(path, header=header).ids) == nodes


def test_a_pandas_index_contains_the_ids(write, tmp_path):
    pd.DataFrame({"f": [1.0, 2, 3]}, index=["c", "a", "b"]).to_csv(tmp_path / "x.csv")
    pd.Series(["cat", "dog"], index=["a", "c"]).to_csv(tmp_path / "y.csv")
    pd.DataFrame([[1.5, 0], [2, 0], [3, 0]], index=["c", "a", "b"]).to_csv(tmp_path / "counted.csv")
    edges = write("e.csv", "a,b\nb,c\n")
    graph = read_graph(edges, features=tmp_path / "x.csv", labels=tmp_path / "y.csv")
    assert (graph.ids.tolist(), graph.x.ravel().tolist()) == (["c", "a", "b"], [1, 2, 3])
    assert [graph.class_names[y] if y >= 0 else None for y in graph.y] == ["dog", "cat", None]
    assert read_graph(edges, features=tmp_path / "counted.csv").x[:, 0].tolist() == [1.5, 2, 3]


@pytest.mark.parametrize("names", [("source", "target"), ("user", "friend"), ("member", "likes")])
def test_the_index_that_pandas_writes_is_not_an_end_of_an_edge(tmp_path, names):
    pd.DataFrame(dict(zip(names, (["a", "b", "c"], ["b", "c", "d"]), strict=True))).to_csv(tmp_path / "e.csv")
    assert read_graph(tmp_path / "e.csv").ids.tolist() == ["a", "b", "c", "d"]


def test_rows_may_be_longer_than_the_inspected_bytes(write):
    wide = "\n".join(",".join([name, *(f"0.{i:06d}" for i in range(9000))]) for name in ("a", "b", "c"))
    names = ",".join(["id", *(f"feature_{i}" for i in range(9000))])
    edges = write("e.csv", "a,b\nb,c\n")
    for text in (wide, f"{names}\n{wide}"):
        graph = read_graph(edges, features=write("x.csv", text))
        assert (graph.num_features, graph.ids.tolist()) == (9000, ["a", "b", "c"])


def test_a_large_cell_is_read_and_the_limit_of_other_readers_remains(write):
    limit = csv.field_size_limit()
    assert read_graph(write("e.csv", 'a,"' + "b" * 200_000 + '"')).ids.tolist() == ["a", "b" * 200_000]
    assert csv.field_size_limit() == limit


def test_comments_may_be_longer_than_the_inspected_bytes(write):
    assert read_graph(write("e.txt", "# license\n" * 20_000 + "1 2\n2 3\n")).num_edges == 2


@pytest.mark.parametrize("text", ['a,"b\nc,d\ne,f\n', 'a,b\nc,"d\ne,f'])
def test_an_unclosed_quote_is_rejected(write, text):
    with pytest.raises(ReadError, match="every quote must be closed"):
        read_graph(write("e.csv", text))


def test_a_quote_inside_a_cell_is_an_ordinary_character(write, read_edge_set):
    assert read_edge_set(read_graph(write("e.csv", '5" disk,b\nb,c\n'))) == {
        frozenset({'5" disk', "b"}),
        frozenset("bc"),
    }


# -- files of Excel -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "delimiter", "names"),
    [
        ("sep=;\nid;a\n1;2\n", ";", ("id", "a")),
        ("sep=;\nid;a,b\n1;2\n", ";", ("id", "a,b")),
        ("SEP=,\nid,a;b\n1,2\n", ",", ("id", "a;b")),
        ('"sep=\t"\r\nid\ta\r\n1\t2\r\n', "\t", ("id", "a")),
        ("sep=|\n\n# a comment\nid|a\n1|2\n", "|", ("id", "a")),
        ("id;size, m\n1;2,5\n2;3\n", ";", ("id", "size, m")),
        ("id\tsize, m\n1\t2,5\n2\t3\n", "\t", ("id", "size, m")),
        ("id;size;height\n1;2,5;3,5\n2;3,5;4,5\n", ";", ("id", "size", "height")),
        ("id,tags\n1,a;b\n2,b\n", ",", ("id", "tags")),
        ("id,a;b\n1,2\n2,3\n", ",", ("id", "a;b")),
        ("id,a;b\n1,c;d\n2,e;f\n", ",", ("id", "a;b")),
    ],
)  # fmt: skip
def test_the_separator_is_named_or_else_what_splits_all_rows_alike(write, text, delimiter, names):
    found = detect_layout(write("x.csv", text), ids=1, header=None)
    assert (found.delimiter, found.names) == (delimiter, names)


@pytest.mark.parametrize("text", ["1;1,75;7\n2;1,60;8\n", "1;1,5\n2;2,5\n", "1;1,5;1,25\n2;2;3\n"])
def test_commas_of_numbers_do_not_separate(write, text):
    found = detect_layout(write("x.csv", text), ids=1, header=None)
    assert (found.delimiter, found.decimal, found.names) == (";", ",", None)


def test_padded_numbers_are_found_between_bars(write):
    edges = write("e.csv", "sep=|\nsource|target\n007|8\n8|9\n")
    with pytest.warns(UserWarning, match="no features"):
        assert set(read_graph(edges).ids.tolist()) == {"007", "8", "9"}
