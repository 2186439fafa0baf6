"""Headers are distinguished from a first row of data."""

from __future__ import annotations

import pandas as pd
import pytest

from graphprox import ReadError, read_graph
from graphprox.io.layout import looks_like_header

pytestmark = pytest.mark.filterwarnings("ignore::graphprox.GraphproxWarning")


def rows(text):
    return [line.split(",") for line in text.splitlines()]


@pytest.mark.parametrize(
    "text",
    [
        "source,target\nann,bob",
        "Source,Target,Weight\nann,bob,2",
        "source,target\n1,2",
        "from,to\nann,bob",
        "src_id,dst_id\nann,bob",
        "FromNodeId,ToNodeId\nann,bob",
        "node1,node2\nann,bob",
        "node_a,node_b\nann,bob",
        "u,v\nann,bob",
        "#source,target\nann,bob",
        "person,friend,since\nann,bob,1999",
        "paper,cites\n17,4",
        "source,target",
    ],
)
def test_column_names_of_edges_are_a_header(text):
    assert looks_like_header(rows(text), ids=2)


@pytest.mark.parametrize(
    "text",
    [
        "ann,bob\nbob,eve",
        "ann,bob,1.5\nbob,eve,2",
        "ann,bob",
        "1,2\n3,4",
        "u,v\nv,w",
        "u,v,0.5\na,b,0.7",
        "to,be\nbe,or",
        "from,to\nto,go",
        "id,ego\nego,superego",
        "nan,inf\n1,2",
        "ann,bob,\neve,bob,3",
        "name,1\nbob,2",
    ],
)
def test_a_first_edge_is_not_a_header(text):
    assert not looks_like_header(rows(text), ids=2)


@pytest.mark.parametrize(
    "text",
    [
        "id,age,height\nann,31,1.7",
        "id,0,1,2\nann,3,1,7",
        "id,1,2\nann,3,1",
        "node,label\nann,cat",
        ",label\nann,cat",
        ",0,1\nann,3,1",
        "Node ID,topic\n1,cat",
        "person,age\nann,31",
        "id\nann",
    ],
)
def test_column_names_of_attributes_are_a_header(text):
    assert looks_like_header(rows(text), ids=1)


@pytest.mark.parametrize(
    "text",
    [
        "ann,31,1.7\nbob,25,1.8",
        "u,0,1\nv,1,0",
        "id,0.5,1\nego,1,0",
        "ann,cat\nbob,dog",
        "ann,,\nbob,1,2",
        "ann,NA\nbob,2",
        ",0.5,1\nbob,2,3",
        "name,cat\nname,dog",
        "7,cat\n8,dog",
    ],
)
def test_a_first_row_of_attributes_is_not_a_header(text):
    assert not looks_like_header(rows(text), ids=1)


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


def test_edges_with_a_pandas_index_are_rejected_with_advice(tmp_path):
    pd.DataFrame({"source": ["a", "b"], "target": ["b", "c"]}).to_csv(tmp_path / "e.csv")
    with pytest.raises(ReadError, match="index=False"):
        read_graph(tmp_path / "e.csv")


def test_rows_may_be_longer_than_the_inspected_bytes(write):
    wide = "\n".join(",".join([name, *(f"0.{i:06d}" for i in range(9000))]) for name in ("a", "b", "c"))
    names = ",".join(["id", *(f"feature_{i}" for i in range(9000))])
    edges = write("e.csv", "a,b\nb,c\n")
    for text in (wide, f"{names}\n{wide}"):
        graph = read_graph(edges, features=write("x.csv", text))
        assert (graph.num_features, graph.ids.tolist()) == (9000, ["a", "b", "c"])


def test_a_cell_that_is_too_large_is_rejected(write):
    with pytest.raises(ReadError, match="cannot be read as a table"):
        read_graph(write("e.csv", 'a,"' + "b" * 200_000))


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
