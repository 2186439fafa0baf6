"""Choice of the columns of a table: by what the user named, by their names, or by their position."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import NoReturn

from graphprox._utils.stacklevel import find_stacklevel
from graphprox._utils.suggestions import did_you_mean
from graphprox.errors import AssumedInputWarning, IgnoredInputWarning, ParameterError, ReadError
from graphprox.io.column_names import (
    find_ends,
    is_entity,
    is_entity_id,
    is_label,
    is_node_id,
    is_plain_name,
    is_unnamed,
    is_weight,
)
from graphprox.io.headers import NUMBER_CELL

ColumnName = str | int


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
    """

    source: ColumnName | None = None
    target: ColumnName | None = None
    weight: ColumnName | None = None
    id: ColumnName | None = None
    label: ColumnName | None = None

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
        named = (getattr(self, role) for role in roles)
        return [name for name in named if isinstance(name, str) and not name.isdecimal()]


NO_NAMES = ColumnNames()


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
    """

    path: Path | str
    names: tuple[str, ...] | None
    size: int
    rows: Sequence[Sequence[str]]

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


# -- edges ----------------------------------------------------------------------------------------------------------


def choose_edge_columns(columns: Columns, names: ColumnNames) -> list[int]:
    """Choose the columns of source, target and, if there is one, weight, and warn about what is ignored.

    Parameters
    ----------
    columns : Columns
        Columns of a table of edges.
    names : ColumnNames
        Columns that the user named.

    Returns
    -------
    list of int
        Positions.
    """
    if columns.size < 2:
        first = columns.rows[0] if columns.rows else columns.names or ()
        raise ReadError(f"each row of {columns.path} must begin with two ids; the first is {', '.join(first)[:60]!r}")
    source, target = _choose_ends(columns, names)
    weight = _choose_weight(columns, names, (source, target))
    _report_edges(columns, names, source, target, weight)
    return [source, target] if weight is None else [source, target, weight]


def _choose_ends(columns: Columns, names: ColumnNames) -> tuple[int, int]:
    given = {role: getattr(names, role) for role in ("source", "target")}
    found = {role: columns.find(role, name) for role, name in given.items() if name is not None}
    if len(set(found.values())) < len(found):
        raise ParameterError(
            f"source and target must be different columns of {columns.path}; got {given['source']!r} for both"
        )
    ends = None if columns.names is None else find_ends(columns.names)
    if not found:
        return ends or _guess_ends(columns)
    for role, end in zip(("source", "target"), ends or (-1, -1), strict=True):
        if role not in found:
            if end < 0 or end in found.values():
                (other,) = found
                raise ParameterError(
                    f"source and target must be given together, as no other column of {columns.path} is named "
                    f"{role!r}; got {other} alone"
                )
            found[role] = end
    return found["source"], found["target"]


def _guess_ends(columns: Columns) -> tuple[int, int]:
    """Return the first two columns, or the first two named as ids, such as customer_id and product_id."""
    if columns.names is None:
        return 0, 1
    usable = [i for i in range(columns.size) if not columns.is_index(i)]
    named = [i for i in usable if is_entity(columns.names[i])]
    if len(named) > 2 and (is_node_id(columns.names[named[0]]) or _counts_rows(columns, named[0])):
        named = named[1:]  # the id of the row itself
    first, second, *_ = named if len(named) > 1 else usable if len(usable) > 1 else range(2)
    return first, second


def _counts_rows(columns: Columns, position: int) -> bool:
    cells = [row[position].strip() for row in columns.rows if len(row) > position]
    numbers = [int(cell) for cell in cells if cell.isdecimal()]
    return len(numbers) == len(cells) > 1 and all(b == a + 1 for a, b in pairwise(numbers))


def _choose_weight(columns: Columns, names: ColumnNames, ends: tuple[int, int]) -> int | None:
    if names.weight is not None:
        weight = columns.find("weight", names.weight)
        if weight in ends:
            raise ParameterError(
                f"weight must be another column of {columns.path} than source and target; got {names.weight!r}"
            )
        return weight
    if columns.names is not None:
        return next((i for i, name in enumerate(columns.names) if i not in ends and is_weight(name)), None)
    if columns.size > 2 and ends == (0, 1):
        cells = [row[2].strip() for row in columns.rows if len(row) > 2]
        # networkx writes attributes in braces, of which the reader of weights says what to do.
        return 2 if any(NUMBER_CELL.fullmatch(cell) or cell.startswith("{") for cell in cells) else None
    return None


def _report_edges(columns: Columns, names: ColumnNames, source: int, target: int, weight: int | None) -> None:
    taken = f"edges join columns {columns.describe(source)} and {columns.describe(target)}"
    if weight is not None:
        taken += f", with the weights in {columns.describe(weight)}"
    ignored = [i for i in range(columns.size) if i not in (source, target, weight) and not columns.is_index(i)]
    if ignored:
        hint = "" if weight is not None else ", without weights: set weight to take a column"
        _warn(f"{_list(columns, ignored)} ignored: {taken}{hint}", IgnoredInputWarning)
    elif (source, target) != (0, 1) and names.source is None and names.target is None:
        _warn(f"{taken} of {columns.path}", AssumedInputWarning)


# -- nodes ----------------------------------------------------------------------------------------------------------


def choose_id_column(columns: Columns, names: ColumnNames) -> int:
    """Choose the column of node ids of a table of features or labels.

    Parameters
    ----------
    columns : Columns
        Columns of the table.
    names : ColumnNames
        Columns that the user named.

    Returns
    -------
    int
        The column that the user named; otherwise one named ``id`` or ``node``, the first one if it is named as an id,
        one such as ``user_id`` whose cells are distinct, or the first.
    """
    if names.id is not None:
        return columns.find("id", names.id)
    found = 0 if columns.names is None else _find_id(columns, columns.names)
    if found != 0 and not columns.is_index(0):
        _warn(f"ids are read from column {columns.describe(found)} of {columns.path}", AssumedInputWarning)
    return found


def _find_id(columns: Columns, names: tuple[str, ...]) -> int:
    nodes = [i for i, name in enumerate(names) if is_node_id(name) and columns.is_distinct(i)]
    if nodes:
        return nodes[0]
    # A name is an id only where the table has no better one: `name, user_id` is a table of users by their ids.
    if is_entity(names[0]) and not is_plain_name(names[0]) and columns.is_distinct(0):
        return 0
    return next((i for i, name in enumerate(names) if is_entity_id(name) and columns.is_distinct(i)), 0)


def choose_feature_columns(
    columns: Columns, names: ColumnNames, *, ids: bool = True, labels: bool = False
) -> list[int]:
    """Choose the columns of ids and of features; an index of pandas that is not the ids is left out.

    Parameters
    ----------
    columns : Columns
        Columns of a table of features.
    names : ColumnNames
        Columns that the user named.
    ids : bool, default=True
        Whether there is a column of ids.
    labels : bool, default=False
        Whether the labels are a column of the same table, which is no feature then.

    Returns
    -------
    list of int
        Positions, that of the ids first.
    """
    first = [choose_id_column(columns, names)] if ids else []
    left_out = {*first, _find_label(columns, names, first)} if labels else {*first}
    return first + [i for i in range(columns.size) if i not in left_out and not columns.is_index(i)]


def choose_label_columns(columns: Columns, names: ColumnNames, *, ids: bool = True) -> list[int]:
    """Choose the columns of ids and of classes, and warn about those that are ignored.

    Parameters
    ----------
    columns : Columns
        Columns of a table of labels.
    names : ColumnNames
        Columns that the user named.
    ids : bool, default=True
        Whether there is a column of ids.

    Returns
    -------
    list of int
        Positions, that of the ids first.
    """
    first = [choose_id_column(columns, names)] if ids else []
    label = _find_label(columns, names, first)
    ignored = [i for i in range(columns.size) if i not in (*first, label) and not columns.is_index(i)]
    if ignored:
        _warn(f"{_list(columns, ignored)} ignored: labels are in {columns.describe(label)}", IgnoredInputWarning)
    return [*first, label]


def _find_label(columns: Columns, names: ColumnNames, ids: Sequence[int]) -> int:
    if names.label is not None:
        label = columns.find("label", names.label)
        if label in ids:
            raise ParameterError(f"label must be another column of {columns.path} than the ids; got {names.label!r}")
        return label
    others = [i for i in range(columns.size) if i not in ids and not columns.is_index(i)]
    if len(others) == 1:
        return others[0]
    wanted = "an id and a label" if ids else "a label"
    if columns.names is None or not others:
        raise ReadError(f"each row of {columns.path} must contain {wanted}; it contains {columns.size} cells")
    named = [i for i in others if is_label(columns.names[i])]
    if len(named) == 1:
        return named[0]
    listed = ", ".join(columns.describe(i) for i in others)
    raise ReadError(f"label must name a column of {columns.path}, as it has several; got none of {listed}")


def _list(columns: Columns, positions: Iterable[int]) -> str:
    listed = [columns.describe(i) for i in positions]
    shown = ", ".join(listed[:8]) + (f" and {len(listed) - 8} more" if len(listed) > 8 else "")
    return f"column{'s' * (len(listed) > 1)} {shown} of {columns.path} {'are' if len(listed) > 1 else 'is'}"


def _warn(message: str, category: type[Warning]) -> None:
    warnings.warn(message, category, stacklevel=find_stacklevel())
