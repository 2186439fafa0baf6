"""What a command will take, before it begins: shown by ``--dry-run``; too little memory is a reason to stop."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphprox._utils.amounts import format_memory, to_megabytes
from graphprox._utils.memory import available_memory
from graphprox._utils.strict_json import dump_json
from graphprox.cli.disk_forecast import to_json
from graphprox.cli.progress_display import is_quiet

if TYPE_CHECKING:
    from graphprox.forecast.disk import DiskUse
    from graphprox.graph.graph import Graph
    from graphprox.methods import GraphEmbedder

LONG = 60.0  # seconds of a forecast that is announced
LARGE_FILES = 10**9  # bytes of files that are announced with it

DryRunOption = Annotated[
    bool,
    typer.Option("--dry-run", help="Read the graph, print how much time and memory the work would take, and stop."),
]
IgnoreMemoryOption = Annotated[
    bool,
    typer.Option("--ignore-memory", help="Start even if the forecast needs more memory than is available."),
]


def print_forecast(
    estimator: GraphEmbedder,
    graph: Graph,
    *,
    title: str,
    uses: list[DiskUse],
    as_json: bool,
    ignore_memory: bool,
) -> None:
    """Print what fitting would take, as ``--dry-run`` does; raise if there is too little memory or disk space.

    Parameters
    ----------
    estimator : GraphEmbedder
    graph : Graph
    title : str
        Name of the graph.
    uses : list of DiskUse
        Disk space that files will take.
    as_json : bool
    ignore_memory : bool
        Whether too little memory is no error.
    """
    from graphprox.forecast.disk import check_disk_uses, describe_disk_uses

    if not ignore_memory:
        check_available_memory(estimator, graph)
    check_disk_uses(uses, estimator.name)
    forecast = estimator.forecast(graph)
    available = available_memory()
    if as_json:
        about: dict[str, Any] = {
            "graph": title,
            "method": estimator.name,
            "nodes": graph.num_nodes,
            "seconds": None if forecast.seconds is None else round(forecast.seconds, 1),
            "peak_memory_mb": to_megabytes(forecast.peak_memory),
            "available_memory_mb": to_megabytes(available),
            "disk": to_json(uses),
        }
        print(dump_json(about, indent=2))
        return
    has = "" if available is None else f"; {format_memory(available)} are available"
    print(f"{title}, {graph.num_nodes:,} nodes, by {estimator.name}: {forecast}{has}")
    print("\n".join(describe_disk_uses(uses)))


def announce_forecast(
    estimator: GraphEmbedder, graph: Graph, *, title: str, uses: list[DiskUse], ignore_memory: bool
) -> None:
    """Raise if there is too little memory or disk space, and print a forecast of more than a minute on stderr.

    Parameters
    ----------
    estimator : GraphEmbedder
    graph : Graph
    title : str
        Name of the graph.
    uses : list of DiskUse
        Disk space that files will take.
    ignore_memory : bool
        Whether too little memory is no error.
    """
    from graphprox.forecast import NOMINAL, make_forecast
    from graphprox.forecast.disk import check_disk_uses, describe_disk_uses

    if not ignore_memory:
        check_available_memory(estimator, graph)
    check_disk_uses(uses, estimator.name)
    costs = estimator.costs(graph)
    # A short run is not made longer by measuring the speed of the machine.
    seconds = make_forecast(costs, speeds=NOMINAL).seconds
    if seconds is None or seconds < LONG / 4 or is_quiet():
        return
    forecast = make_forecast(costs)
    if forecast.seconds is not None and forecast.seconds >= LONG:
        print(f"{title}: {estimator.name} will take {forecast}", file=sys.stderr)
        if sum(each.size for each in uses) >= LARGE_FILES:
            print("\n".join(describe_disk_uses(uses)), file=sys.stderr, flush=True)


def check_available_memory(estimator: GraphEmbedder, graph: Graph) -> None:
    """Raise an error that says what would fit, if fitting needs more memory than is available.

    Parameters
    ----------
    estimator : GraphEmbedder
    graph : Graph

    Raises
    ------
    InsufficientMemoryError
    """
    from graphprox.methods.memory_check import check_fits_memory

    method = estimator.resolve_preset(graph)
    check_fits_memory(method, graph.without_labels(), write=_to_option, override="--ignore-memory")


def _to_option(name: str, value: object) -> str:
    option = {"n_components": "--dim", "preset": "--preset", "method": "--method"}.get(name)
    return f"--set {name}={value}" if option is None else f"{option} {value}"
