"""Graphs are read by queries, as from files."""

from __future__ import annotations

import sqlite3

import duckdb
import numpy as np
import pandas as pd
import pytest

import graphprox
from graphprox import GraphproxError, load, read_graph, read_sql

pytestmark = pytest.mark.filterwarnings("ignore::graphprox.StructuralFeaturesWarning")
FOLLOWS = pd.DataFrame({"src": ["ann", "bob", "cy", "ann"], "dst": ["bob", "cy", "ann", "dee"]})
USERS = pd.DataFrame({"id": ["ann", "bob", "cy", "dee"], "age": [31, 25, 40, 52], "posts": [12, 3, 7, 1]})
TOPICS = pd.DataFrame({"id": ["ann", "bob", "cy"], "topic": ["cats", "dogs", "cats"]})


@pytest.fixture
def files(tmp_path, monkeypatch):
    """The same graph in files, in DuckDB and in SQLite."""
    monkeypatch.chdir(tmp_path)
    tables = {"follows": FOLLOWS, "users": USERS, "topics": TOPICS}
    lite = sqlite3.connect("graph.sqlite")
    with duckdb.connect("graph.duckdb") as duck:
        for name, table in tables.items():
            table.to_csv(f"{name}.csv", index=False)
            table.to_sql(name, lite, index=False)
            duck.register("frame", table)
            duck.execute(f"CREATE TABLE {name} AS FROM frame")
    lite.close()
    (tmp_path / "edges").mkdir()
    FOLLOWS[:2].to_parquet("edges/1.parquet")
    FOLLOWS[2:].to_parquet("edges/2.parquet")
    return tmp_path


def assert_equal_graphs(found, expected):
    assert found.ids.tolist() == expected.ids.tolist()
    assert np.array_equal(found.edge_index, expected.edge_index)
    assert np.array_equal(np.asarray(found.x), np.asarray(expected.x))
    assert (found.y is None) == (expected.y is None)
    assert expected.y is None or np.array_equal(found.y, expected.y)
    assert (found.class_names, found.directed) == (expected.class_names, expected.directed)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("database", ["graph.duckdb", "graph.sqlite"])
@pytest.mark.usefixtures("files")
def test_a_database_is_read_as_files_are(database, directed):
    queries = {"features": "SELECT * FROM users", "labels": "SELECT id, topic FROM topics"}
    found = read_sql("SELECT src, dst FROM follows", database=database, directed=directed, **queries)
    assert_equal_graphs(found, read_graph("follows.csv", features="users.csv", labels="topics.csv", directed=directed))


@pytest.mark.usefixtures("files")
def test_files_are_read_by_a_pattern():
    found = load("SELECT * FROM 'edges/*.parquet'", features="FROM 'users.csv'").graph
    assert_equal_graphs(found, read_graph("follows.csv", features="users.csv"))


@pytest.mark.usefixtures("files")
def test_columns_have_the_roles_of_those_in_files():
    query = "SELECT age AS weight, dst, src FROM follows JOIN users ON src = id"
    found = read_sql(query, database="graph.duckdb", source="src", target="dst", weight="weight", directed=True)
    assert found.edge_weight is not None
    assert sorted(found.edge_weight.tolist()) == [25, 31, 31, 40]


@pytest.mark.parametrize(
    "labels", ["SELECT * FROM users LEFT JOIN topics USING (id)", "SELECT id, topic FROM topics"], ids=["same", "other"]
)
@pytest.mark.filterwarnings("ignore::graphprox.IgnoredInputWarning")
@pytest.mark.usefixtures("files")
def test_labels_in_the_query_of_the_features_are_no_feature(labels):
    features = "SELECT * FROM users LEFT JOIN topics USING (id)"
    found = read_sql("FROM follows", database="graph.duckdb", features=features, labels=labels, label="topic")
    assert found.feature_names == ("age", "posts")
    assert found.class_names == ("cats", "dogs")


