"""Writer of embeddings as tables of DuckDB."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from numpy.typing import NDArray

from graphprox.errors import ParameterError, WriteError
from graphprox.io.sql.queries import import_duckdb, open_database, wrap_sql_errors
from graphprox.io.sql.sqlite import is_sqlite
from graphprox.io.storage.files import check_readable
from graphprox.io.tables.list_columns import VECTOR, list_array

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

DATABASE_ENDINGS = (".duckdb",)
DEFAULT_TABLE = "vectors"
_CHECK_ACCESS = "check that there is space on the disk, and that no other program has the file open"
_STAGED = "graphprox_staged_vectors"
_COLUMNS = """
    SELECT lower(column_name) FROM information_schema.columns
    WHERE table_catalog = current_database() AND table_schema = current_schema() AND lower(table_name) = lower(?)
"""
_EXISTS = """
    SELECT table_type FROM information_schema.tables
    WHERE table_catalog = current_database() AND table_schema = current_schema() AND lower(table_name) = lower(?)
"""


def is_database(path: Path) -> bool:
    """Check by its ending whether a file is a database that vectors are written to.

    Parameters
    ----------
    path : Path

    Returns
    -------
    bool
    """
    return path.suffix.lower() in DATABASE_ENDINGS


def check_table(path: Path, table: str, *, overwrite: bool) -> None:
    """Check that a table can be written to a database, before what it contains is computed.

    Parameters
    ----------
    path : Path
        A file of DuckDB; it need not exist.
    table : str
        Name of the table.
    overwrite : bool
        Whether an older table may be replaced.

    Raises
    ------
    WriteError
        If the table exists and may not be replaced, is not one of vectors, or the file is not a database.
    ParameterError
        If DuckDB is not installed, or the name is empty.
    """
    import_duckdb()
    if not table.strip():
        raise ParameterError(f"table must be the name of a table; got {table!r}")
    if path.exists():
        if is_sqlite(check_readable(path)):
            raise WriteError(f"vectors are written to a database of DuckDB; {path} is one of SQLite: name another file")
        with open_database(path) as connection:
            assert connection is not None  # noqa: S101 - not of SQLite
            _check_absent(connection, path, table, overwrite=overwrite)


def write_table(path: Path, vectors: NDArray[Any], ids: pa.Array, *, table: str, overwrite: bool) -> list[Path]:
    """Write vectors as a table, in one transaction; other tables are not touched.

    Parameters
    ----------
    path : Path
        A file of DuckDB; it is created if it does not exist.
    vectors : ndarray of shape (num_nodes, n_components)
    ids : pyarrow.Array of shape (num_nodes,)
    table : str
        Name of the table.
    overwrite : bool
        Whether an older table may be replaced.

    Returns
    -------
    list of Path
        The database.

    Raises
    ------
    WriteError
        If the table exists and may not be replaced, or the database cannot be written.
    """
    check_table(path, table, overwrite=overwrite)
    is_new = not path.exists()
    name = table.replace('"', '""')
    try:
        with open_database(path, read_only=False) as connection:
            assert connection is not None  # noqa: S101 - checked above
            with wrap_sql_errors(f"{path} cannot be written", WriteError, remedy=_CHECK_ACCESS):
                connection.register(_STAGED, pa.table({"id": ids, VECTOR: list_array(vectors)}))
                connection.execute("BEGIN")
                _check_absent(connection, path, table, overwrite=overwrite)
                connection.execute(f'DROP TABLE IF EXISTS "{name}"')
                connection.execute(f'CREATE TABLE "{name}" AS SELECT * FROM {_STAGED}')  # noqa: S608 - quoted
                connection.execute("COMMIT")
    except BaseException:
        if is_new:
            for each in (path, path.with_name(f"{path.name}.wal")):
                each.unlink(missing_ok=True)
        raise
    return [path]


def _check_absent(connection: DuckDBPyConnection, path: Path, table: str, *, overwrite: bool) -> None:
    found = connection.execute(_EXISTS, [table]).fetchone()
    if found is None:
        return
    if found[0] != "BASE TABLE":
        raise WriteError(f"table must not be the name of a view; {path} has the view {table!r}: name another one")
    if not overwrite:
        raise WriteError(
            f"an older table is kept; {path} has {table!r}: name another one, or set overwrite=True to replace it"
        )
    columns = {name for (name,) in connection.execute(_COLUMNS, [table]).fetchall()}
    if columns != {"id", VECTOR}:
        raise WriteError(
            f"only a table of vectors is replaced, with the columns id and {VECTOR}; {table!r} of {path} has others: "
            "name another one"
        )
