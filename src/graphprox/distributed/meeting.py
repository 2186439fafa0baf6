"""How processes find those that were started together with them.

torchrun keeps its key-value store when it starts processes again, with what earlier ones have written. So each process
leaves a token that no other has had. The first process collects them; when all have answered to their own token, its
token is the name of the group, under which the store has nothing of earlier processes.
"""

from __future__ import annotations

import time
from uuid import uuid4

from torch.distributed.distributed_c10d import Store

from graphprox.distributed.launch import TIMEOUT, Launch
from graphprox.errors import ProcessError

POLL = 0.02
PATIENCE = 1.0  # seconds until tokens are collected again, as one may have been that of an earlier process
_LIST = "graphprox/tokens"


def meet(store: Store, launch: Launch) -> str:
    """Wait for the other processes, and return a name for the group that no other group has had.

    Parameters
    ----------
    store : Store
    launch : Launch

    Returns
    -------
    str

    Raises
    ------
    ProcessError
        If another process does not come.
    """
    own = uuid4().hex
    store.set(_token_key(launch.rank), own)
    end = time.monotonic() + launch.timeout
    return _collect(store, launch, own, end) if launch.is_first else _answer(store, launch, own, end)


def _collect(store: Store, launch: Launch, own: str, end: float) -> str:
    missing = list(range(1, launch.size))
    while time.monotonic() < end:
        tokens = {
            rank: store.get(_token_key(rank)).decode()
            for rank in range(1, launch.size)
            if store.check([_token_key(rank)])
        }
        store.set(_LIST, ",".join([own, *tokens.values()]))
        again = time.monotonic() + PATIENCE
        while time.monotonic() < again:
            missing = [
                rank
                for rank in range(1, launch.size)
                if rank not in tokens or not store.check([_answer_key(own, tokens[rank])])
            ]
            if not missing:
                store.set(_answer_key(own, own), "1")
                return own
            time.sleep(POLL)
    raise _missing_error(launch, missing)


def _answer(store: Store, launch: Launch, own: str, end: float) -> str:
    while time.monotonic() < end:
        first, *others = store.get(_LIST).decode().split(",") if store.check([_LIST]) else [""]
        if own in others:
            store.set(_answer_key(first, own), "1")
            if store.check([_answer_key(first, first)]):
                return first
        time.sleep(POLL)
    raise _missing_error(launch, [0])


def _missing_error(launch: Launch, missing: list[int]) -> ProcessError:
    named = f"process{'es' * (len(missing) > 1)} {' and '.join(map(str, missing))}"
    return ProcessError(
        f"all {launch.size} processes must start within {launch.timeout:g} s; {named} did not, as seen by process "
        f"{launch.rank}: check that all are started and that their machines reach each other, or set {TIMEOUT} to more "
        "seconds"
    )


def _token_key(rank: int) -> str:
    return f"graphprox/token/{rank}"


def _answer_key(first: str, token: str) -> str:
    """Return the key of an answer to one first process: there may be answers to an earlier one."""
    return f"graphprox/answer/{first}/{token}"
