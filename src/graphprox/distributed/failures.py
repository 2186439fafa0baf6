"""What the processes know about each other's failures: the error of the first that failed, and which do not answer.

A process that fails leaves its error in the key-value store that torchrun keeps outside of all of them, and closes its
connections. The others, which are waiting for it, see that a connection was lost, and find the error there.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable

from torch.distributed.distributed_c10d import Store

from graphprox.distributed.launch import TIMEOUT, Launch
from graphprox.errors import GraphproxError, ProcessError

GRACE = 3.0  # seconds in which a process that is alive answers, also on a busy machine
POLL = 0.02
_ERROR, _PRINTED, _ENDED, _ANSWER = "graphprox/error", "graphprox/printed", "graphprox/ended", "graphprox/answer"


class RemoteError(ProcessError):
    """Another process has failed with an error, which is the cause.

    Attributes
    ----------
    exit_code : int
        That of the cause.
    is_lost : bool
        Whether the cause is that a process has ended or does not answer, and not an error of the work.
    """

    def __init__(self, message: str, *, exit_code: int = 1, is_lost: bool = False) -> None:
        super().__init__(message)
        self.exit_code, self.is_lost = exit_code, is_lost


class LostProcessError(ProcessError):
    """Another process has ended without an error, or does not answer."""

    is_lost = True


class Failures:
    """Errors of all processes, in a store that they share.

    Parameters
    ----------
    store : Store
    launch : Launch
    """

    def __init__(self, store: Store, launch: Launch) -> None:
        self._store, self._launch = store, launch

    def record(self, error: BaseException) -> None:
        """Leave an error for the other processes, unless another one has failed before."""
        sentence = str(error) if isinstance(error, GraphproxError) else f"{type(error).__name__}: {error}"
        exit_code = getattr(error, "exit_code", getattr(error, "code", 1))
        about = {
            "rank": self._launch.rank,
            "sentence": " ".join(sentence.split()),
            "exit_code": exit_code if isinstance(exit_code, int) else 1,
            "is_lost": is_lost(error),
        }
        self._try(lambda: self._store.compare_set(_ERROR, "", json.dumps(about)))

    def explain(self, error: RuntimeError) -> ProcessError:
        """Return why a collective operation has failed."""
        answered = self._find_answering()
        if self._has(_ERROR):
            about = json.loads(self._store.get(_ERROR))
            prefix = "" if about["is_lost"] else f"process {about['rank']} of {self._launch.size}: "
            return RemoteError(
                prefix + about["sentence"], exit_code=int(about["exit_code"]), is_lost=bool(about["is_lost"])
            )
        silent = [str(rank) for rank in range(self._launch.size) if rank not in answered]
        named = f"process{'es' * (len(silent) > 1)} {' and '.join(silent)} of {self._launch.size}"
        if not silent:
            cause = " ".join(str(error).split())
            return LostProcessError(f"the processes must stay connected; a connection was lost: {cause}")
        if "timed out" in str(error).lower():
            return LostProcessError(
                f"a process must answer within {self._launch.timeout:g} s; {named} did not: look for what holds it up, "
                f"and start all of them again with --resume, or set {TIMEOUT} to more seconds"
            )
        return LostProcessError(
            f"no process may end before the others; {named} did: start all of them again with --resume, or let "
            "torchrun do that by --max-restarts"
        )

    def may_print(self, *, is_lost: bool) -> bool:
        """Return whether this process is to print the error with which it ends.

        An error of the work is printed once: by the first process, or by another if the first is busy. That a process
        was lost is printed by all, as each may have a log of its own.
        """
        if is_lost:
            return True
        if not self._launch.is_first:
            self._wait(lambda: self._has(_PRINTED))
        return self._try(lambda: self._store.add(_PRINTED, 1)) in (1, None)

    def wait_for_end(self) -> None:
        """Wait a moment for the others to end by themselves: torchrun stops all if one has failed."""
        self._try(lambda: self._store.add(_ENDED, 1))
        self._wait(lambda: self._try(lambda: self._store.add(_ENDED, 0)) in (self._launch.size, None))

    def _find_answering(self) -> set[int]:
        """Return the processes that are waiting for others, too, or have left an error."""
        keys = [f"{_ANSWER}/{rank}" for rank in range(self._launch.size)]
        self._try(lambda: self._store.set(keys[self._launch.rank], "1"))
        self._wait(lambda: self._has(_ERROR) or all(self._has(key) for key in keys))
        return {rank for rank, key in enumerate(keys) if self._has(key)}

    def _has(self, key: str) -> bool:
        return bool(self._try(lambda: self._store.check([key])))

    def _wait(self, condition: Callable[[], bool]) -> None:
        end = time.monotonic() + GRACE
        while not condition() and time.monotonic() < end:
            time.sleep(POLL)

    @staticmethod
    def _try(operation: Callable[[], object]) -> object:
        """Return the result, or None if the store is lost, too: its machine may be the one that has failed."""
        try:
            return operation()
        except RuntimeError:
            return None


def is_lost(error: BaseException) -> bool:
    """Return whether an error is that a process was lost.

    Parameters
    ----------
    error : BaseException

    Returns
    -------
    bool
    """
    return bool(getattr(error, "is_lost", False))
