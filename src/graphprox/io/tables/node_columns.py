"""Choice of the columns of tables of features and labels: ids, features and classes."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from graphprox._utils.column_names import (
    is_class,
    is_entity,
    is_entity_id,
    is_label,
    is_node_id,
    is_plain_name,
    is_unnamed,
    split_words,
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
from graphprox.preprocessing.columns import IGNORED


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
        The column that the user named; otherwise one named as a column of the edges, as ``id`` or as ``node``, the
        first one if it is named as an id, one such as ``user_id`` whose cells are distinct, or the first.
    """
    if names.id is not None:
        return columns.find("id", names.id)
    if columns.names is not None and (shared := _find_shared(columns, columns.names, names.ends)) is not None:
        return shared
    found = 0 if columns.names is None else _find_id(columns, columns.names)
    if columns.names is not None and len(others := _find_candidates(columns, columns.names)) > 1 and found in others:
        listed = ", ".join(columns.describe(i) for i in others if i != found)
        warn(
            f"ids are read from column {columns.describe(found)} of {columns.path}, not from {listed}: set id to take "
            "another column",
            AssumedInputWarning,
        )
        return found
    if columns.names is not None and found == 0 and not _may_be_ids(columns, columns.names[0]):
        hint = ", or name the index, as in frame.rename_axis('id'), to take it" if columns.has_index else ""
        warn(
            f"ids are read from column {columns.describe(0)} of {columns.path}: set id to take another column{hint}",
            AssumedInputWarning,
        )
    elif found != 0 and not columns.is_index(0):
        warn(f"ids are read from column {columns.describe(found)} of {columns.path}", AssumedInputWarning)
    return found


def _may_be_ids(columns: Columns, name: str) -> bool:
    """Check whether the first column has the name of ids or none, or contains words, which are hardly a feature."""
    is_named = is_entity(name) or is_unnamed(name) or name.strip().lower() == "index"
    return is_named or not all(map(NUMBER_CELL.fullmatch, columns.cells(0)))


def _find_shared(columns: Columns, names: tuple[str, ...], ends: tuple[str, ...]) -> int | None:
    """Return the column of ids that has the name of a column of the edges."""
    wanted = [split_words(end) for end in ends]
    return next((i for i, name in enumerate(names) if split_words(name) in wanted and columns.is_distinct(i)), None)


def _find_candidates(columns: Columns, names: tuple[str, ...]) -> list[int]:
    """Return the columns that are named as ids and whose cells are distinct."""
    return [i for i, name in enumerate(names) if (is_node_id(name) or is_entity_id(name)) and columns.is_distinct(i)]


def _find_id(columns: Columns, names: tuple[str, ...]) -> int:
    nodes = [i for i, name in enumerate(names) if is_node_id(name) and columns.is_distinct(i)]
    if nodes:
        return nodes[0]
    # A name is an id only where the table has no better one: `name, user_id` is a table of users by their ids.
    if is_entity(names[0]) and not is_plain_name(names[0]) and columns.is_distinct(0):
        return 0
    return next((i for i, name in enumerate(names) if is_entity_id(name) and columns.is_distinct(i)), 0)


def choose_feature_columns(
    columns: Columns,
    names: ColumnNames,
    *,
    ids: bool = True,
    labels: bool = False,
    label: str | None = None,
    classes: bool = False,
    ignored: Collection[str] = (),
) -> ChosenColumns:
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
    label : str, default=None
        Column of another table that contains the labels. One of the same name is no feature either.
    classes : bool, default=False
        Whether columns may be classes without a warning.
    ignored : collection of str, default=()
        Names of columns that a fitted model ignores.

    Returns
    -------
    ChosenColumns
    """
    first = [choose_id_column(columns, names)] if ids else []
    of_labels = [_find_label(columns, names, first)] if labels else []
    kinds = _find_kinds(columns, names, first, of_labels)
    dropped = {i for i, kind in kinds.items() if kind == IGNORED}
    copies = () if labels else _find_copies(columns, label, dropped)
    left_out, known = {*first, *of_labels, *copies, *dropped}, frozenset(ignored)
    found = [
        i
        for i in range(columns.size)
        if i not in left_out and columns.name(i) not in known and (i in kinds or not columns.is_index(i))
    ]
    if not classes:
        _report_classes(columns, [i for i in found if i not in kinds])
    if not found:
        _reject_no_features(columns, dropped)
    roles = [*((i, "id") for i in first), *((i, "feature") for i in found)]
    return assign_roles(columns, "features", roles, kinds={columns.name(i): kind for i, kind in kinds.items()})


def _find_kinds(columns: Columns, names: ColumnNames, ids: Sequence[int], labels: Sequence[int]) -> dict[int, str]:
    """Return the kinds that the user gave, by the positions of the columns."""
    kinds: dict[int, str] = {}
    for name, kind in names.kinds.items():
        found = columns.find("kinds", name)
        if found in (*ids, *labels):
            other = "ids" if found in ids else "labels"
            raise ParameterError(
                f"kinds must name features of {columns.path}; got {name!r}, which contains the {other}"
            )
        if found in kinds:
            raise ParameterError(
                f"kinds must name each column of {columns.path} once; got several for {columns.describe(found)}"
            )
        kinds[found] = kind
    return kinds


def _reject_no_features(columns: Columns, dropped: Collection[int]) -> None:
    """Raise an error if the user ignores all features; a table without any is reported when it is read."""
    if dropped:
        listed = ", ".join(map(columns.describe, dropped))
        raise ParameterError(f"kinds must leave a feature of {columns.path}; got {IGNORED!r} for {listed}")


def _report_classes(columns: Columns, features: Sequence[int]) -> None:
    """Warn about features that are named as the class of nodes."""
    names = [name.strip().lower() for name in columns.names or ()]
    is_place = "x" in names  # beside which y is a coordinate
    found = [i for i in features if names and is_class(names[i]) and not (is_place and names[i] == "y")]
    if found:
        used = "features: set kinds to 'ignored' for what is a class, or labels to this table too"
        if len(found) == 1:
            remedy = f"set kinds={{{columns.name(found[0])!r}: 'ignored'}} to leave it out"
            used = f"a feature: {remedy}, or labels to this table too"
        warn(f"{name_columns(columns, found)} used as {used}", AssumedInputWarning)


def _find_copies(columns: Columns, label: str | None, known: Collection[int]) -> list[int]:
    """Find the columns of features that have the name of the labels in another table, and warn about them."""
    # Columns without names are numbered in every table.
    if label is None or columns.names is None or is_unnamed(label) or label.strip().isdecimal():
        return []
    copies = [
        i for i, name in enumerate(columns.names) if name.strip().lower() == label.strip().lower() and i not in known
    ]
    if copies:
        warn(f"{name_columns(columns, copies)} ignored: labels are in {label!r}", IgnoredInputWarning)
    return copies


def choose_label_columns(columns: Columns, names: ColumnNames, *, ids: bool = True) -> ChosenColumns:
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
    ChosenColumns
    """
    first = [choose_id_column(columns, names)] if ids else []
    label = _find_label(columns, names, first)
    ignored = [i for i in range(columns.size) if i not in (*first, label) and not columns.is_index(i)]
    if ignored:
        warn(f"{name_columns(columns, ignored)} ignored: labels are in {columns.describe(label)}", IgnoredInputWarning)
    return assign_roles(columns, "labels", [*((i, "id") for i in first), (label, "label")])


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
    raise ReadError(f"labels must be one column of {columns.path}; it has several, {listed}: set label to select one")
