"""Tables in blocks have the rows of `read_table`, and say what is wrong with a file.

Covers graphprox.io.sharding.table_stream, graphprox.io.sharding.parquet_stream and graphprox.io.sharding.text_stream.
"""

from __future__ import annotations

import gzip

import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

from graphprox.errors import ReadError
from graphprox.io.sharding.open_table import open_table
from graphprox.io.sharding.parquet_stream import list_parts
from graphprox.io.sharding.table_stream import RereadError
from graphprox.io.tables.column_choice import ChosenColumns
from graphprox.io.tables.table import read_table


def take_all(columns):
    return ChosenColumns(tuple(range(columns.size)), ())


def read_blocks(path, num_rows, *, ids=2, skip=0, values=None):
    stream = open_table(path, ids=ids, choose=take_all)
    while True:
        try:
            return list(stream.blocks(num_rows, values=values, skip=skip))
        except RereadError:
            pass


def to_lists(tables):
    return [[cell for table in tables for cell in table.columns[i].to_pylist()] for i in range(len(tables[0].columns))]


TEXTS = {
    "integers.csv": "s,t\n1,2\n3,4\n5,6\n7,8\n9,10\n",
    "late.csv": "s,t\n1,2\n3,4\n5,6\n7,x\n9,10\n",
    "padded.csv": "s,t\n1,2\n3,4\n5,6\n7,08\n9,10\n",
    "spaces.csv": "s,t\n1,2\n3, 4\n5,6 \n",
    "comments.edgelist": "1 2\n# a comment\n3 4\n5  6\n",
    "uneven.txt": "1   2\n3 4\n 5 6\n",
    "quoted.csv": 'source,target\n"a,b",c\nd,"e ""f"""\n',
    "blank.csv": "s,t\n1,2\n\n3,4\n",
}


@pytest.mark.parametrize("num_rows", [1, 2, 100])
@pytest.mark.parametrize("name", TEXTS)
def test_text_in_blocks_has_the_rows_of_the_file(tmp_path, name, num_rows):
    path = tmp_path / name
    path.write_text(TEXTS[name])
    packed = tmp_path / f"{name}.gz"
    packed.write_bytes(gzip.compress(TEXTS[name].encode()))
    expected = read_table(path, ids=2, values=None)
    for file in (path, packed):
        tables = read_blocks(file, num_rows)
        assert to_lists(tables) == [column.to_pylist() for column in expected.columns]
        assert {table.columns[0].type for table in tables} == {expected.columns[0].type}
        assert tables[0].names == expected.names
        assert [len(table.columns[0]) for table in tables[:-1]] == [num_rows] * (len(tables) - 1)


@pytest.mark.parametrize("skip", [0, 1, 2, 3, 5])
@pytest.mark.parametrize("kind", ["csv", "parquet", "folder"])
def test_rows_are_skipped(tmp_path, kind, skip):
    frame = pd.DataFrame({"s": range(5), "t": list("abcde")})
    path = tmp_path / f"edges.{kind}"
    if kind == "csv":
        frame.to_csv(path, index=False)
    elif kind == "parquet":
        frame.to_parquet(path, row_group_size=2)
    else:
        path.mkdir()
        frame[:3].to_parquet(path / "part-0.parquet", row_group_size=2)
        frame[3:].to_parquet(path / "part-1.parquet")
    tables = read_blocks(path, 2, skip=skip)
    assert [table.first_row for table in tables] == list(range(skip, 5, 2))
    if tables:
        assert to_lists(tables)[1] == list("abcde")[skip:]


def test_parts_are_read_in_the_order_of_their_names(tmp_path):
    for name in ("b.parquet", "a.parquet", "_SUCCESS", ".hidden.parquet", "_metadata.parquet", "notes.txt"):
        pa.parquet.write_table(pa.table({"s": [name], "t": ["x"]}), tmp_path / name)
    assert [path.name for path in list_parts(tmp_path)] == ["a.parquet", "b.parquet"]
    assert to_lists(read_blocks(tmp_path, 10))[0] == ["a.parquet", "b.parquet"]


def test_ids_are_strings_if_those_of_one_part_are(tmp_path):
    pa.parquet.write_table(pa.table({"s": [1], "t": [2]}), tmp_path / "a.parquet")
    pa.parquet.write_table(pa.table({"s": ["x"], "t": ["y"]}), tmp_path / "b.parquet")
    assert to_lists(read_blocks(tmp_path, 1)) == [["1", "x"], ["2", "y"]]


def test_numbers_of_parts_may_have_different_types(tmp_path):
    pa.parquet.write_table(pa.table({"s": [1], "t": [2], "w": [1]}), tmp_path / "a.parquet")
    pa.parquet.write_table(pa.table({"s": [3], "t": [4], "w": [0.5]}), tmp_path / "b.parquet")
    assert to_lists(read_blocks(tmp_path, 2)) == [[1, 3], [2, 4], [1, 0.5]]