@pytest.mark.usefixtures("files")
def test_sums_are_weights():
    query = "SELECT src, dst, sum(1) AS weight FROM (FROM follows UNION ALL FROM follows) GROUP BY ALL"
    assert set(read_sql(query, database="graph.duckdb").edge_weight.tolist()) == {2}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"edges": "follows.csv"}, "edges must be a query, which reads a file as in FROM 'FILE'; got 'follows.csv'"),
        ({"features": "users.csv"}, "features must be a query"),
        ({"edges": "SELECT src, dst FROM follows WHERE false"}, "at least one edge; the query .* no rows"),
        ({"edges": "SELECT src FROM follows"}, "the edges"),
        ({"labels": "SELECT nope FROM topics"}, 'valid SQL: Referenced column "nope"'),
        ({"source": "from"}, "'from'"),
    ],
)
@pytest.mark.usefixtures("files")
def test_invalid_queries_are_rejected(options, words):
    with pytest.raises(GraphproxError, match=words) as raised:
        read_sql(**{"edges": "SELECT src, dst FROM follows", "database": "graph.duckdb", **options})
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("graph", "options", "words"),
    [
        (
            "follows.csv",
            {"database": "graph.duckdb"},
            "database must be left out, except for a graph that is an SQL query",
        ),
        (
            "synthetic",
            {"database": "graph.duckdb"},
            "database must be left out, except for a graph that is an SQL query; got 'graph.duckdb'$",
        ),
        (
            "follows",
            {"database": "graph.duckdb"},
            "got 'graph.duckdb': write the query, as in 'FROM follows'$",
        ),
        ("follows.csv", {"features": "SELECT * FROM users"}, "features can only be a query if the graph is one"),
        ("FROM 'follows.csv'", {"header": True}, "header can only be given with a file"),
        ("FROM 'follows.csv'", {"ids": False}, "ids can only be given with a file"),
    ],
)
@pytest.mark.usefixtures("files")
def test_queries_and_files_are_not_mixed(graph, options, words):
    with pytest.raises(GraphproxError, match=words):
        load(graph, **options)


@pytest.mark.usefixtures("files")
def test_a_file_named_as_a_query_is_read():
    FOLLOWS.to_csv("select from follows.csv", index=False)
    assert graphprox.load("select from follows.csv").graph.num_edges == 4


@pytest.mark.parametrize("kind", ["DATE", "TIMESTAMP"])
def test_dates_need_not_be_those_of_python(kind):
    users = f"SELECT * FROM (VALUES (1, {kind} 'infinity'), (2, {kind} '2024-01-01')) AS users(id, until)"
    found = read_sql("SELECT 1 AS source, 2 AS target", labels=users, label="until")
    assert found.num_classes == 2


def test_dates_that_are_no_number_of_microseconds_are_rejected():
    users = "SELECT * FROM (VALUES (1, DATE 'infinity'), (2, DATE '2024-01-01')) AS users(id, until)"
    with pytest.raises(GraphproxError, match="'until' must contain dates before the year"):
        read_sql("SELECT 1 AS source, 2 AS target", features=users)


def test_new_rows_are_read_as_those_of_the_fitted_table(files):
    fitted = read_sql("FROM 'follows.csv'", features="FROM 'users.csv'")
    encoder = graphprox.RawFeatures().fit(fitted).preprocessor_.encoder
    new = "SELECT * FROM (VALUES ('x', 5, 7), ('y', 5, NULL)) AS users(id, posts, age)"
    edges = "SELECT 'x' AS src, 'y' AS dst"
    for graph in (
        read_sql(edges, features=new, encoder=encoder),
        load(edges, features=new, encoder=encoder).graph,
    ):
        assert graph.feature_names == ("age", "posts")
        assert graph.x.tolist() == [[7, 5], [37, 5]]


@pytest.mark.usefixtures("files")
def test_kinds_of_the_columns_of_a_query_can_be_given():
    kinds = {"posts": "category", 2: "ignored"}
    queries = {"features": "FROM users", "database": "graph.duckdb", "kinds": kinds}
    for graph in (read_sql("FROM follows", **queries), load("FROM follows", **queries).graph):
        assert graph.feature_names == ("posts=1", "posts=12", "posts=3", "posts=7")
        assert graph.table.encoder.ignored == ("age",)
