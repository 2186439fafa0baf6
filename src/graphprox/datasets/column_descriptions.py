"""What the columns of the tables of a graph were taken for, and what became of its features."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from graphprox.datasets.dataset import Dataset
from graphprox.graph.graph import UNKNOWN_LABEL
from graphprox.io.tables.column_choice import TableColumn
from graphprox.preprocessing.column_summary import ColumnSummary, summarize_columns
from graphprox.preprocessing.columns import IGNORED, NUMBER

FEATURE, LABEL = "feature", "label"
OF_FEATURES = ("features", "nodes")  # tables


@dataclass(frozen=True)
class ColumnDescription:
    """What a column of a table was taken for.

    Attributes
    ----------
    table : str
        ``"edges"``, ``"features"`` or ``"labels"``; of GraphML, ``"edges"`` or ``"nodes"``.
    column : str
        Its name, or ``column 3`` if the table has no header.
    role : str
        ``"source"``, ``"target"``, ``"weight"``, ``"id"``, ``"label"``, ``"feature"`` or ``"ignored"``.
    kind : str or None
        Of a feature, ``"number"``, ``"category"``, ``"boolean"`` or ``"date"``.
    features : int or None
        Number of features that were made of it.
    missing : int or None
        Number of nodes without a value, of a feature or a label.
    values : int or None
        Number of different categories, or of classes.
    rare : int or None
        Number of categories that share a feature.
    reason : str
        Why a column of features is ignored, if that is known.
    """

    table: str
    column: str
    role: str
    kind: str | None = None
    features: int | None = None
    missing: int | None = None
    values: int | None = None
    rare: int | None = None
    reason: str = ""


def describe_columns(dataset: Dataset) -> tuple[ColumnDescription, ...]:
    r"""Say what the columns of the tables that a graph was read from were taken for.

    Parameters
    ----------
    dataset : Dataset
        As `load` returns it.

    Returns
    -------
    tuple of ColumnDescription
        In the order of the tables. Nothing for a graph that was not read from tables.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from graphprox import load
    >>> with TemporaryDirectory() as folder:
    ...     edges, features = Path(folder, "edges.csv"), Path(folder, "features.csv")
    ...     _ = edges.write_text("source,target\nann,bob\nbob,eve\n")
    ...     _ = features.write_text("id,age,city\nann,31,Rome\nbob,,Oslo\neve,52,Rome\n")
    ...     dataset = load(edges, features=features)
    >>> for each in describe_columns(dataset):
    ...     print(each.column, each.role, each.kind, each.missing, each.values)
    source source None None None
    target target None None None
    id id None None None
    age feature number 1 None
    city feature category 0 2
    """
    graph = dataset.graph
    known = {each.name: each for each in summarize_columns(graph.table, graph.feature_names)}
    return tuple(_describe(each, dataset, known) for each in dataset.columns)


def _describe(column: TableColumn, dataset: Dataset, known: Mapping[str, ColumnSummary]) -> ColumnDescription:
    table, name, role = column.table, column.name, column.role
    y = dataset.graph.y
    if role == LABEL and y is not None:
        missing = int((y == UNKNOWN_LABEL).sum())
        return ColumnDescription(table, name, role, missing=missing, values=dataset.graph.num_classes)
    found = known.get(name) if table in OF_FEATURES else None
    if role == FEATURE and found is None:  # a column of lists, or one of numbers without names
        parts = [each for each in known if each.startswith(f"{name}[")]
        return ColumnDescription(table, name, role, NUMBER, features=max(1, len(parts)), missing=0)
    if found is None or role not in (FEATURE, IGNORED):
        return ColumnDescription(table, name, role)
    if found.kind == IGNORED:
        return ColumnDescription(table, name, IGNORED, reason=found.reason)
    return ColumnDescription(table, name, role, found.kind, found.features, found.missing, found.values, found.rare)
