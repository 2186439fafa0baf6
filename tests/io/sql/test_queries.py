"""Queries read databases and files, write nothing, and need no network.

Covers graphprox.io.sql.sqlite.
"""

from __future__ import annotations

import sqlite3
import sys

import duckdb
import pandas as pd
import pyarrow as pa
import pytest

from graphprox import DatasetError, GraphproxError, ParameterError, ReadError, load
from graphprox.io.sql import queries as sql
from graphprox.io.sql.queries import describe_sql_error, is_query, open_database, run_query


@pytest.fixture
def database(tmp_path):
    """A DuckDB file with a table of numbers."""
    path = tmp_path / "it's.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE follows AS SELECT range AS a, range + 1 AS b FROM range(3)")
    return path


@pytest.fixture
def sqlite(tmp_path):
    """An SQLite file, whatever its name."""
    path = tmp_path / "graph 1%.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE follows (a, b, weight)")
    connection.executemany("INSERT INTO follows VALUES (?, ?, ?)", [("x", "y", 1), ("y", "z", 2.5), ("z", 7, None)])
    connection.commit()
    connection.close()
    return path


@pytest.mark.parametrize(
    "text",
    [
        "SELECT a FROM b",
        "  select\na from b",
        "with x as (select 1) from x",
        "FROM 'edges/*.parquet'",
        'from"t"',
        "(SELECT 1)",
        "-- edges\nSELECT 1",
        "/* edges */ SELECT 1",
        "select*from t",
    ],
)
def test_queries_are_recognized(text):
    assert is_query(text)


@pytest.mark.parametrize(
    "text",
    [
        "select.csv",
        "from.parquet",
        "selected",
        "Cora",
        "edges.csv",
        "fromage 1.csv",
        "",
        "-- SELECT 1",
        "delete from t",
    ],
)
def test_names_are_not_queries(text):
    assert not is_query(text)


def test_existing_files_are_not_queries(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "from me to you.csv").write_text("a,b\n")
    assert not is_query("from me to you.csv")
    assert is_query("from me to them.csv")
    assert is_query("SELECT " + "a" * 10_000 + " FROM t")  # longer than a name of a file


def test_database_is_queried(database):
    assert run_query("FROM follows WHERE a > 0", database).to_pydict() == {"a": [1, 2], "b": [2, 3]}


def test_files_are_queried_without_a_database(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("one", "two"):
        pd.DataFrame({"a": [name], "b": ["x"]}).to_parquet(f"{name}.parquet")
    assert run_query("SELECT a FROM '*.parquet' ORDER BY a")["a"].to_pylist() == ["one", "two"]


def test_numbers_of_sql_become_those_of_64_bits():
    decimals = "sum(x::DECIMAL(9, 2)) / 4 AS d, 2::DECIMAL(38, 1) AS e, 10::HUGEINT ** 30 AS h"
    query = f"SELECT sum(x) AS s, {decimals} FROM range(3) t(x)"
    table = run_query(query)
    assert [str(kind) for kind in table.schema.types] == ["int64", "double", "double", "double"]
    assert table.to_pylist() == [{"s": 3, "d": 0.75, "e": 2.0, "h": 1e30}]
    times = run_query("SELECT INTERVAL 1 DAY AS i, TIME '10:30' AS t, NULL::TIME AS n")
    assert set(times.schema.types) == {pa.string()}


@pytest.mark.parametrize(
    "query",
    [
        "SELECT 1; SELECT 2",
        "SELECT 1; DROP TABLE follows",
        "WITH x AS (SELECT 1) INSERT INTO follows SELECT 1, 2",
    ],
)
def test_a_query_is_one_select_statement(database, query):
    before = database.read_bytes()
    with pytest.raises(ReadError, match="one SELECT statement"):
        run_query(query, database)
    assert database.read_bytes() == before


def test_a_database_is_opened_read_only_without_the_network(database):
    with open_database(database) as connection:
        for statement in ("DROP TABLE follows", "CREATE TABLE x (a INT)", "SET autoinstall_known_extensions = true"):
            with pytest.raises(duckdb.Error, match=r"read-only|locked"):
                connection.execute(statement)
        settings = connection.sql(
            "SELECT name, value FROM duckdb_settings() WHERE name LIKE 'auto%extensions'"
        ).fetchall()
    assert {value for _, value in settings} == {"false"}
    with pytest.raises(ReadError, match=r"requires the extension httpfs .*: download the file"):
        run_query("SELECT * FROM 'https://example.com/edges.parquet'")


def test_variables_of_the_program_are_not_tables():
    with pytest.raises(ReadError, match="query does not exist"):
        run_query("SELECT * FROM query")


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("SELECT nope FROM follows", r'the query must be valid SQL: Referenced column "nope" not found'),
        ("SELECT FROM", "syntax error .*: correct the query$"),
        ("SELECT * FROM follows, nope", "nope does not exist: name a table of the database, or a file in quotes"),
        ("SELECT * FROM follow", 'Table with name follow does not exist; did you mean "follows".$'),
        ("SELECT * FROM 'nothing.parquet'", 'No files found that match the pattern "nothing.parquet": check the path$'),
        ("SELECT 'x'::INT", "Could not convert string 'x' to INT32: correct the query$"),
    ],
)
def test_errors_of_sql_are_one_sentence(database, query, words):
    with pytest.raises(ReadError, match=words) as raised:
        run_query(query, database)
    assert "\n" not in str(raised.value)


