"""SQL queries, run by DuckDB: on a database of DuckDB or SQLite, or on files.

A database is opened read-only, a query is one SELECT statement, and nothing is installed from the network.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from graphprox.errors import ParameterError, ReadError
from graphprox.io.files import check_readable, reason
from graphprox.io.sqlite import is_sqlite, query_sqlite

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
    try:
        query.encode()
    except UnicodeError as error:
        raise ReadError(f"the query must be valid text: {reason(error)}") from None
    with open_database(path) as connection:
        if connection is None:
            assert path is not None  # noqa: S101 - an SQLite file
            return query_sqlite(query, path)
        with wrap_sql_errors("the query must be valid SQL"):
            _check_is_select(connection, query)
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
    with wrap_sql_errors(f"{path} must be a database that can be opened"):
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


@contextmanager
def wrap_sql_errors(rule: str, error_type: type[Exception] = ReadError) -> Iterator[None]:
    """Convert an error of DuckDB to an error of one sentence.

    Parameters
    ----------
    rule : str
        Beginning of the sentence.
    error_type : type, default=ReadError
    """
    import duckdb

    try:
        yield
    except duckdb.Error as error:
        raise error_type(f"{rule}: {describe_sql_error(error)}") from None


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
    lines = str(error).partition("\n\n")[0].splitlines() or [type(error).__name__]
    first = re.sub(r"^[A-Z][\w ]* Error: ", "", lines[0]).rstrip("!.")
    rest = [line[:1].lower() + line[1:] for line in lines[1:2]]
    return "; ".join([first, *rest])[:400]


def _check_is_select(connection: DuckDBPyConnection, query: str) -> None:
    import duckdb

    statements = connection.extract_statements(query)
    if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
        raise ReadError(f"a query must be one SELECT statement; got {len(statements)}: {' '.join(query.split())[:80]}")


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
