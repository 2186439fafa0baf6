"""Choice of the columns of a table of edges: by what the user named, by their names, or by their position."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from graphprox._utils.column_names import (
    find_ends,
    is_entity,
    is_entity_id,
    is_id,
    is_node_id,
    is_plain_name,
    is_superior,
    is_weight,
)
from graphprox._utils.stacklevel import warn
from graphprox.errors import AssumedInputWarning, IgnoredInputWarning, ParameterError, ReadError
from graphprox.io.tables.column_choice import (
    ChosenColumns,
    ColumnNames,
    Columns,
    assign_roles,
    name_columns,
)
from graphprox.io.tables.headers import NUMBER_CELL

_MIN_TIME = 10**8  # seconds since 1970, in 1973


def choose_edge_columns(columns: Columns, names: ColumnNames) -> ChosenColumns:
    """Choose the columns of source, target and, if there is one, weight, and warn about what is ignored.

    Parameters
    ----------
    columns : Columns
        Columns of a table of edges.
    names : ColumnNames
        Columns that the user named.

    Returns
    -------
    ChosenColumns
    """
    if columns.size < 2:
        first = columns.rows[0] if columns.rows else columns.names or ()
        raise ReadError(
            f"each row of {columns.path} must begin with two ids; the first has 1 cell, {', '.join(first)[:60]!r}"
        )
    source, target = _choose_ends(columns, names)
    weight = _choose_weight(columns, names, (source, target))
    _report_edges(columns, names, source, target, weight)
    roles = [(source, "source"), (target, "target"), *([] if weight is None else [(weight, "weight")])]
    return assign_roles(columns, "edges", roles)


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
    ends = _find_hierarchy(columns, columns.names, usable)
    if ends is not None:
        return ends
    named = _find_named(columns, columns.names, usable)
    first, second, *_ = named if len(named) > 1 else usable if len(usable) > 1 else range(2)
    return first, second


def _find_hierarchy(columns: Columns, names: Sequence[str], usable: Sequence[int]) -> tuple[int, int] | None:
    """Find an id and a column that refers to it, as ``id`` and ``manager_id``: ids that occur in both."""
    superiors = [i for i in usable if is_superior(names[i])]
    if len(superiors) != 1:
        return None
    (superior,) = superiors
    others = [i for i in usable if i != superior]
    ids = [i for i in others if is_node_id(names[i]) or is_entity_id(names[i])]
    wanted = columns.cells(superior)
    shared = {i: len(wanted & columns.cells(i)) for i in others if i in ids or is_plain_name(names[i])}
    best = max(shared, key=shared.__getitem__, default=None)
    if best is not None and shared[best]:
        return best, superior
    return (ids[0], superior) if len(ids) == 1 else None


def _find_named(columns: Columns, names: Sequence[str], usable: Sequence[int]) -> list[int]:
    """Find columns named as ids, or else as nodes; a name or a phone number is one only if there is no better."""
    for is_named in (is_id, is_entity_id, lambda name: is_entity(name) and not is_plain_name(name), is_entity):
        named = [i for i in usable if is_named(names[i])]
        if len(named) > 2 and (is_node_id(names[named[0]]) or _counts_rows(columns, named[0])):
            named = named[1:]  # the id of the row itself
        if len(named) > 1:
            return named
    return []


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
    if columns.size > 2 and ends == (0, 1) and not _has_times(columns):
        # networkx writes attributes in braces, of which the reader of weights says what to do.
        return 2 if _has_numbers(columns) or any(cell.startswith("{") for cell in columns.cells(2)) else None
    return None


def _has_numbers(columns: Columns) -> bool:
    return any(NUMBER_CELL.fullmatch(cell) for cell in columns.cells(2))


def _has_times(columns: Columns) -> bool:
    """Check whether the third column contains integers of 1e8 or more: seconds since 1970, as in temporal graphs."""
    cells = columns.cells(2)
    return bool(cells) and all(cell.isdecimal() and int(cell) >= _MIN_TIME for cell in cells)


def _report_edges(columns: Columns, names: ColumnNames, source: int, target: int, weight: int | None) -> None:
    taken = f"edges join columns {columns.describe(source)} and {columns.describe(target)}"
    taken += ", without weights" if weight is None else f", with the weights in {columns.describe(weight)}"
    is_named = names.source is not None or names.target is not None  # and what is ignored has been seen then
    ignored = [i for i in range(columns.size) if i not in (source, target, weight) and not columns.is_index(i)]
    if ignored and not is_named:
        hint = _hint_at_others(columns, weight)
        warn(f"{name_columns(columns, ignored)} ignored: {taken}{hint}", IgnoredInputWarning)
    elif (source, target) != (0, 1) and not is_named:
        warn(f"{taken.removesuffix(', without weights')} of {columns.path}", AssumedInputWarning)
    elif weight is not None and names.weight is None and columns.names is None and _has_numbers(columns):
        warn(f"weights are read from column 3 of {columns.path}: set weight=3 to confirm it", AssumedInputWarning)


def _hint_at_others(columns: Columns, weight: int | None) -> str:
    """Say which parameters take what is ignored, or confirm the choice."""
    if columns.names is None and weight is None and _has_times(columns):
        return ", as column 3 seems to contain times: set weight=3 to take it nevertheless"
    roles = "source and target" if weight is not None else "source, target or weight"
    return f": set {roles} to take other columns, or to confirm these"
