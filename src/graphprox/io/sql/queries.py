"""SQL queries, run by DuckDB: on a database of DuckDB or SQLite, or on files.

A database is opened read-only, a query is one SELECT statement of which no part writes, and nothing is installed from
the network.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from graphprox._utils.suggestions import shorten_repr
from graphprox.errors import ParameterError, ReadError
from graphprox.io.sql.sql_tree import RUNNING_FUNCTIONS, QueryTree, parse_query
from graphprox.io.sql.sqlite import is_sqlite, query_sqlite
from graphprox.io.storage.files import check_readable, reason

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_MAGIC, _MAGIC_AT = b"DUCK", 8  # of a file of DuckDB
_QUERY = re.compile(r"(\s|--[^\n]*\n|/\*.*?\*/|\()*(select|with|from)[\s('\"*]", re.IGNORECASE | re.DOTALL)
_SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "python_enable_replacements": "false",  # a table must not be a variable of this program
}
_LIKE_A_FILE = re.compile(r"[^'\"()*,;=<>]{1,100}\.\w{1,8}")
_VERBS = (
    "select", "with", "from", "insert", "update", "delete", "drop", "create", "copy", "alter", "attach", "truncate",
    "pivot", "describe", "summarize", "show", "values", "explain", "merge", "replace", "pragma", "export", "install"
)  # fmt: skip
_DEFINITIONS = """
    SELECT view_name, sql FROM system.main.duckdb_views() WHERE NOT internal
    UNION ALL
    SELECT function_name, macro_definition FROM system.main.duckdb_functions() WHERE NOT internal
