"""Whether all processes do the same: the same version of graphprox, the same settings, the same graph."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import graphprox
from graphprox.distributed.processes import Processes
from graphprox.errors import ParameterError


def check_agreement(processes: Processes, settings: Mapping[str, Any], graph: str) -> None:
    """Raise the same error in all processes if one of them would train something else.

    Parameters
    ----------
    processes : Processes
    settings : mapping of str to object
        Settings by name, as JSON has them.
    graph : str
        Checksum of the graph.

    Raises
    ------
    ParameterError
    """
    own = {"version": graphprox.__version__, "settings": dict(settings), "graph": graph}
    first, *others = map(json.loads, processes.gather_texts(json.dumps(own)))
    for rank, other in enumerate(others, start=1):
        if other["version"] != first["version"]:
            raise ParameterError(
                f"all processes must run one version of graphprox; got {first['version']} in process 0 and "
                f"{other['version']} in process {rank}: install the same version on all machines"
            )
        for name in first["settings"] | other["settings"]:
            values = [each["settings"].get(name) for each in (first, other)]
            if values[0] != values[1]:
                raise ParameterError(
                    f"all processes must have the same settings; {name} is {values[0]!r} in process 0 and "
                    f"{values[1]!r} in process {rank}: start all of them by the same command"
                )
        if other["graph"] != first["graph"]:
            raise ParameterError(
                f"all processes must read the same graph; that of process {rank} differs from that of process 0: give "
                "all machines the same files"
            )