def test_parts_of_other_types_are_reported(tmp_path):
    pa.parquet.write_table(pa.table({"s": [1], "t": [2], "w": [1]}), tmp_path / "a.parquet")
    pa.parquet.write_table(pa.table({"s": [3], "t": [4], "w": ["x"]}), tmp_path / "b.parquet")
    with pytest.raises(ReadError, match="must have columns of the same types; they differ"):
        read_blocks(tmp_path, 2)


def test_folder_without_parquet_is_reported(tmp_path):
    with pytest.raises(ReadError, match=r"must contain Parquet files; .* has none: name a file inside it"):
        open_table(tmp_path, ids=2, choose=take_all)


def test_part_without_a_column_is_reported(tmp_path):
    pa.parquet.write_table(pa.table({"s": [1], "t": [2]}), tmp_path / "a.parquet")
    pa.parquet.write_table(pa.table({"s": [1], "u": [2]}), tmp_path / "b.parquet")
    with pytest.raises(ReadError, match=r"must have the same columns; b.parquet has no 't'"):
        open_table(tmp_path, ids=2, choose=take_all)


def test_damaged_part_is_reported(tmp_path):
    pa.parquet.write_table(pa.table({"s": [1], "t": [2]}), tmp_path / "a.parquet")
    (tmp_path / "b.parquet").write_bytes(b"PAR1" * 9)
    with pytest.raises(ReadError, match=r"b.parquet must be a valid Parquet file"):
        open_table(tmp_path, ids=2, choose=take_all)


def test_missing_id_is_named_by_its_row(tmp_path):
    path = tmp_path / "edges.parquet"
    pa.parquet.write_table(pa.table({"s": ["a", "b", "c", None], "t": list("abcd")}), path)
    with pytest.raises(ReadError, match=r"every row must begin with ids; row 3 \(from 0\) of .* lacks one"):
        read_blocks(path, 2)


def test_columns_of_one_name_are_reported(tmp_path):
    path = tmp_path / "edges.parquet"
    pa.parquet.write_table(pa.table([[1], [2], [3]], names=["s", "t", "s"]), path)
    with pytest.raises(ReadError, match=r"must have different names; 's' is one of several"):
        open_table(path, ids=2, choose=take_all)


def test_ragged_row_is_named(tmp_path):
    path = tmp_path / "edges.csv"
    path.write_text("source,target\n" + "a,b\n" * 5 + "a,b,c\n")
    with pytest.raises(ReadError, match=r"must have 2 cells, as the first has; line 7 has 3"):
        read_blocks(path, 2)


def test_open_quote_is_reported(tmp_path):
    path = tmp_path / "edges.csv"
    path.write_text('source,target\na,b\nc,"d\ne,f\n')
    with pytest.raises(ReadError, match=r"every quote must be closed|cannot be read as a table"):
        read_blocks(path, 1)


def test_row_numbers_of_pandas_are_ids_where_there_is_no_other_column(tmp_path):
    path = tmp_path / "x.parquet"
    frame = pd.DataFrame({"a": [0.5, 1.5, 2.5]}, index=pd.RangeIndex(10, 16, 2))
    frame.to_parquet(path, row_group_size=2)
    expected = read_table(path, ids=1, values=None)
    assert to_lists(read_blocks(path, 2, ids=1)) == [column.to_pylist() for column in expected.columns]
    assert to_lists(read_blocks(path, 2, ids=1, skip=1))[0] == [12, 14]


def test_lists_become_columns(tmp_path):
    path = tmp_path / "x.parquet"
    pa.parquet.write_table(pa.table({"id": [1, 2], "v": [[1.0, 2.0], [3.0, 4.0]]}), path)
    stream = open_table(path, ids=1, choose=take_all, features=True)
    tables = list(stream.blocks(1, values=pa.float32()))
    assert stream.names == ("id", "v[0]", "v[1]")
    assert to_lists(tables) == [[1, 2], [1, 3], [2, 4]]


def test_lists_of_other_lengths_are_reported(tmp_path):
    path = tmp_path / "x.parquet"
    pa.parquet.write_table(pa.table({"id": [1, 2], "v": [[1.0, 2.0], [3.0]]}), path)
    with pytest.raises(ReadError, match="all vectors must have the same length"):
        open_table(path, ids=1, choose=take_all, features=True)
    pa.parquet.write_table(pa.table({"id": [1] * 1001, "v": [[1.0, 2.0]] * 1000 + [[3.0]]}), path)
    stream = open_table(path, ids=1, choose=take_all, features=True)
    with pytest.raises(ReadError, match=r"all vectors must have the same length; .* after row 1001"):
        list(stream.blocks(1000, values=pa.float32()))
