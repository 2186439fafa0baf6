"""Syntax trees of SQL queries: they must only read, and name the tables and files that they read.

DuckDB counts a statement with COPY, INSERT or DELETE in its WITH clause as a SELECT statement, so the type of a
statement does not suffice.
"""

from __future__ import annotations

import glob
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphprox.errors import ReadError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_READING = {"SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE"}
# Functions that run a statement which they are given as text, and those that start other programs.
RUNNING_FUNCTIONS = (
    "json_execute_serialized_sql",
    "query",
    "from_substrait",
    "from_substrait_json",
    "create_external_resource",
    "register_external_resource_type",
)


@dataclass(frozen=True)
class QueryTree:
    """What a query reads.

    Parameters
    ----------
    tables : frozenset of str
        Names of tables and views, in lower case and without a schema; the names of a WITH clause are among them.
    files : tuple of str
        Names that may be those of files or patterns of them, as in ``FROM 'edges/*.parquet'``.
    """

    tables: frozenset[str]
    files: tuple[str, ...]

    def list_files(self) -> list[Path]:
        """Return the files that exist."""
        found = []
        for name in self.files:
            path = os.path.expanduser(name.removeprefix("file:").replace("///", "/", 1))  # noqa: PTH111 - any text
            # A name is a pattern only if there is no such file.
            exact = "\0" not in path and os.path.exists(path)  # noqa: PTH110 - never raises
            found += [path] if exact else glob.glob(path, recursive=True) if "\0" not in path else []  # noqa: PTH207
        return [Path(each) for each in found]


def parse_query(connection: DuckDBPyConnection, query: str) -> QueryTree:
    """Check that a query only reads, and find what it names.

    Parameters
    ----------
    connection : DuckDBPyConnection
        Connection whose database has no functions of its own, as it parses the query.
    query : str

    Returns
    -------
    QueryTree

    Raises
    ------
    ReadError
        If it is not one SELECT statement, any part of it could write, or its tree cannot be read.
    """
    import duckdb

    statements = connection.extract_statements(query)
    if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
        kinds = ", ".join(each.type.name for each in statements[:5]) or "none"
        raise ReadError(f"a query must be one SELECT statement; got {kinds}: {_shorten(query)}")
    row = connection.execute("SELECT json_serialize_sql(?)", [query]).fetchone()
    try:
        tree: dict[str, Any] = json.loads(row[0]) if row else {"error": True}
    except RecursionError:
        raise ReadError(f"a query must not be nested so deeply; simplify it: {_shorten(query)}") from None
    if tree.get("error") or len(tree.get("statements", ())) != 1:
        reason = tree.get("error_message", "it has no tree")
        raise ReadError(f"a query must be a SELECT statement that can be checked; {reason}: {_shorten(query)}")
    nodes = list(_walk(tree["statements"]))
    for node in nodes:
        _check_reads(node, query)
    tables = [node for node in nodes if node.get("type") == "BASE_TABLE"]
    constants = [
        text
        for node in nodes
        if node.get("type") == "TABLE_FUNCTION"
        for each in _walk(node)
        if (text := _constant(each)) is not None
    ]
    names = [str(each["table_name"]) for each in tables]
    return QueryTree(frozenset(each.lower() for each in (*names, *constants)), (*names, *constants))


def _check_reads(node: dict[str, Any], query: str) -> None:
    kind = str(node.get("type", ""))
    # Every node of a query has a map of the queries in its WITH clause.
    if ("cte_map" in node or "info_type" in node or kind.endswith("_NODE")) and kind not in _READING:
        what = kind.removesuffix("_NODE").removesuffix("_QUERY") or str(node.get("info_type"))
        raise ReadError(f"a query must only read; a part of it is {what}, and it is rejected: {_shorten(query)}")
    if str(node.get("function_name", "")).lower() in RUNNING_FUNCTIONS:
        raise ReadError(
            f"a query must only read; {node['function_name']} runs what it is given, and is rejected: {_shorten(query)}"
        )


def _walk(tree: Any) -> Iterator[dict[str, Any]]:
    """List the nodes of a tree, without recursion, as a query can be nested deeply."""
    pending = [tree]
    while pending:
        found = pending.pop()
        if isinstance(found, dict):
            yield found
            pending += found.values()
        elif isinstance(found, list):
            pending += found


def _constant(node: dict[str, Any]) -> str | None:
    """Return the text of a string constant; the versions of DuckDB store it in two ways."""
    if node.get("type") != "VALUE_CONSTANT":
        return None
    literal, value = node.get("literal"), node.get("value")
    text = literal.get("text") if isinstance(literal, dict) else value.get("value") if isinstance(value, dict) else None
    return text if isinstance(text, str) else None


def _shorten(query: str) -> str:
    return " ".join(query.split())[:80]
