"""Protocols of node classification: how nodes are split, and which probe is fitted. Named after their origin."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from graphprox._utils.checks import check_positive
from graphprox._utils.random import RandomState, check_seed
from graphprox._utils.renamed import RENAMED_PROTOCOLS
from graphprox._utils.suggestions import did_you_mean
from graphprox.datasets.dataset import Dataset
from graphprox.errors import GraphError, ParameterError
from graphprox.evaluation.dgi_probe import DGIProbe
from graphprox.evaluation.grace_probe import GRACEProbe, grace_split
from graphprox.evaluation.probe import LinearProbe, Probe
from graphprox.graph.graph import Graph
from graphprox.graph.splits import NodeSplit, random_split
from graphprox.graph.validation import check_graph

PUBLIC = "public"  # key of the published splits of a data set


@dataclass(frozen=True)
class Protocol:
    """How node classification is evaluated: splits and probe.

    Parameters
    ----------
    name : str
        Name on the command line.
    about : str
        Description, in one line.
    probe : Probe
        The classifier that is fitted to the embedding.
    make_split : callable or None
        Called as ``make_split(graph, seed)``; None if the splits are those published with the data set.

    Examples
    --------
    >>> from graphprox import synthetic
    >>> PROTOCOLS["random"].splits(synthetic(), n_splits=2)
    [NodeSplit(84 train, 84 val, 672 test), NodeSplit(84 train, 84 val, 672 test)]
    """

    name: str
    about: str
    probe: Probe
    make_split: Callable[[Graph, int], NodeSplit] | None

    def splits(self, graph: Graph | Dataset, n_splits: int = 10, random_state: RandomState = 0) -> list[NodeSplit]:
        """Return the splits of a graph.

        Parameters
        ----------
        graph : Graph or Dataset
            Must have labels. Published splits need a `Dataset`.
        n_splits : int, default=10
            Number of random splits; ignored if the splits are published, as all of them are used.
        random_state : int, RandomState, Generator or None, default=0
            Random seed of the first split; the following ones use the following seeds.

        Returns
        -------
        list of NodeSplit
        """
        checked = check_graph(graph)
        name = graph.name if isinstance(graph, Dataset) else "the graph"
        if checked.y is None:
            raise GraphError(f"classification needs a graph with labels; {name} has none: give y")
        if self.make_split is None:
            return _published_splits(graph.splits if isinstance(graph, Dataset) else {}, name)
        check_positive(n_splits=n_splits)
        first = check_seed(random_state)
        return [self.make_split(checked, first + each) for each in range(n_splits)]


def _published_splits(splits: Mapping[str, tuple[NodeSplit, ...]], name: str) -> list[NodeSplit]:
    if PUBLIC in splits:
        return list(splits[PUBLIC])
    available = f"only {', '.join(splits)}, without validation nodes" if splits else "none"
    raise ParameterError(
        f"public splits need a data set that has some; {name} has {available}: use the protocol random or grace"
    )


def _random_split(graph: Graph, seed: int) -> NodeSplit:
    return random_split(graph, random_state=seed)


def _grace_split(graph: Graph, seed: int) -> NodeSplit:
    return grace_split(graph, random_state=seed)


PROTOCOLS: Mapping[str, Protocol] = MappingProxyType(
    {
        each.name: each
        for each in (
            Protocol(
                "random", "random splits: 10 % training, 10 % validation, 80 % test nodes", LinearProbe(), _random_split
            ),
            Protocol(PUBLIC, "the splits published with the data set", LinearProbe(), None),
            Protocol(
                "grace",
                "random splits: 10 % training, 90 % test nodes, with the probe of GRACE's code",
                GRACEProbe(),
                _grace_split,
            ),
            Protocol("dgi", "the published splits, with the probe of the code of DGI and others", DGIProbe(), None),
        )
    }
)


def get_protocol(name: str) -> Protocol:
    """Return the protocol of a name.

    Parameters
    ----------
    name : {"random", "public", "grace", "dgi"}

    Returns
    -------
    Protocol

    Raises
    ------
    ParameterError
        If there is no such protocol; the message suggests one.

    Examples
    --------
    >>> get_protocol("grace").about
    "random splits: 10 % training, 90 % test nodes, with the probe of GRACE's code"
    """
    if name in PROTOCOLS:
        return PROTOCOLS[name]
    hint = (
        f"it is now called {RENAMED_PROTOCOLS[name]!r}"
        if name in RENAMED_PROTOCOLS
        else did_you_mean(str(name), PROTOCOLS)
    )
    raise ParameterError(f"protocol must be one of {', '.join(PROTOCOLS)}; got {name!r}: {hint}")