def test_errors_without_a_message_are_named():
    assert describe_sql_error(ValueError()) == "ValueError"


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("nothing.duckdb", None, "does not exist"),
        ("x.csv", b"a,b\n1,2\n", "must be a database of DuckDB or SQLite; it is neither: query a file as FROM"),
        ("x.duckdb", b"12345678DUCK and more", "a database that can be opened: .*: check that it is intact, and"),
        ("empty.duckdb", b"", "empty"),
    ],
)
def test_other_files_are_rejected(tmp_path, name, content, words):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(ReadError, match=words):
        run_query("SELECT 1", tmp_path / name)


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(ParameterError, match=r"SQL needs DuckDB.*: pip install 'graphprox\[sql\]'"):
        run_query("SELECT 1")


# -- SQLite ---------------------------------------------------------------------------------------------------------


def test_sqlite_files_are_queried(sqlite):
    table = run_query("SELECT a, b FROM follows ORDER BY a", sqlite)
    assert table.to_pydict() == {"a": ["x", "y", "z"], "b": ["y", "z", "7"]}


@pytest.fixture
def without_extension(monkeypatch):
    """Let DuckDB have no extension for SQLite, as is usual."""
    monkeypatch.setattr(sql, "_attach_sqlite", lambda *_: False)


@pytest.mark.usefixtures("without_extension")
def test_sqlite_files_are_queried_without_an_extension_of_duckdb(sqlite):
    table = run_query("SELECT a, b, weight FROM follows ORDER BY a", sqlite)
    assert table.to_pydict() == {"a": ["x", "y", "z"], "b": ["y", "z", "7"], "weight": [1, 2.5, None]}


@pytest.mark.usefixtures("without_extension")
@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("SELECT nope FROM follows", "valid SQL of SQLite: no such column: nope: check the names of its tables"),
        ("SELECT 1; DROP TABLE follows", "one statement"),
        ("WITH x AS (SELECT 1) DELETE FROM follows", "not authorized"),
        ("SELECT load_extension('x')", "valid SQL of SQLite"),
        ("SELECT x'00' AS bytes", "'bytes' .* contains bytes: leave it out"),
    ],
)
def test_queries_of_sqlite_read_alone(sqlite, query, words):
    before = sqlite.read_bytes()
    with pytest.raises(GraphproxError, match=words):
        run_query(query, sqlite)
    assert sqlite.read_bytes() == before


def test_a_query_must_be_text(database):
    with pytest.raises(GraphproxError, match="must be valid text"):
        run_query("SELECT '\ud800'", database)


@pytest.mark.usefixtures("without_extension")
def test_names_of_a_damaged_sqlite_file_are_rejected(sqlite):
    sqlite.write_bytes(sqlite.read_bytes().replace(b"(a, b", b"(\xf2, \xf2"))
    with pytest.raises(GraphproxError, match="must be an intact SQLite database"):
        run_query("SELECT a, b FROM follows", sqlite)


@pytest.mark.parametrize("text", ["DELETE FROM x", "SELEC 1", "selct a from b", "drop table x"])
def test_other_statements_are_rejected_by_the_rule_of_queries(text):
    with pytest.raises(ParameterError, match="a query must begin with SELECT, WITH or FROM; got"):
        load(text)


@pytest.mark.parametrize("text", ["my edges", "deleted", "cora 2"])
def test_other_names_are_not_taken_for_statements(text):
    with pytest.raises(DatasetError, match="neither a data set nor a file"):
        load(text)


def test_the_type_of_another_statement_is_named(database):
    with pytest.raises(ReadError, match="must be one SELECT statement; got DELETE: WITH a AS"):
        run_query("WITH a AS (SELECT 1) DELETE FROM follows", database)


@pytest.mark.parametrize("text", ["with love.csv", "from me to you.csv", "from me.csv", "select 1 of 2.parquet"])
def test_the_name_of_a_missing_file_that_is_taken_for_a_query_is_explained(text):
    with pytest.raises(ReadError, match=f"'{text}' is no existing file, .*, as it begins with .*: check the name"):
        load(text)


def test_tables_of_duckdb_itself_are_not_proposed(database):
    with pytest.raises(ReadError, match=r"nope does not exist: name a table"):
        run_query("SELECT * FROM nope", database)
    with pytest.raises(ReadError, match=r'did you mean "follows".$'):
        run_query("SELECT * FROM folows", database)
