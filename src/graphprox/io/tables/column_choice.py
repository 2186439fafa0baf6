"""The columns of a table before it is read, and those that the user named."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from graphprox._utils.column_names import is_unnamed
from graphprox._utils.suggestions import did_you_mean
from graphprox.errors import ParameterError

ColumnName = str | int
KINDS_NEED_FEATURES = "kinds can only be given with a table of features; got none"
KINDS_ARE_FITTED = "kinds must not be given with an encoder, which has those of its table; got both"


@dataclass(frozen=True)
class ColumnNames:
    """Columns as the user names them: by name, or by number from 1; chosen by their names if None.

    Attributes
    ----------
    source, target, weight : str, int or None
        Columns of a table of edges.
    id : str, int or None
        Column of ids of the tables of features and labels.
    label : str, int or None
        Column of classes of the table of labels.
    ends : tuple of str
        Names of the two columns that edges join, which the ids of other tables may have as well.
    kinds : mapping
        Kinds of columns of the table of features, ``"ignored"`` for those that are none.
    """

    source: ColumnName | None = None
    target: ColumnName | None = None
    weight: ColumnName | None = None
    id: ColumnName | None = None
    label: ColumnName | None = None
    ends: tuple[str, ...] = ()
    kinds: Mapping[ColumnName, str] = field(default_factory=dict)

    def given(self, *roles: str) -> list[str]:
        """Return the names, not the numbers, of the columns given for some roles.

        Parameters
        ----------
        *roles : str
            Names of attributes.

        Returns
        -------
        list of str
        """
        named = [getattr(self, role) for role in roles if role != "kinds"]
        named += self.kinds if "kinds" in roles else ()
        return [name for name in named if isinstance(name, str) and not name.isdecimal()]


NO_NAMES = ColumnNames()


@dataclass(frozen=True)
class TableColumn:
    """A column of a table that a graph was read from, and what it was taken for.

    Attributes
    ----------
    table : str
        ``"edges"``, ``"features"`` or ``"labels"``.
    name : str
        Its name, or ``column 3`` if the table has no header.
    role : str
        ``"source"``, ``"target"``, ``"weight"``, ``"id"``, ``"label"``, ``"feature"`` or ``"ignored"``.
    """

    table: str
    name: str
    role: str


@dataclass(frozen=True)
class ChosenColumns:
    """The columns of a table that are read.

    Attributes
    ----------
    positions : tuple of int
        Their positions, from 0, ids first.
    columns : tuple of TableColumn
        All columns of the table in its order, without an index of pandas that is not read.
    kinds : mapping of str to str
        Kinds that the user gave, by the names of the columns.
    """

    positions: tuple[int, ...]
    columns: tuple[TableColumn, ...]
    kinds: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Columns:
    """The columns of a table, before it is read.

    Attributes
    ----------
    path : Path or str
        The file, or a description of a DataFrame.
    names : tuple of str or None
        Column names, if there is a header.
    size : int
        Number of columns.
    rows : sequence of sequences of str
        Cells of the first rows.
    has_index : bool
        Whether an index of pandas that has no name was left out.
    """

    path: Path | str
    names: tuple[str, ...] | None
    size: int
    rows: Sequence[Sequence[str]]
    has_index: bool = False

    def name(self, position: int) -> str:
        """Return the name of a column, or its number as in ``column 3``.

        Parameters
        ----------
        position : int
            Position of the column, from 0.

        Returns
        -------
        str
        """
        return f"column {position + 1}" if self.names is None else self.names[position]

    def describe(self, position: int) -> str:
        """Return the name of a column, or its number, for messages.

        Parameters
        ----------
        position : int
            Position of the column, from 0.

        Returns
        -------
        str
        """
        return str(position + 1) if self.names is None else repr(self.names[position])

    def find(self, role: str, wanted: ColumnName) -> int:
        """Find the column that was named for a role.

        Parameters
        ----------
        role : str
            Name of the parameter, for messages.
        wanted : str or int
            Name of the column, or its number from 1.

        Returns
        -------
        int

        Raises
        ------
        ParameterError
            If there is no such column.
        """
        if isinstance(wanted, str) and self.names is not None:
            exact = [i for i, name in enumerate(self.names) if name == wanted]
            near = exact or [i for i, name in enumerate(self.names) if name.lower() == wanted.strip().lower()]
            if len(near) == 1:
                return near[0]
            if near:
                raise ParameterError(
                    f"{role} must name one column of {self.path}; {len(near)} are named {wanted!r}: give a number"
                )
        if self.names is None and isinstance(wanted, str):  # messages call its columns so
            wanted = wanted.removeprefix("column ")
        if isinstance(wanted, bool) or not str(wanted).isdecimal():
            self._reject_name(role, wanted)
        if not 1 <= int(wanted) <= self.size:
            raise ParameterError(
                f"{role} must be a column of {self.path}, by name or by number from 1 to {self.size}; got {wanted}"
            )
        return int(wanted) - 1

    def _reject_name(self, role: str, wanted: object) -> NoReturn:
        if self.names is None:
            raise ParameterError(
                f"{role} must be a number from 1 to {self.size}, as {self.path} has no header; got {wanted!r}"
            )
        hint = did_you_mean(str(wanted), filter(None, self.names))
        raise ParameterError(f"{role} must name a column of {self.path}; got {wanted!r}: {hint}")

    def cells(self, position: int) -> set[str]:
        """Return the distinct cells of a column in the first rows, without those that are empty.

        Parameters
        ----------
        position : int
            Position of the column, from 0.

        Returns
        -------
        set of str
        """
        return {row[position].strip() for row in self.rows if len(row) > position} - {""}

    def is_distinct(self, position: int) -> bool:
        """Check whether no cell of a column occurs twice in the first rows.

        Parameters
        ----------
        position : int
            Position of the column, from 0.

        Returns
        -------
        bool
        """
        cells = [row[position] for row in self.rows if len(row) > position]
        return len(set(cells)) == len(cells)

    def is_index(self, position: int) -> bool:
        """Check whether a column has no name and numbers the rows, as the index that pandas writes.

        Parameters
        ----------
        position : int
            Position of the column, from 0.

        Returns
        -------
        bool
        """
        if self.names is None or not is_unnamed(self.names[position]):
            return False
        cells = [row[position].strip() for row in self.rows if len(row) > position]
        return all(map(str.isdecimal, cells)) and self.is_distinct(position)


def assign_roles(
    columns: Columns, table: str, roles: Sequence[tuple[int, str]], *, kinds: Mapping[str, str] | None = None
) -> ChosenColumns:
    """Return the columns to read, and what all columns of a table are taken for.

    Parameters
    ----------
    columns : Columns
        Columns of the table.
    table : str
        What it contains: ``"edges"``, ``"features"`` or ``"labels"``.
    roles : sequence of pairs of int and str
        Position and role of each column to read, ids first.
    kinds : mapping of str to str, optional
        Kinds that the user gave.

    Returns
    -------
    ChosenColumns
    """
    known = dict(roles)
    shown = [i for i in range(columns.size) if i in known or not columns.is_index(i)]
    every = tuple(TableColumn(table, columns.name(i), known.get(i, "ignored")) for i in shown)
    return ChosenColumns(tuple(known), every, kinds or {})


def name_columns(columns: Columns, positions: Iterable[int]) -> str:
    """Return the names of columns as the subject of a sentence.

    Parameters
    ----------
    columns : Columns
        Columns of a table.
    positions : iterable of int
        Positions of those to name, from 0.

    Returns
    -------
    str
        Up to eight names, and the verb.
    """
    listed = [columns.describe(i) for i in positions]
    shown = ", ".join(listed[:8]) + (f" and {len(listed) - 8} more" if len(listed) > 8 else "")
    return f"column{'s' * (len(listed) > 1)} {shown} of {columns.path} {'are' if len(listed) > 1 else 'is'}"
