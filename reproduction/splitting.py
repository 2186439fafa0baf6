"""Splits of the reproduction: those of all records, which were made before splits had a stream of their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from graphprox._utils.random import Stream
from graphprox.evaluation.grace_probe import grace_split
from graphprox.evaluation.protocols import PROTOCOLS, Protocol
from graphprox.graph.graph import Graph
from graphprox.graph.splits import NodeSplit, random_split

# Records are comparable only on the same splits, and none of the data sets drew its labels from this stream.
STREAM: Stream = "legacy"


def _random_split(graph: Graph, seed: int) -> NodeSplit:
    return random_split(graph, random_state=seed, stream=STREAM)


def _grace_split(graph: Graph, seed: int) -> NodeSplit:
    return grace_split(graph, random_state=seed, stream=STREAM)


_SPLITS: Mapping[str, Callable[[Graph, int], NodeSplit]] = {"random": _random_split, "grace": _grace_split}


def recorded_protocol(name: str) -> Protocol:
    """Return a protocol with the random splits of the records.

    Parameters
    ----------
    name : {"random", "public", "grace", "dgi"}

    Returns
    -------
    Protocol

    Examples
    --------
    >>> from graphprox import random_split, synthetic
    >>> (split,) = recorded_protocol("random").splits(synthetic(), n_splits=1)
    >>> split.train.tolist() == random_split(synthetic(), stream="legacy").train.tolist()
    True
    """
    protocol = PROTOCOLS[name]
    return protocol if protocol.make_split is None else replace(protocol, make_split=_SPLITS[name])
