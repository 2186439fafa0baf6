"""Reader of graphs from databases."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from graphprox.errors import ParameterError, ReadError
from graphprox.graph.graph import Graph
from graphprox.io.frames import read_frames
from graphprox.io.sql.queries import is_query, run_query
from graphprox.io.tables.column_choice import ColumnNames, TableColumn
from graphprox.preprocessing.table_encoder import TableEncoder


def read_sql(
    edges: str,
    *,
    database: str | Path | None = None,
    features: str | None = None,
    labels: str | None = None,
    source: str | int | None = None,
    target: str | int | None = None,
    weight: str | int | None = None,
    id: str | int | None = None,  # noqa: A002 - as the column is named
    label: str | int | None = None,
    kinds: Mapping[str | int, str] | None = None,
    directed: bool = False,
    encoder: TableEncoder | None = None,
) -> Graph:
    """Read a graph by SQL queries, run by DuckDB.

    The database is opened read-only. Without one, queries read files, as in ``SELECT * FROM 'edges/*.parquet'``. No
    extension of DuckDB is installed or loaded from the network.

    Parameters
    ----------
    edges : str
        A query for the edges: one SELECT statement, a row for each edge.
    database : str or Path, default=None
        File of DuckDB or SQLite. If DuckDB's extension for SQLite is not installed, the queries of an SQLite file are
        run by Python's own module, in SQLite's dialect.
    features, labels : str, default=None
        Queries for the features and the labels, a row for each node, joined by id.
    source, target, weight, id, label : str or int, default=None
        Columns of the results, by name or number from 1, as in `Graph.from_frames`; found by their names if None.
    kinds : mapping of str or int to str, default=None
        What columns of the features contain, as in `Graph.from_frames`; found out by default.
    directed : bool, default=False
        Whether edges have a direction.
    encoder : TableEncoder, default=None
        What the columns of the features contain, as a fitted embedder knows it. Found out by default.

    Returns
    -------
    Graph

    Raises
    ------
    ReadError
        If the database cannot be opened, or a query is wrong.
    ParameterError
        If DuckDB is not installed: ``pip install 'graphprox[sql]'``.

    Examples
    --------
    >>> edges = "SELECT * FROM (VALUES ('ann', 'bob'), ('bob', 'ann')) AS follows(source, target)"
    >>> users = "SELECT * FROM (VALUES ('ann', 31), ('bob', 25)) AS users(id, age)"
    >>> read_sql(edges, features=users, directed=True)
    Graph(2 nodes, 2 directed edges, 1 features)
    """
    names = ColumnNames(source, target, weight, id, label, kinds=kinds or {})
    return read_queries(edges, features, labels, names, database=database, directed=directed, encoder=encoder)[0]


def read_queries(
    edges: str,
    features: str | Path | None,
    labels: str | Path | None,
    names: ColumnNames,
    *,
    database: str | Path | None,
    directed: bool,
    encoder: TableEncoder | None = None,
) -> tuple[Graph, tuple[TableColumn, ...]]:
    """Read a graph by SQL queries, as `read_sql` does, and say what the columns of the results were taken for.

    Parameters
    ----------
    edges, features, labels, database, directed, encoder
        As for `read_sql`.
    names : ColumnNames
        Columns that the user named.

    Returns
    -------
    graph : Graph
    columns : tuple of TableColumn
    """
    given = {"edges": edges, "features": features, "labels": labels}
    queries = {role: None if query is None else str(query) for role, query in given.items()}
    for role, query in queries.items():
        if query is not None and not is_query(query):
            raise ParameterError(
                f"{role} must be a query, which reads a file as in FROM 'FILE'; got {str(query)[:80]!r}"
            )
    results = {query: run_query(query, database) for query in dict.fromkeys(queries.values()) if query is not None}
    tables = {role: None if query is None else results[query] for role, query in queries.items()}
    if not results[edges].num_rows:
        raise ReadError("a graph must have at least one edge; the query of the edges has no rows")
    return read_frames(**tables, names=names, directed=directed, encoder=encoder)
