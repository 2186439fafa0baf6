"""What a command will take, before it begins: shown by ``--dry-run``; too little memory is a reason to stop."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphprox._utils.amounts import format_memory, to_megabytes
from graphprox._utils.defaults import DEFAULT_METHOD
from graphprox._utils.memory import available_memory
from graphprox._utils.strict_json import dump_json
from graphprox.cli.progress_display import is_quiet
from graphprox.errors import InsufficientMemoryError

if TYPE_CHECKING:
    from graphprox.forecast import Forecast
    from graphprox.graph.graph import Graph
    from graphprox.methods import GraphEmbedder

LONG = 60.0  # seconds of a forecast that is announced
LARGE = "large"  # the preset that encodes a chunk of nodes at a time
SMALLER = (256, 128, 64, 32, 16)  # sizes of an embedding that are proposed

DryRunOption = Annotated[
    bool,
    typer.Option("--dry-run", help="Read the graph, print how much time and memory the work would take, and stop."),
]
IgnoreMemoryOption = Annotated[
    bool,
    typer.Option("--ignore-memory", help="Start even if the forecast needs more memory than is available."),
]


def print_forecast(estimator: GraphEmbedder, graph: Graph, *, title: str, as_json: bool, ignore_memory: bool) -> None:
    """Print what fitting would take, as ``--dry-run`` does; raise if there is too little memory.

    Parameters
    ----------
    estimator : GraphEmbedder
    graph : Graph
    title : str
        Name of the graph.
    as_json : bool
    ignore_memory : bool
        Whether too little memory is no error.
    """
    forecast = estimator.forecast(graph)
    if forecast is not None and not ignore_memory:
        check_forecast(estimator, graph, forecast)
    available = available_memory()
    if as_json:
        about: dict[str, Any] = {
            "graph": title,
            "method": estimator.name,
            "nodes": graph.num_nodes,
            "seconds": None if forecast is None else round(forecast.seconds, 1),
            "peak_memory_mb": None if forecast is None else to_megabytes(forecast.peak_memory),
            "available_memory_mb": to_megabytes(available),
        }
        print(dump_json(about, indent=2))
        return
    has = "" if available is None else f"; {format_memory(available)} are available"
    text = f"no forecast: {estimator.name} has no model of its costs" if forecast is None else f"{forecast}{has}"
    print(f"{title}, {graph.num_nodes:,} nodes, by {estimator.name}: {text}")


def announce_forecast(estimator: GraphEmbedder, graph: Graph, *, title: str, ignore_memory: bool) -> None:
    """Raise if there is too little memory for fitting, and print a forecast of more than a minute on stderr.

    Parameters
    ----------
    estimator : GraphEmbedder
    graph : Graph
    title : str
        Name of the graph.
    ignore_memory : bool
        Whether too little memory is no error.
    """
    from graphprox.forecast import NOMINAL, make_forecast

    costs = estimator.costs(graph)
    if costs is None:
        return
    # A short run is not made longer by measuring the speed of the machine.
    forecast = make_forecast(costs, speeds=NOMINAL)
    if not ignore_memory:
        check_forecast(estimator, graph, forecast)
    if forecast.seconds < LONG / 4 or is_quiet():
        return
    forecast = make_forecast(costs)
    if forecast.seconds >= LONG:
        print(f"{title}: {estimator.name} will take {forecast}", file=sys.stderr, flush=True)


def check_forecast(estimator: GraphEmbedder, graph: Graph, forecast: Forecast) -> None:
    """Raise an error that says what would fit, if a forecast needs more memory than is available.

    Parameters
    ----------
    estimator : GraphEmbedder
    graph : Graph
    forecast : Forecast

    Raises
    ------
    InsufficientMemoryError
    """
    available = available_memory()
    if available is None or forecast.peak_memory <= available:
        return
    raise InsufficientMemoryError(
        f"{estimator.name} must not need more memory than is available; it needs about "
        f"{format_memory(forecast.peak_memory)} on this graph of {graph.num_nodes:,} nodes, and "
        f"{format_memory(available)} are available: {_propose(estimator, graph, available)}, or start all the same "
        "with --ignore-memory"
    )


def _propose(estimator: GraphEmbedder, graph: Graph, available: int) -> str:
    """Return an option that needs less memory: a smaller embedding, another preset, or the default method."""
    from graphprox.methods.factory import make_embedder

    size = estimator.settings().get("n_components")
    same = {f"--dim {dim}": _resized(estimator, dim) for dim in SMALLER if isinstance(size, int) and dim < size}
    is_large = LARGE in estimator.preset_names()
    large = {f"--preset {LARGE}": type(estimator).from_preset(LARGE)} if is_large else {}
    others = {} if estimator.name == DEFAULT_METHOD else {f"--method {DEFAULT_METHOD}": make_embedder(DEFAULT_METHOD)}
    for option, candidate in {**same, **large, **others}.items():
        costs = _needed(candidate, graph)
        if costs is not None and costs <= available:
            return f"use {option}, which needs about {format_memory(costs)}"
    return "use a machine with more memory, or a part of the graph"


def _resized(estimator: GraphEmbedder, dim: int) -> GraphEmbedder:
    from sklearn.base import clone

    changed: GraphEmbedder = clone(estimator).set_params(n_components=dim)
    return changed


def _needed(estimator: GraphEmbedder, graph: Graph) -> int | None:
    from graphprox.forecast import NOMINAL, make_forecast

    costs = estimator.costs(graph)
    return None if costs is None else make_forecast(costs, speeds=NOMINAL).peak_memory
