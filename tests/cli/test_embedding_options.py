"""graphprox embed of queries, and into tables."""

from __future__ import annotations

import json
import sqlite3
import sys

import duckdb
import numpy as np
import pytest

from graphprox import read_embedding

EDGES = "SELECT src, dst FROM follows"
METHOD = ["--method", "smoothed"]


@pytest.fixture
def folder(tmp_path, monkeypatch, no_data):
    """A database of DuckDB with a graph."""
    monkeypatch.chdir(tmp_path)
    with duckdb.connect("social.duckdb") as connection:
        connection.execute("CREATE TABLE follows AS SELECT range AS src, (range + 1) % 20 AS dst FROM range(20)")
        connection.execute(
            "CREATE TABLE users AS SELECT range AS id, range / 2 AS age, range % 3 AS posts FROM range(20)"
        )
    return tmp_path


def count(table):
    with duckdb.connect("social.duckdb", read_only=True) as connection:
        return connection.sql(f"SELECT count(*), any_value(len(vector)) FROM {table}").fetchall()[0]


@pytest.mark.usefixtures("folder")
def test_a_query_is_embedded_as_its_file_is(run):
    before = read_bytes("social.duckdb")
    features = "SELECT id, age, posts // 1 AS posts FROM users"
    query = ["--database", "social.duckdb", "--features", features]
    code, out, err = run("embed", EDGES, *query, "--out", "query.npz", *METHOD)
    assert (code, err) == (0, "")
    assert out.startswith("query.npz: 20 nodes")
    assert read_bytes("social.duckdb") == before
    with duckdb.connect("social.duckdb", read_only=True) as connection:
        connection.execute(f"COPY ({EDGES}) TO 'e.csv'; COPY ({features}) TO 'x.csv'")
    assert run("embed", "e.csv", "--features", "x.csv", "--out", "file.npz", *METHOD)[0] == 0
    assert np.array_equal(read_embedding("query.npz").vectors, read_embedding("file.npz").vectors)


def read_bytes(name):
    with open(name, "rb") as file:  # noqa: PTH123
        return file.read()


@pytest.mark.usefixtures("folder")
def test_vectors_are_written_back_to_the_database(run):
    command = ["embed", EDGES, "--database", "social.duckdb", "--features", "FROM users", *METHOD]
    code, out, err = run(*command, "--out", "social.duckdb", "--table", "near")
    assert (code, err) == (0, "")
    assert out.startswith("social.duckdb: 20 nodes, 2 components")
    assert count("near") == (20, 2)
    code, out, err = run(*command, "--out", "social.duckdb", "--table", "near")
    assert (code, out) == (2, "")
    assert err == (
        "error: an older table is kept; social.duckdb has 'near': name another one, or give --force to replace it\n"
    )
    assert run(*command, "--out", "social.duckdb", "--table", "near", "--force")[0] == 0
    assert run(*command, "--out", "social.duckdb", "--method", "deepwalk", "--dim", 4, "--epochs", 1, "--force")[0] == 0
    assert count("vectors") == (20, 4)


@pytest.mark.usefixtures("folder")
def test_models_are_applied_to_queries(run):
    query = [EDGES, "--database", "social.duckdb", "--features", "FROM users"]
    assert run("embed", *query, "--out", "a.npz", "--model", "model", "--dim", 4)[0] == 0
    code, _, err = run("transform", *query, "--out", "social.duckdb", "--model", "model")
    assert (code, err) == (0, "")
    assert count("vectors") == (20, 4)


@pytest.mark.usefixtures("folder")
def test_other_commands_read_queries(run):
    labels = ["--labels", "SELECT id, posts FROM users", "--label", "posts"]
    code, out, _ = run("info", EDGES, "--database", "social.duckdb", *labels)
    assert code == 0
    assert "20" in out
    sqlite3.connect("lite.db").executescript(
        "CREATE TABLE e (a, b); INSERT INTO e VALUES ('x', 'y')"
    ).connection.close()
    assert run("info", "SELECT a, b FROM e", "--database", "lite.db")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ["SELECT nope FROM follows", "--database", "social.duckdb"],
            'the query must be valid SQL: Referenced column "nope"',
        ),
        ([EDGES, "--database", "none.duckdb"], "none.duckdb does not exist"),
        ([EDGES], "Table with name follows does not exist"),
        (
            ["synthetic", "--database", "social.duckdb"],
            "--database must be left out, except for a graph that is an SQL query",
        ),
        ([EDGES, "--database", "social.duckdb", "--table", "x"], "--table must be left out, except for a .duckdb file"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_errors_are_one_sentence(run, arguments, words):
    code, out, err = run("embed", *arguments, "--out", "v.npz", *METHOD)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert words in err


@pytest.mark.usefixtures("folder")
def test_a_missing_package_is_named(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "duckdb", None)
    code, _, err = run("embed", EDGES, "--database", "social.duckdb", "--out", "v.npz")
    assert (code, err) == (2, "error: SQL needs DuckDB, which is not installed: pip install 'graphprox[sql]'\n")


@pytest.mark.parametrize("name", ["vectors", "Vectors"])
@pytest.mark.usefixtures("folder")
def test_a_table_that_a_query_names_is_not_replaced(run, name):
    with duckdb.connect("social.duckdb") as connection:
        connection.execute("CREATE TABLE vectors AS SELECT range AS id, [1.0, range] AS vector FROM range(20)")
    query = "SELECT src, dst FROM follows JOIN vectors ON src = id"
    database = ["--database", "social.duckdb", "--out", "social.duckdb", "--table", name, "--force"]
    code, _, err = run("embed", query, *database, *METHOD)
    assert (code, "a query names the table" in err) == (2, True)
    code, _, err = run("embed", EDGES, "--features", "FROM vectors", *database, *METHOD)
    assert (code, "a query names the table" in err) == (2, True)
    assert count("vectors") == (20, 2)


@pytest.mark.usefixtures("folder")
def test_a_table_of_edges_is_not_replaced_by_vectors(run):
    before = read_bytes("social.duckdb")
    into = ["--database", "social.duckdb", "--out", "social.duckdb", "--table", "users", "--force"]
    code, _, err = run("embed", EDGES, *into, "--method", "deepwalk", "--dim", 4, "--epochs", 1)
    assert (code, "only a table of vectors is replaced" in err) == (2, True)
    assert read_bytes("social.duckdb") == before


def test_folder_of_parts_is_read_by_all_commands_that_read_an_embedding(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    graph = "synthetic:nodes=140"
    for out, files in (("vectors.npz", ["vectors.npz"]), ("vectors/", ["vectors/part-00000.parquet"])):
        code, stdout, _ = run("embed", graph, "--dim", 8, "--out", out, "--json")
        assert (code, json.loads(stdout)["files"]) == (0, files)
    for command in (["neighbors", "EMB", 3], ["evaluate", graph, "--embedding", "EMB", "--splits", 1]):
        by_folder, by_file = (
            run(*(name if each == "EMB" else each for each in command)) for name in ("vectors/", "vectors.npz")
        )
        assert by_folder[0] == 0
        assert by_folder[1].replace("vectors/", "vectors") == by_file[1].replace("vectors.npz", "vectors")
    code, _, err = run("plot", "vectors/", "--out", "map.png")
    assert (code, err) == (0, "")
