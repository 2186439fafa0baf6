"""How this process was started: alone, or as one of several by torchrun, which sets environment variables.

SLURM, Kubernetes and Ray Train set the same variables. This module imports nothing that takes time, so that a process
that was started alone pays nothing.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from graphprox.errors import ParameterError

TIMEOUT = "GRAPHPROX_TIMEOUT"
DEFAULT_TIMEOUT = 1800.0  # seconds, as torch has it
_NEEDED = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT")
_NUMBERS = ("RANK", "WORLD_SIZE", "LOCAL_RANK")


@dataclass(frozen=True)
class Launch:
    """A process among those that were started together.

    Parameters
    ----------
    rank : int
        Number of the process, from 0.
    size : int
        Number of processes.
    local_rank : int, default=0
        Number of the process on its machine, which is that of its GPU.
    restarts : int, default=0
        How many times all processes were started again after one has failed.
    timeout : float, default=1800.0
        Seconds that a process waits for the others.
    """

    rank: int
    size: int
    local_rank: int = 0
    restarts: int = 0
    timeout: float = DEFAULT_TIMEOUT

    @property
    def is_first(self) -> bool:
        """Whether it is the process that prints, and writes files."""
        return self.rank == 0


def find_launch(environ: Mapping[str, str] = os.environ) -> Launch | None:
    """Return what torchrun's variables say about this process; None without them.

    Parameters
    ----------
    environ : mapping of str to str, default=os.environ

    Returns
    -------
    Launch or None

    Raises
    ------
    ParameterError
        If some of the variables are missing or invalid.

    Examples
    --------
    >>> find_launch({}) is None
    True
    >>> given = {"RANK": "1", "WORLD_SIZE": "4", "LOCAL_RANK": "1", "MASTER_ADDR": "host0", "MASTER_PORT": "29400"}
    >>> find_launch(given)
    Launch(rank=1, size=4, local_rank=1, restarts=0, timeout=1800.0)
    """
    if "RANK" not in environ or "WORLD_SIZE" not in environ:  # other programs set one of them
        return None
    missing = [name for name in _NEEDED if name not in environ]
    if missing:
        raise ParameterError(
            f"the variables of torchrun must be set together; RANK and WORLD_SIZE are, {' and '.join(missing)} "
            f"{'are' if len(missing) > 1 else 'is'} not: start the processes with torchrun, or unset RANK"
        )
    rank, size, local_rank = (_read_number(environ, name) for name in _NUMBERS)
    if not 0 <= rank < size:
        raise ParameterError(
            f"RANK must be less than WORLD_SIZE; got {rank} of {size}: start the processes with torchrun"
        )
    restarts = _read_number(environ, "TORCHELASTIC_RESTART_COUNT", default="0")
    return Launch(rank, size, local_rank, restarts, _read_timeout(environ))


def _read_number(environ: Mapping[str, str], name: str, *, default: str = "") -> int:
    text = environ.get(name, default)
    if not (text.isascii() and text.isdigit()):
        raise ParameterError(
            f"{name} must be a non-negative integer; got {text!r}: start the processes with torchrun, or unset RANK"
        )
    return int(text)


def _read_timeout(environ: Mapping[str, str]) -> float:
    text = environ.get(TIMEOUT, str(DEFAULT_TIMEOUT))
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < 1e7:  # also of NaN
        raise ParameterError(f"{TIMEOUT} must be a positive number of seconds; got {text!r}")
    return seconds
