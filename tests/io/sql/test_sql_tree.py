"""No part of a query writes, and what it reads is known before it runs."""

from __future__ import annotations

import json

import duckdb
import pytest

from graphprox import ReadError
from graphprox.io.sql.queries import check_query, run_query


@pytest.fixture
def database(tmp_path):
    """A DuckDB file with a table of numbers."""
    path = tmp_path / "it.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE follows AS SELECT range AS a, range + 1 AS b FROM range(3)")
    return path


def serialized(query):
    row = duckdb.connect().execute("SELECT json_serialize_sql(?)", [query]).fetchone()
    return row[0].replace("'", "''")


COPY = "WITH x AS (COPY (SELECT 1) TO 'written.csv') SELECT * FROM x"


@pytest.mark.parametrize(
    "query",
    [
        COPY,
        f"SELECT * FROM ({COPY})",
        f"SELECT ({COPY})",
        f"SELECT 1 UNION ALL ({COPY})",
        f"WITH y AS ({COPY}) FROM y",
        "WITH x AS (INSERT INTO follows VALUES (1, 2) RETURNING *) SELECT * FROM x",
        "WITH x AS (DELETE FROM follows RETURNING *) SELECT * FROM x",
        "WITH x AS (UPDATE follows SET a = 1 RETURNING *) SELECT * FROM x",
        f"FROM json_execute_serialized_sql('{serialized(COPY)}')",
        f"FROM JSON_EXECUTE_SERIALIZED_SQL('{serialized(COPY)}')",
        "FROM query('SELECT 1')",
    ],
)
@pytest.mark.parametrize("with_database", [False, True])
def test_no_part_of_a_query_writes(tmp_path, monkeypatch, database, query, with_database):
    monkeypatch.chdir(tmp_path)
    before = database.read_bytes()
    with pytest.raises(ReadError, match="must only read"):
        run_query(query, database if with_database else None)
    assert database.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["it.duckdb"]


@pytest.mark.parametrize("kind", ["VIEW v AS", "MACRO v() AS TABLE"])
def test_no_view_or_macro_of_a_database_writes(tmp_path, monkeypatch, database, kind):
    monkeypatch.chdir(tmp_path)
    with duckdb.connect(str(database)) as connection:
        connection.execute(f"CREATE {kind} FROM json_execute_serialized_sql('{serialized(COPY)}')")
    (tmp_path / "written.csv").unlink(missing_ok=True)
    with pytest.raises(ReadError, match="no views or macros that run text"):
        run_query("FROM v" if "VIEW" in kind else "FROM v()", database)
    assert not (tmp_path / "written.csv").exists()


def test_a_query_without_a_tree_is_rejected(monkeypatch):
    monkeypatch.setattr(json, "loads", lambda _: {"error": True, "error_message": "no"})
    with pytest.raises(ReadError, match="can be checked; no"):
        check_query("SELECT 1")


def test_a_query_that_is_nested_too_deeply_is_rejected():
    with pytest.raises(ReadError, match=r"nested so deeply|depth"):
        check_query(f"SELECT {'abs(' * 800}1{')' * 800}")


@pytest.mark.parametrize(
    "query",
    [
        "SELECT 1 UNION SELECT 2",
        "WITH RECURSIVE t AS (SELECT 1 AS a UNION ALL SELECT a + 1 FROM t WHERE a < 3) SELECT * FROM t",
        "WITH x AS MATERIALIZED (SELECT 1 AS a) SELECT (SELECT max(a) FROM x), sum(a) OVER () FROM x",
        "SELECT * FROM (SELECT 1 AS x, 2 AS y) PIVOT (sum(y) FOR x IN (1))",
        "FROM (VALUES (1), (2)) t(a) SELECT list_transform([a], lambda x: x + 1)",
        "SELECT 1;",
    ],
)
def test_queries_that_read_are_run(query):
    assert run_query(query).num_rows


def test_tables_and_files_of_a_query_are_found(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("a.csv", "b.csv", "c.csv", "d [1].csv", "e.parquet"):
        (tmp_path / name).write_text("x\n1\n")
    query = f"""
        WITH w AS (FROM main.Follows)
        SELECT *, (SELECT max(x) FROM read_csv(['b.csv', 'missing.csv'], header = true)) FROM w
        JOIN 'a.*' AS a USING (x) JOIN 'd [1].csv' USING (x) JOIN 'file://{tmp_path}/c.csv' USING (x)
    """
    found = check_query(query)
    assert {"follows", "w"} <= found.tables
    assert {path.name for path in found.list_files()} == {"a.csv", "b.csv", "c.csv", "d [1].csv"}
