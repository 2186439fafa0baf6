"""Typed decorators for functions that numba compiles, and a parallel loop over compiled code.

Machine code is cached next to the source (``cache=True``). Numba checks the date of the file that defines the function
called from Python, but not of the files that define the functions it calls: delete ``__pycache__`` after an edit.
Division follows numpy (``error_model``), as checks for a division by zero cost time and none occurs here.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numpy.typing import NDArray

Int32Array = NDArray[np.int32]
UInt64Array = NDArray[np.uint64]
Float32Array = NDArray[np.float32]
Float64Array = NDArray[np.float64]

F = TypeVar("F", bound=Callable[..., Any])

CHUNKS_PER_THREAD = 8  # small enough that no thread waits long for one that is slow or has the largest subgraphs
CHECK_SECONDS = 5.0  # between checks that threads are alive


def njit(function: F) -> F:
    """Compile a function to machine code that releases the GIL."""
    dispatcher: Any = numba.njit(cache=True, nogil=True, error_model="numpy")(function)
    return cast(F, dispatcher)


def njit_fast(function: F) -> F:
    """Compile as `njit`, and allow sums to be reordered, which vectorizes inner products; NaN propagates."""
    flags = {"reassoc", "contract", "nsz", "arcp"}
    dispatcher: Any = numba.njit(cache=True, nogil=True, error_model="numpy", fastmath=flags)(function)
    return cast(F, dispatcher)


def njit_fast_finite(function: F) -> F:
    """Compile as `njit_fast`, and assume that all numbers are finite, which vectorizes maxima too."""
    dispatcher: Any = numba.njit(cache=True, nogil=True, fastmath=True)(function)
    return cast(F, dispatcher)


def get_num_threads() -> int:
    """Return the number of threads: all cores, or the value of NUMBA_NUM_THREADS."""
    # numba.get_num_threads would start numba's own pool, which also sets the number of threads of torch.
    return int(numba.config.NUMBA_NUM_THREADS)  # type: ignore[attr-defined]


def run_in_parallel(work: Callable[[int, int], None], total: int) -> None:
    """Call ``work(begin, end)`` for consecutive ranges that cover ``range(total)``, on all threads.

    Parameters
    ----------
    work : callable
        Compiled code that releases the GIL; anything else would run one thread at a time.
    total : int
        Number of items.

    Examples
    --------
    >>> seen = []
    >>> run_in_parallel(lambda begin, end: seen.extend(range(begin, end)), 5)
    >>> sorted(seen)
    [0, 1, 2, 3, 4]
    """
    num_threads = get_num_threads()
    size = -(-total // (num_threads * CHUNKS_PER_THREAD))
    ranges = [(begin, min(begin + size, total)) for begin in range(0, total, max(size, 1))]
    if num_threads == 1:
        for each in ranges:
            work(*each)
        return
    with ThreadPoolExecutor(num_threads) as pool:
        try:
            for future in [pool.submit(work, *each) for each in ranges]:
                _wait(future, pool)
        except BaseException:  # do not finish all other ranges first, after Ctrl-C or an error
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _wait(future: Future[None], pool: ThreadPoolExecutor) -> None:
    """Wait for a result, unless all threads have ended without giving one, for want of memory."""
    while not wait([future], timeout=CHECK_SECONDS).done:
        if not any(thread.is_alive() for thread in pool._threads):
            raise MemoryError("the threads of a parallel loop have ended")
    future.result()
