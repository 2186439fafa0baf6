"""Protocols: which nodes a probe learns from and is counted on, and which probe it is, by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from numpy.typing import ArrayLike

from graphprox.datasets.dataset import Dataset
from graphprox.errors import GraphError, ParameterError
from graphprox.evaluation.compat import compat_probe, compat_split
from graphprox.evaluation.descent import descent_probe
from graphprox.evaluation.inputs import RowsLike
from graphprox.evaluation.probe import Score, probe
from graphprox.graph import Graph
from graphprox.splits import NodeSplit, random_split

PUBLIC = "public"  # what data sets call the splits that were published with them


@dataclass(frozen=True)
class Protocol:
    """How classification is measured: the splits of a data set, and the probe.

    ``draw`` makes a split of a seed; it is None where the splits come with the data.

    >>> from graphprox import load
    >>> dataset = load("synthetic")
    >>> PROTOCOLS["random"].splits(dataset, count=2)
    [NodeSplit(84 train, 84 validation, 672 test), NodeSplit(84 train, 84 validation, 672 test)]
    """

    name: str
    about: str
    probe: Callable[[RowsLike, ArrayLike, NodeSplit], Score]
    draw: Callable[[Graph, int], NodeSplit] | None

    def splits(self, dataset: Dataset, count: int = 10, first_seed: int = 0) -> list[NodeSplit]:
        """Splits of ``count`` seeds from ``first_seed`` on; where they come with the data, all that there are."""
        if dataset.graph.y is None:
            raise GraphError(f"classification needs a graph with labels; {dataset.name} has none: give them")
        if self.draw is None:
            return _published(dataset)
        if not isinstance(count, int) or count < 1:
            raise ParameterError(f"count must be a whole number from 1, or nothing is measured; got {count!r}")
        return [self.draw(dataset.graph, first_seed + each) for each in range(count)]


def _published(dataset: Dataset) -> list[NodeSplit]:
    if PUBLIC in dataset.splits:
        return list(dataset.splits[PUBLIC])
    held = f"only {', '.join(dataset.splits)}, without validation nodes" if dataset.splits else "none"
    raise ParameterError(
        f"public splits need a data set that has some; {dataset.name} has {held}: use the protocol random or compat"
    )


def _random(graph: Graph, seed: int) -> NodeSplit:
    return random_split(graph, seed=seed)


def _compat(graph: Graph, seed: int) -> NodeSplit:
    return compat_split(graph, seed=seed)


PROTOCOLS = {
    each.name: each
    for each in (
        Protocol("random", "10 % to train, 10 % to validate, 80 % to test, by seed", probe, _random),
        Protocol("public", "the splits that were published with the data set, all of them", probe, None),
        Protocol(
            "compat", "10 % to train, 90 % to test, by seed, with the probe of GRACE's code", compat_probe, _compat
        ),
        Protocol("descent", "the public splits, with the probe of the code of DGI and others", descent_probe, None),
    )
}
