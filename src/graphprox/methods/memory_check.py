"""Refuse to fit what would need more memory than is available, before any work, and say what would fit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from sklearn.base import clone

from graphprox._utils.amounts import format_memory
from graphprox._utils.defaults import DEFAULT_METHOD
from graphprox._utils.memory import available_memory, current_memory
from graphprox._utils.team import current_team
from graphprox.errors import InsufficientMemoryError
from graphprox.forecast import NOMINAL, Costs, make_forecast
from graphprox.forecast.ignoring import is_memory_ignored
from graphprox.graph.graph import Graph

if TYPE_CHECKING:
    from graphprox.methods.base import GraphMethod

LARGE = "large"  # the preset that encodes a chunk of nodes at a time
SIZES = ("n_components", "hidden_channels")
SMALLER = (4096, 1024, 256, 128, 64, 32, 16)  # sizes that are proposed


def to_parameter(name: str, value: object) -> str:
    """Return a proposal as it is written in Python."""
    return f"{name}={value!r}"


def check_fits_memory(
    method: GraphMethod,
    graph: Graph,
    *,
    write: Callable[[str, object], str] = to_parameter,
    override: str = "graphprox.forecast.ignore_memory()",
) -> None:
    """Raise an error that says what would fit, if a method needs more memory on a graph than is available.

    Nothing is checked inside `graphprox.forecast.ignore_memory`, nor in one of several processes, which divide the
    work.

    Parameters
    ----------
    method : GraphMethod
        With the settings of its preset.
    graph : Graph
        A graph as ``fit`` prepares it.
    write : callable
        Writes a proposal, the name of a parameter and its value, as the user would.
    override : str
        What starts all the same.

    Raises
    ------
    InsufficientMemoryError
    """
    if is_memory_ignored() or current_team().size > 1:
        return
    available, costs = available_memory(), method._memory_costs(graph)
    if available is None or (needed := _estimate_memory(costs)) <= available:
        return
    raise InsufficientMemoryError(
        f"{method.name} must not need more memory than is available; it needs {_describe(costs, needed)} on this graph "
        f"of {graph.num_nodes:,} nodes, and {format_memory(available)} are available: "
        f"{_propose(method, graph, available, write)}, or start all the same with {override}"
    )


def _estimate_memory(costs: Costs) -> int:
    """Return the bytes of the process, without those that it has used before and has no more."""
    return make_forecast(costs, speeds=NOMINAL, base=current_memory()).peak_memory


def _describe(costs: Costs, needed: int) -> str:
    return f"{'at least' if costs.model is None else 'about'} {format_memory(needed)}"


def _propose(method: GraphMethod, graph: Graph, available: int, write: Callable[[str, object], str]) -> str:
    """Return what needs less memory: a smaller size, another preset, or the default method."""
    for name, value, candidate in _list_candidates(method):
        costs = candidate._memory_costs(graph)
        needed = _estimate_memory(costs)
        if needed <= available:
            return f"use {write(name, value)}, which needs {_describe(costs, needed)}"
    return "use a machine with more memory, or a part of the graph"


def _list_candidates(method: GraphMethod) -> Iterator[tuple[str, Any, GraphMethod]]:
    from graphprox.methods.factory import make_embedder

    for name in SIZES:
        size = method.settings().get(name)
        for smaller in SMALLER:
            if isinstance(size, int) and smaller < size:
                yield name, smaller, clone(method).set_params(**{name: smaller})
    if LARGE in method.preset_names():
        yield "preset", LARGE, type(method).from_preset(LARGE)
    if method.name != DEFAULT_METHOD and "Y" not in method.info.uses:
        yield "method", DEFAULT_METHOD, make_embedder(DEFAULT_METHOD)
