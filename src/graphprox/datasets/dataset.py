"""The `Dataset`: a graph with a name and its published splits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from graphprox.graph.graph import Graph
from graphprox.graph.splits import NodeSplit
from graphprox.io.tables.column_choice import TableColumn

Splits = Mapping[str, tuple[NodeSplit, ...]]
NO_SPLITS: Splits = MappingProxyType({})


@dataclass(frozen=True, eq=False)
class Dataset:
    """A graph with a name and its published splits.

    Attributes
    ----------
    name : str
        Name of the data set, or path of the file.
    graph : Graph
        The graph.
    splits : mapping of str to tuple of NodeSplit
        Published splits by the name of the protocol, such as ``splits["public"][0]``.
    columns : tuple of TableColumn
        The columns of the tables that a graph was read from: of which table, their names, and what they were taken for.

    Examples
    --------
    >>> from graphprox import load
    >>> dataset = load("synthetic")
    >>> dataset.name, dataset.graph.num_nodes, dict(dataset.splits)
    ('synthetic', 840, {})
    """

    name: str
    graph: Graph
    splits: Splits = field(default_factory=lambda: NO_SPLITS)
    columns: tuple[TableColumn, ...] = ()

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (self.name, self.graph, dict(self.splits), self.columns)  # a mappingproxy cannot be pickled


def _rebuild(
    name: str, graph: Graph, splits: dict[str, tuple[NodeSplit, ...]], columns: tuple[TableColumn, ...]
) -> Dataset:
    return Dataset(name, graph, MappingProxyType(splits), columns)
