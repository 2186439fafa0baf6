"""Whether processes that embed one graph by the default method together do the same, and came to the same selection."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from graphprox._utils.team import ALONE, Team, current_team
from graphprox.auto.selection import Selection
from graphprox.errors import ParameterError, ProcessError
from graphprox.graph.checksum import graph_checksum
from graphprox.graph.graph import Graph

TOLERANCE = 1e-3  # of a ratio or a score, which processors of other kinds round differently


def find_processes(graph: Graph, settings: Mapping[str, Any]) -> Team:
    """Return the processes that embed a graph together, which have the same settings and the same graph.

    Parameters
    ----------
    graph : Graph
    settings : mapping of str to object
        Settings by name, as JSON has them.

    Returns
    -------
    Team
        This process alone, unless it has joined others.

    Raises
    ------
    ParameterError
        If they differ, or if a process would have no node.
    """
    if current_team().size == 1:
        return ALONE
    from graphprox.distributed.agreement import check_agreement
    from graphprox.distributed.processes import current_processes

    processes = current_processes()
    if processes is None:  # a team of another kind
        return ALONE
    check_agreement(processes, settings, graph_checksum(graph))
    if graph.num_nodes < processes.size:
        raise ParameterError(
            f"a graph must have a node for each process; got {graph.num_nodes:,} nodes for {processes.size:,} "
            "processes: start fewer of them"
        )
    return processes


def agree_on_selection(processes: Team, selection: Selection) -> Selection:
    """Return the selection of the first process; those of the others differ from it by rounding at most.

    Parameters
    ----------
    processes : Team
    selection : Selection
        That of this process.

    Returns
    -------
    Selection

    Raises
    ------
    ProcessError
        If a process came to another one.
    """
    if processes.size == 1:
        return selection
    first, *others = map(json.loads, processes.gather_texts(json.dumps(asdict(selection))))
    for rank, other in enumerate(others, start=1):
        for name, value in _list_facts(first).items():
            found = _list_facts(other).get(name)
            if not _is_same(value, found):
                raise ProcessError(
                    f"all processes must come to the same selection; {name} is {value!r} in process 0 and {found!r} in "
                    f"process {rank}: install the same versions of libraries on all machines"
                )
    return Selection(**first)


def _list_facts(selection: Mapping[str, Any]) -> dict[str, Any]:
    return {**selection, **selection["scores"], "scores": sorted(selection["scores"])}


def _is_same(value: Any, other: Any) -> bool:
    if isinstance(value, float) and isinstance(other, float):
        is_nan = math.isnan(value) and math.isnan(other)
        return is_nan or math.isclose(value, other, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    return bool(value == other)
