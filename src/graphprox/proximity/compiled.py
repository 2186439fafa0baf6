"""Functions that numba compiles, with the types that mypy sees: the one place where the two meet.

Compiled code is kept beside its source (``cache=True``). Numba then looks at the date of the file of the function that
is called from Python, not at the files of those that it calls in turn: after an edit, delete ``__pycache__``. The test
of the bounds compiles everything anew and tells where the kept code is an old one. Numbers are divided as numpy does
(``error_model``): nothing here divides by zero, and to look whether it does takes time.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numpy.typing import NDArray

Int32Array = NDArray[np.int32]
UInt64Array = NDArray[np.uint64]
Float32Array = NDArray[np.float32]
Float64Array = NDArray[np.float64]

F = TypeVar("F", bound=Callable[..., Any])

CHUNKS_PER_THREAD = 8  # so that no thread waits long for the others, if one is held up or has the largest subgraphs


def compiled(function: F) -> F:
    """The function as machine code, during which other threads may run."""
    dispatcher: Any = numba.njit(cache=True, nogil=True, error_model="numpy")(function)
    return cast(F, dispatcher)


def fast(function: F) -> F:
    """The same, whose sums may be added up in any order: otherwise an inner product is no vector code."""
    orders = {"reassoc", "contract", "nsz", "arcp"}  # what is not finite stays so, that it may be seen
    dispatcher: Any = numba.njit(cache=True, nogil=True, error_model="numpy", fastmath=orders)(function)
    return cast(F, dispatcher)


def num_threads() -> int:
    """How many threads there are to work on: all cores, or what NUMBA_NUM_THREADS says."""
    # numba.get_num_threads would start numba's own pool, and that sets the number of threads of torch, too.
    return int(numba.config.NUMBA_NUM_THREADS)  # type: ignore[attr-defined]


def in_parallel(work: Callable[[int, int], None], total: int) -> None:
    """Call ``work(first, end)`` for parts of ``0..total - 1`` on all threads: all cores, or NUMBA_NUM_THREADS.

    What is worked must be compiled code, or the threads would wait for each other. Whoever is done with a part takes
    the next, so that no part has to wait for a thread that is held up.

    >>> seen = []
    >>> in_parallel(lambda first, end: seen.extend(range(first, end)), 5)
    >>> sorted(seen)
    [0, 1, 2, 3, 4]
    """
    threads = num_threads()
    size = -(-total // (threads * CHUNKS_PER_THREAD))
    parts = [(first, min(first + size, total)) for first in range(0, total, max(size, 1))]
    with ThreadPoolExecutor(threads) as pool:
        for done in [pool.submit(work, *part) for part in parts]:
            done.result()
