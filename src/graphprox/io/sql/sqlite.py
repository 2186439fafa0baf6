"""Queries on SQLite files by Python's own module, where DuckDB has no extension for them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow as pa

from graphprox.errors import ReadError
from graphprox.io.storage.files import reason

_MAGIC = b"SQLite format 3\0"
_CORRECT = "check the names of its tables and columns, or correct the query"
_ROWS_PER_BLOCK = 100_000


def is_sqlite(path: Path) -> bool:
    """Check by its first bytes whether a file is a database of SQLite.

    Parameters
    ----------
    path : Path
        An existing file.

    Returns
    -------
    bool
    """
    with path.open("rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


def query_sqlite(query: str, path: Path) -> pa.Table:
    """Run a query on an SQLite file, which is opened read-only.

    Parameters
    ----------
    query : str
        One SELECT statement, in the dialect of SQLite.
    path : Path
        The file.

    Returns
    -------
    pyarrow.Table
        A column whose values have several types becomes one of strings.

    Raises
    ------
    ReadError
        If the query is wrong, or would write.
    """
    address = f"file:{quote(str(path.resolve()))}?mode=ro"
    try:
        with closing(sqlite3.connect(address, uri=True)) as connection:
            connection.set_authorizer(_authorize)
            cursor = connection.execute(query)
            names = [column[0] for column in cursor.description or ()]
            blocks: list[list[Any]] = [[] for _ in names]
            while rows := cursor.fetchmany(_ROWS_PER_BLOCK):
                for block, column in zip(blocks, zip(*rows, strict=True), strict=True):
                    block.extend(column)
    except (sqlite3.Error, sqlite3.Warning) as error:
        raise ReadError(f"the query must be valid SQL of SQLite: {reason(error)}: {_CORRECT}") from None
    except UnicodeError as error:  # of names in a damaged file
        raise ReadError(f"{path} must be an intact SQLite database: {reason(error)}") from None
    return pa.table([_to_column(name, block, path) for name, block in zip(names, blocks, strict=True)], names=names)


def _authorize(action: int, *_: str | None) -> int:
    """Permit reading alone: a query must neither write nor attach another database."""
    allowed = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE)
    return sqlite3.SQLITE_OK if action in allowed else sqlite3.SQLITE_DENY


def _to_column(name: str, values: list[Any], path: Path) -> pa.Array:
    kinds = {type(value) for value in values} - {type(None)}
    if bytes in kinds:
        raise ReadError(f"columns must contain numbers or text; {name!r} of {path} contains bytes: leave it out")
    if len(kinds) > 1 and str in kinds:
        values = [None if value is None else str(value) for value in values]
    elif kinds == {int, float}:
        values = [None if value is None else float(value) for value in values]
    return pa.array(values)
