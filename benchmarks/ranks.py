"""Processes that torchrun starts for a measurement, each with one thread, and what each of them returns."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graphprox.distributed.processes import Processes

ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMBA")}


def start_ranks(module: str, name: str, processes: int) -> list[Any]:
    """Run ``python -m MODULE NAME FOLDER`` in one process, or in several by torchrun, and return their results by rank.

    Parameters
    ----------
    module : str
        A module that calls :func:`run_rank`.
    name : str
        What it is to measure.
    processes : int

    Returns
    -------
    list
    """
    with tempfile.TemporaryDirectory(prefix="graphprox-ranks-") as folder:
        launch = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={processes}"]
        command = [sys.executable, *(launch if processes > 1 else []), "-m", module, name, folder]
        environment = {**os.environ, **ONE_THREAD, "XDG_CACHE_HOME": f"{folder}/cache"}
        subprocess.run(command, env=environment, check=True)
        return [json.loads(Path(folder, f"rank{rank}.json").read_text()) for rank in range(processes)]


def run_rank(folder: Path, work: Callable[[Processes | None], Any]) -> None:
    """Do the work of a process that :func:`start_ranks` has started, and leave its result in the folder.

    Parameters
    ----------
    folder : Path
    work : callable
        Called with the processes, or None if there is one. Returns what JSON has.
    """
    from graphprox.distributed.launch import find_launch

    launch = find_launch()
    if launch is None:
        return _leave(folder, 0, work(None))
    from graphprox.distributed.processes import join_processes

    with join_processes(launch) as processes:
        return _leave(folder, launch.rank, work(processes))


def _leave(folder: Path, rank: int, result: Any) -> None:
    (folder / f"rank{rank}.json").write_text(json.dumps(result))


def release_freed_memory() -> None:
    """Return freed memory to the system: a stage that reuses it would seem to need none."""
    from graphprox._utils.memory import return_freed_memory

    gc.collect()
    return_freed_memory()
