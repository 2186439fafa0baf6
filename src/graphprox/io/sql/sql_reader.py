"""Reader of graphs from databases."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from graphprox.errors import ParameterError, ReadError
from graphprox.graph.graph import Graph
from graphprox.io.sql.queries import is_query, run_query
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
    queries = {"edges": edges, "features": features, "labels": labels}
    for name, query in queries.items():
        if query is not None and not is_query(query):
            raise ParameterError(
                f"{name} must be a query, which reads a file as in FROM 'FILE'; got {str(query)[:80]!r}"
            )
    results = {query: run_query(query, database) for query in dict.fromkeys(queries.values()) if query is not None}
    tables = {name: results[query] for name, query in queries.items() if query is not None}
    if not tables["edges"].num_rows:
        raise ReadError("a graph must have at least one edge; the query of the edges has no rows")
    columns: dict[str, Any] = {"source": source, "target": target, "weight": weight, "id": id, "label": label}
    return Graph.from_frames(**tables, **columns, directed=directed, encoder=encoder)
