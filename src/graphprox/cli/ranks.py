"""Several processes that torchrun has started: which of them prints, and what becomes of the error of one.

This module imports nothing that takes time, and without torchrun's variables it does nothing.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from typing import TYPE_CHECKING

from graphprox.distributed.launch import Launch, find_launch
from graphprox.errors import ParameterError

if TYPE_CHECKING:
    from graphprox.distributed.failures import Failures

SHARED_COMMANDS = ("embed",)

_failures: Failures | None = None
_is_lost = False


def several() -> Launch | None:
    """Return this process among several, or None if it is alone."""
    launch = find_launch()
    return None if launch is None or launch.size == 1 else launch


def is_first() -> bool:
    """Return whether this process prints and writes files; each does if torchrun's variables are invalid."""
    try:
        launch = several()
    except ParameterError:
        return True
    return launch is None or launch.is_first


def was_restarted() -> bool:
    """Return whether torchrun has started the processes again, as one has failed."""
    launch = find_launch()
    return launch is not None and launch.restarts > 0


@contextmanager
def join_if_several(arguments: list[str]) -> Iterator[None]:
    """Join the other processes in the block, if there are some; only the first prints.

    Parameters
    ----------
    arguments : list of str
        Those of the command line.
    """
    global _failures, _is_lost
    _failures, _is_lost = None, False
    launch = several()
    if launch is None:
        yield
        return
    from graphprox.distributed.failures import is_lost
    from graphprox.distributed.processes import join_processes

    try:
        with join_processes(launch) as processes, redirect_stdout(sys.stdout if launch.is_first else io.StringIO()):
            _failures = processes.failures
            _check_command(arguments, launch)
            yield
    except BaseException as error:
        _is_lost = is_lost(error)
        raise


def may_print() -> bool:
    """Return whether this process is to print the error with which it ends."""
    return is_first() if _failures is None else _failures.may_print(is_lost=_is_lost)


def wait_for_others() -> None:
    """Wait a moment for the others to end, too: torchrun stops all processes as soon as one has failed."""
    if _failures is not None and not _is_lost:
        _failures.wait_for_end()


def _check_command(arguments: list[str], launch: Launch) -> None:
    command = next((each for each in arguments if not each.startswith("-")), None)
    if command is not None and command not in SHARED_COMMANDS:
        raise ParameterError(
            f"only {' and '.join(SHARED_COMMANDS)} can be shared by several processes; torchrun has started "
            f"{launch.size} for {command}: start it without torchrun"
        )
    if "--dry-run" in arguments:
        raise ParameterError(
            f"--dry-run forecasts the work of one process; torchrun has started {launch.size}: start it without "
            "torchrun"
        )
