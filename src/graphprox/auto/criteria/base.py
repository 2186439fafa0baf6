"""Criteria and their registry: functions that score combinations of outputs by the graph itself, without labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias, TypeVar

from graphprox._utils.progress import Progress
from graphprox._utils.registry import Registry
from graphprox.graph.graph import Graph

Candidates: TypeAlias = Mapping[str, tuple[str, ...]]  # names of outputs, by the name of their combination
Criterion: TypeAlias = Callable[[Graph, Candidates, int, Progress], dict[str, float]]

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
        Decorator for a function ``(graph, candidates, random_state, progress)`` that returns a score for each
        candidate, the higher the better, or nothing if the graph does not allow a judgment.
    """

    def register(criterion: F) -> F:
        CRITERIA.add(name, criterion)
        return criterion

    return register
