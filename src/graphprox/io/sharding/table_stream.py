"""The interface of tables that are read in blocks of rows.

Columns are chosen and converted by the same functions as those of a table that is read at once, `read_table`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from graphprox.io.tables.table import Table


class RereadError(Exception):
    """What was read of a table is to be forgotten, as a cell was found that other cells must be read by.

    The stream has been adapted, and is to be read again from the beginning.
    """


class TableStream(ABC):
    """A table that is read in blocks of rows.

    Attributes
    ----------
    path : Path
        The file or folder.
    names : tuple of str or None
        Names of the chosen columns, ids first.
    is_integer : bool
        Whether ids are integers.
    """

    path: Path
    names: tuple[str, ...] | None
    is_integer: bool

    @property
    @abstractmethod
    def files(self) -> list[Path]:
        """The files that are read."""

    @property
    @abstractmethod
    def num_rows(self) -> int | None:
        """Number of rows, if it is known before reading."""

    @property
    @abstractmethod
    def num_columns(self) -> int:
        """Number of the chosen columns."""

    @property
    @abstractmethod
    def is_typed(self) -> bool:
        """Whether columns have types, as those of Parquet have and those of text have not."""

    @property
    @abstractmethod
    def mode(self) -> str:
        """How the table is read, for `adapt`."""

    @abstractmethod
    def adapt(self, mode: str) -> None:
        """Read the table in the way that an earlier process has found out."""

    @abstractmethod
    def take_ids_as_text(self) -> bool:
        """Read ids as strings from now on; return False if they are read as such, or are stored as integers."""

    @abstractmethod
    def reset_ids(self) -> None:
        """Read ids again as they are to be read by the first rows."""

    @abstractmethod
    def blocks(self, num_rows: int, *, values: pa.DataType | None, skip: int = 0) -> Iterator[Table]:
        """Iterate over blocks of rows.

        Parameters
        ----------
        num_rows : int
            Rows of a block; the last one may have fewer.
        values : pyarrow.DataType or None
            Type of the columns that are no ids; as they are stored if None, strings in text.
        skip : int, default=0
            Number of rows to skip.

        Yields
        ------
        Table

        Raises
        ------
        RereadError
            If the table has to be read again.
        ConversionError
            If a cell of text is none of the type that was asked for.
        """


def cut_rows(tables: Iterator[pa.Table], num_rows: int) -> Iterator[pa.Table]:
    """Yield tables of ``num_rows`` rows, with columns in one chunk; the last one may have fewer.

    Parameters
    ----------
    tables : iterator of pyarrow.Table
    num_rows : int
    """
    waiting: list[pa.Table] = []
    size = 0
    for table in tables:
        waiting.append(table)
        size += table.num_rows
        while size >= num_rows:
            joined = _join(waiting)
            yield joined.slice(0, num_rows).combine_chunks()
            waiting, size = [joined.slice(num_rows)], size - num_rows
    if size:
        yield _join(waiting).combine_chunks()


def _join(tables: list[pa.Table]) -> pa.Table:
    """Concatenate tables, whose columns of numbers may have different types."""
    return pa.concat_tables(tables, promote_options="permissive")


def skip_rows(tables: Iterator[pa.Table], num_rows: int) -> Iterator[pa.Table]:
    """Yield tables without the first ``num_rows`` rows.

    Parameters
    ----------
    tables : iterator of pyarrow.Table
    num_rows : int
    """
    for table in tables:
        dropped = min(num_rows, table.num_rows)
        num_rows -= dropped
        if dropped < table.num_rows:
            yield table.slice(dropped)
