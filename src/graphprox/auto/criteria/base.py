"""Criteria and their registry: functions that find out, without labels, how informative the edges of a graph are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeAlias, TypeVar

from graphprox._utils.progress import Progress
from graphprox._utils.registry import Registry
from graphprox.graph.graph import Graph

FEATURES, BOTH, BALANCED, GRAPH = "features", "both", "balanced", "graph"
# Ratio for which the weights of each choice are meant: how informative edges are, compared with features.
RATIOS: Mapping[str, float] = MappingProxyType({FEATURES: 0.88, BOTH: 0.95, BALANCED: 1.0, GRAPH: 1.25})


@dataclass(frozen=True)
class Evidence:
    """What a criterion found in a graph.

    Parameters
    ----------
    ratio : float or None
        How informative edges are, compared with features: 1 if equally. None if nothing can be concluded.
    scores : mapping of str to float, optional
        What it was concluded from, as shares of 1; empty if the graph does not allow a judgment.
    meaning : str, default=""
        What the scores are shares of, such as "of held-out features explained"; without scores, why there are none.

    Examples
    --------
    >>> Evidence(None).scores
    {}
    """

    ratio: float | None
    scores: Mapping[str, float] = field(default_factory=dict)
    meaning: str = ""


Criterion: TypeAlias = Callable[[Graph, int, Progress], Evidence]

F = TypeVar("F", bound=Criterion)

CRITERIA: Registry[Criterion] = Registry("criterion", package="graphprox.auto.criteria", group="graphprox.criteria")


def register_criterion(name: str) -> Callable[[F], F]:
    """Register the decorated function as a criterion.

    Parameters
    ----------
    name : str
        Its name; the first line of its docstring describes it.

    Returns
    -------
    callable
        Decorator for a function ``(graph, random_state, progress)`` that returns an `Evidence`.
    """

    def register(criterion: F) -> F:
        CRITERIA.add(name, criterion)
        return criterion

    return register
