"""Dataset: a graph with a name and the splits that were published with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from graphprox.graph import Graph
from graphprox.splits import NodeSplit

Splits = Mapping[str, tuple[NodeSplit, ...]]
NO_SPLITS: Splits = MappingProxyType({})


@dataclass(frozen=True, eq=False)
class Dataset:
    """A graph, its name, and its public splits by the name of the protocol: ``splits["public"][0]``."""

    name: str
    graph: Graph
    splits: Splits = field(default_factory=lambda: NO_SPLITS)
