"""Vectors are written to a database in one transaction, and nothing else is changed."""

from __future__ import annotations

import sqlite3
import subprocess
import sys

import duckdb
import numpy as np
import pytest

from graphprox import Embedding, GraphproxError, ParameterError, ReadError, WriteError, read_embedding, write_embedding
from graphprox.io.embedding_writer import check_writable

VECTORS = np.array([[1, -0.1], [3e-20, 4.5], [0, 16777216]], np.float32)


def query(path, text):
    with duckdb.connect(str(path), read_only=True) as connection:
        return connection.sql(text).fetchall()


@pytest.fixture
def database(tmp_path):
    """A database with a table and a view."""
    path = tmp_path / "social.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE follows AS SELECT 'ann' AS a, 'bob' AS b; CREATE VIEW people AS SELECT a FROM follows"
        )
    return path


@pytest.mark.parametrize("ids", [["ann", "bob", "o'cy"], [5, -3, 2**62]])
@pytest.mark.parametrize(("dtype", "kind"), [(np.float32, "FLOAT[2]"), (np.float64, "DOUBLE[2]")])
def test_a_table_is_added(database, ids, dtype, kind):
    assert Embedding(VECTORS.astype(dtype), ids).save(database) == [database]
    assert query(database, "FROM vectors") == [
        (node, tuple(row)) for node, row in zip(ids, VECTORS.tolist(), strict=True)
    ]
    assert query(database, "SELECT column_type FROM (DESCRIBE vectors) OFFSET 1") == [(kind,)]
    assert query(database, "FROM follows") == [("ann", "bob")]
    assert [path.name for path in database.parent.iterdir()] == [database.name]


def test_tables_are_read_back(database):
    write_embedding(database, VECTORS, ["ann", "bob", "cy"])
    back = read_embedding(database)
    assert (back.ids.tolist(), back.vectors.tolist()) == (["ann", "bob", "cy"], VECTORS.tolist())
    assert back.vectors.dtype == np.float32


def test_a_database_without_vectors_is_not_an_embedding(database):
    with pytest.raises(ReadError, match="Table with name vectors does not exist"):
        read_embedding(database)


def test_a_database_is_created(tmp_path):
    write_embedding(tmp_path / "new.duckdb", VECTORS, table='odd "name"; --')
    assert query(tmp_path / "new.duckdb", "SHOW TABLES") == [('odd "name"; --',)]
    assert [path.name for path in tmp_path.iterdir()] == ["new.duckdb"]


def test_an_older_table_is_replaced_only_if_it_may_be(database):
    write_embedding(database, VECTORS)
    for check in (check_writable, lambda path: write_embedding(path, VECTORS[:1])):
        with pytest.raises(
            WriteError, match=r"an older table is kept; .* has 'vectors': .* overwrite=True to replace it"
        ):
            check(database)
    with pytest.raises(WriteError, match="has 'Vectors'"):  # names of SQL are case-insensitive
        write_embedding(database, VECTORS, table="Vectors")
    assert query(database, "SELECT count(*) FROM vectors") == [(3,)]
    check_writable(database, overwrite=True)
    write_embedding(database, VECTORS[:1], overwrite=True)
    assert query(database, "SELECT count(*) FROM vectors") == [(1,)]
    assert query(database, "SELECT table_name FROM information_schema.tables ORDER BY 1") == [
        ("follows",), ("people",), ("vectors",)
    ]  # fmt: skip


def test_a_view_is_never_replaced(database):
    with pytest.raises(WriteError, match=r"not be the name of a view; .* has the view 'people'"):
        write_embedding(database, VECTORS, table="people", overwrite=True)
    assert query(database, "FROM people") == [("ann",)]


def test_a_failed_write_keeps_the_older_table(database, tmp_path):
    write_embedding(database, VECTORS)
    with pytest.raises(GraphproxError):
        write_embedding(database, VECTORS, ["a", "b", "\ud800"], overwrite=True)
    assert query(database, "SELECT count(*) FROM vectors") == [(3,)]
    with pytest.raises(GraphproxError):
        write_embedding(tmp_path / "new.duckdb", VECTORS, ["a", "b", "\ud800"])
    assert not (tmp_path / "new.duckdb").exists()


def test_a_database_that_another_process_writes_is_an_error(database):
    code = f"import duckdb, sys; c = duckdb.connect({str(database)!r}); print('open', flush=True); sys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        other.stdout.readline()
        with pytest.raises(GraphproxError, match="lock") as raised:
            write_embedding(database, VECTORS)
        other.stdin.close()
    assert "\n" not in str(raised.value)


def test_other_files_are_rejected(tmp_path):
    sqlite3.connect(tmp_path / "s.duckdb").execute("CREATE TABLE x (a)").connection.close()
    with pytest.raises(WriteError, match=r"of DuckDB; .* is one of SQLite"):
        write_embedding(tmp_path / "s.duckdb", VECTORS)
    (tmp_path / "x.duckdb").write_text("id,0\na,1\n")
    with pytest.raises(GraphproxError, match="must be a database"):
        write_embedding(tmp_path / "x.duckdb", VECTORS)
    assert (tmp_path / "x.duckdb").read_text() == "id,0\na,1\n"


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("v.parquet", {"table": "x"}, r"table must be left out, except for a \.duckdb file"),
        ("v.duckdb", {"layout": "wide"}, "layout must be left out"),
        ("v.duckdb", {"table": " "}, "table must be the name of a table; got ' '"),
    ],
)
def test_invalid_parameters_are_rejected(tmp_path, name, options, words):
    with pytest.raises(ParameterError, match=words):
        write_embedding(tmp_path / name, VECTORS, **options)
    assert list(tmp_path.iterdir()) == []


def test_a_missing_package_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(ParameterError, match=r"pip install 'graphprox\[sql\]'"):
        check_writable(tmp_path / "v.duckdb")


@pytest.mark.parametrize("columns", ["1 AS id", "[1.0] AS vector", "1 AS id, [1.0] AS vector, 'ann' AS name", "1 AS a"])
def test_only_tables_of_vectors_are_replaced(database, columns):
    with duckdb.connect(str(database)) as connection:
        connection.execute(f"CREATE TABLE Mine AS SELECT {columns}")
    before = query(database, "FROM mine")
    with pytest.raises(WriteError, match="only a table of vectors is replaced"):
        check_writable(database, table="mine", overwrite=True)
    with pytest.raises(WriteError, match="only a table of vectors is replaced"):
        write_embedding(database, VECTORS, table="mine", overwrite=True)
    assert query(database, "FROM mine") == before