"""
# What to do about errors of DuckDB for which it proposes nothing itself.
_REMEDIES = (
    (r"Catalog Error: Table", "name a table of the database, or a file in quotes, as in FROM 'edges.csv'"),
    (r"IO Error: No files found", "check the path"),
    (r".*requires the extension httpfs", "download the file, and name the copy"),
)
_CORRECT_QUERY = "correct the query"
_CHECK_DATABASE = "check that it is intact, and that no other program has it open"
_RUNNING = re.compile(rf"\b({'|'.join(RUNNING_FUNCTIONS)})\"?\s*\(", re.IGNORECASE)


def is_query(text: str | Path) -> bool:
    """Check whether a text is an SQL query, and not the name of an existing file.

    Parameters
    ----------
    text : str or Path
        What was given as a file or a query.

    Returns
    -------
    bool
        Whether it begins with SELECT, WITH or FROM, in upper or lower case.

    Examples
    --------
    >>> is_query("SELECT a, b FROM follows"), is_query("from 'edges/*.parquet'"), is_query("selected.csv")
    (True, True, False)
    """
    return bool(_QUERY.match(str(text))) and not os.path.exists(text)  # noqa: PTH110 - never raises


def check_not_sql(text: str | Path) -> None:
    """Check that a text that is neither a query nor a file was not meant as a query.

    Parameters
    ----------
    text : str or Path
        What was given as a file or a query.

    Raises
    ------
    ParameterError
        If it begins with another verb of SQL, or nearly with one.
    """
    words = str(text).lower().split()
    if len(words) > 1 and get_close_matches(words[0], _VERBS, 1, 0.8) and not os.path.exists(text):  # noqa: PTH110
        raise ParameterError(
            f"a query must begin with SELECT, WITH or FROM; got {shorten_repr(str(text))}, which is not a file either"
        )


def _wrap_query_errors(query: str) -> AbstractContextManager[None]:
    """Convert errors of a query, whose text may be the name of a missing file."""
    if not _LIKE_A_FILE.fullmatch(query):
        return wrap_sql_errors("the query must be valid SQL")
    rule = f"{query!r} is no existing file, and is taken for a query, as it begins with SELECT, WITH or FROM"
    return wrap_sql_errors(rule, remedy="check the name of the file, or correct the query")


def run_query(query: str, database: str | Path | None = None) -> pa.Table:
    """Run a query that reads.

    Parameters
    ----------
    query : str
        One SELECT statement; WITH and FROM may come first.
    database : str or Path, default=None
        File of DuckDB or SQLite. If None, the query reads files, as in ``SELECT * FROM 'edges/*.parquet'``.

    Returns
    -------
    pyarrow.Table
        Integers of any size and decimals become int64 or float64.

    Raises
    ------
    ReadError
        If the database cannot be opened, or the query is wrong.
    ParameterError
        If DuckDB is not installed.

    Examples
    --------
    >>> run_query("SELECT 1 AS a, 'x' AS b").to_pylist()
    [{'a': 1, 'b': 'x'}]
    """
    path = None if database is None else check_readable(Path(database))
    _check_text(query)
    with open_database(path) as connection:
        if connection is None:
            assert path is not None  # noqa: S101 - an SQLite file
            return query_sqlite(query, path)
        with _wrap_query_errors(query):
            check_query(query)
            _check_definitions(connection)
            return _normalize(connection.sql(query).to_arrow_table())


@contextmanager
def open_database(path: Path | None, *, read_only: bool = True) -> Iterator[DuckDBPyConnection | None]:
    """Open a database, without access to the network.

    Parameters
    ----------
    path : Path or None
        File of DuckDB or SQLite; in memory if None.
    read_only : bool, default=True
        Whether nothing can be written. An SQLite file is never written.

    Yields
    ------
    DuckDBPyConnection or None
        None for an SQLite file if DuckDB's extension for it is not installed.
    """
    duckdb = import_duckdb()
    sqlite = path is not None and path.exists() and is_sqlite(path)
    if path is not None and read_only and not sqlite:
        _check_is_duckdb(path)
    with wrap_sql_errors(f"{path} must be a database that can be opened", remedy=_CHECK_DATABASE):
        if path is None or sqlite:
            connection = duckdb.connect(config=_SETTINGS)
        else:
            connection = duckdb.connect(str(path), read_only=read_only, config=_SETTINGS)
    with connection:
        attached = not sqlite or _attach_sqlite(connection, str(path))
        connection.execute("SET lock_configuration = true")
        yield connection if attached else None


def _attach_sqlite(connection: DuckDBPyConnection, path: str) -> bool:
    import duckdb

    quoted = path.replace("'", "''")
    try:
        connection.execute("LOAD sqlite_scanner")
        connection.execute(f"ATTACH '{quoted}' AS graphprox_source (TYPE sqlite, READ_ONLY)")
        connection.execute("USE graphprox_source")
    except duckdb.Error:
        return False
    return True


def _check_is_duckdb(path: Path) -> None:
    with path.open("rb") as file:
        begins = file.read(_MAGIC_AT + len(_MAGIC))
    if begins[_MAGIC_AT:] != _MAGIC:
        raise ReadError(f"{path} must be a database of DuckDB or SQLite; it is neither: query a file as FROM '{path}'")


def import_duckdb() -> Any:
    """Import DuckDB.

    Raises
    ------
    ParameterError
        If it is not installed.
    """
    try:
        import duckdb
    except ImportError:
        raise ParameterError("SQL needs DuckDB, which is not installed: pip install 'graphprox[sql]'") from None
    return duckdb


_OWN_TABLE = re.compile(r'"(\w+\.)?(pg_|duckdb_|sqlite_|information_schema)')


@contextmanager
def wrap_sql_errors(rule: str, error_type: type[Exception] = ReadError, *, remedy: str | None = None) -> Iterator[None]:
    """Convert an error of DuckDB to an error of one sentence.

    Parameters
    ----------
    rule : str
        Beginning of the sentence.
    error_type : type, default=ReadError
    remedy : str, default=None
        End of the sentence: what to do. By default what DuckDB proposes, or else what corrects a query.
    """
    import duckdb

    try:
        yield
    except duckdb.Error as error:
        end = _find_remedy(error) if remedy is None else remedy
        raise error_type(": ".join([rule, describe_sql_error(error), *([end] if end else [])])) from None


def describe_sql_error(error: Exception) -> str:
    r"""Return an error of DuckDB as one line, without the position in the query.

    Parameters
    ----------
    error : Exception

    Returns
    -------
    str

    Examples
    --------
    >>> describe_sql_error(ValueError('Binder Error: no column "x"!\nDid you mean "y"?\n\nLINE 1: ...'))
    'no column "x"; did you mean "y"?'
    """
    lines = _split_error(error)
    first = re.sub(r"^[A-Z][\w ]* Error: ", "", lines[0]).rstrip("!.")
    return "; ".join([first, *(line[:1].lower() + line[1:] for line in lines[1:])])[:400]


def _split_error(error: Exception) -> list[str]:
    """Return what an error of DuckDB states, and what it proposes, if anything."""
    lines = str(error).partition("\n\n")[0].splitlines() or [type(error).__name__]
    # DuckDB also proposes tables of its own, which are not the user's.
    return [lines[0], *(line for line in lines[1:2] if not _OWN_TABLE.search(line))]


def _find_remedy(error: Exception) -> str:
    """Return what to do about an error of DuckDB; empty if it proposes that itself."""
    stated, *proposed = _split_error(error)
    if proposed:
        return ""
    return next((remedy for pattern, remedy in _REMEDIES if re.match(pattern, stated)), _CORRECT_QUERY)


def check_query(query: str) -> QueryTree:
    """Check that a query only reads, and find the tables and files that it names.

    Parameters
    ----------
    query : str
        A query in DuckDB's dialect.

    Returns
    -------
    QueryTree

    Raises
    ------
    ReadError
        If it is not valid, or could write.

    Examples
    --------
    >>> sorted(check_query("SELECT * FROM follows JOIN 'edges.csv' USING (id)").tables)
    ['edges.csv', 'follows']
    """
    _check_text(query)
    # A database of its own: that of a user could have a macro in place of the function that parses.
    with open_database(None) as connection, _wrap_query_errors(query):
        assert connection is not None  # noqa: S101 - not of SQLite
        return parse_query(connection, query)


def _check_text(query: str) -> None:
    try:
        query.encode()
    except UnicodeError as error:
        raise ReadError(f"the query must be valid text: {reason(error)}") from None


def _check_definitions(connection: DuckDBPyConnection) -> None:
    """Check that no view or macro of a database runs a statement that it has as text, and that could write."""
    for name, definition in connection.execute(_DEFINITIONS).fetchall():
        if _RUNNING.search(definition or ""):
            raise ReadError(f"a database must have no views or macros that run text as SQL; it has {name!r}: drop it")


def _normalize(table: pa.Table) -> pa.Table:
    """Cast sums and decimals to numbers of 64 bits, and other types of SQL to strings."""
    for i, field in enumerate(table.schema):
        column = table.column(i)
        if pa.types.is_decimal(field.type):
            column = _cast_decimal(column)
        elif pa.types.is_time(field.type) or pa.types.is_interval(field.type) or pa.types.is_duration(field.type):
            column = pa.array([None if each is None else str(each) for each in column.to_pylist()], pa.string())
        else:
            continue
        table = table.set_column(i, field.name, column)
    return table


def _cast_decimal(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if column.type.scale == 0:
        try:
            return column.cast(pa.int64())
        except pa.ArrowInvalid:
            pass
    return pc.cast(column, pa.float64())
