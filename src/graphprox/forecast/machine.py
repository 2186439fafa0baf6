"""The speed of this machine, measured in about a tenth of a second.

It is that of one thread in CPU time, times what more threads are worth: short work on several threads would measure how
busy the cores are with other programs at that moment.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from threadpoolctl import threadpool_limits

from graphprox.forecast.work import Kind, Work

# The best counts: other programs may use the cores, and slow down what runs between. Passes are longer.
REPETITIONS, PASS_REPETITIONS = 25, 5
PRODUCT_SIZE = 512
READ_ROWS, READ_CHANNELS, NUM_READS = 20_000, 256, 40_000
PASS_SIZE = 2**23
EFFICIENCY = 0.8  # of each thread after the first


@dataclass(frozen=True)
class Speeds:
    """How fast a machine does each kind of work.

    Parameters
    ----------
    products : float
        Floating-point operations of a matrix product per second.
    factorizations : float
        The same on one thread.
    reads : float
        Bytes of rows that torch gathers and adds per second.
    passes : float
        Bytes that one thread of numpy multiplies per second.
    loops : float
        The same on all threads of compiled loops.
    """

    products: float
    factorizations: float
    reads: float
    passes: float
    loops: float

    def seconds(self, work: Work) -> float:
        """Return the time of some work without overheads, which a coefficient multiplies.

        Parameters
        ----------
        work : Work

        Returns
        -------
        float

        Examples
        --------
        >>> speeds = Speeds(products=2e9, factorizations=1e9, reads=1e9, passes=1e9, loops=2e9)
        >>> speeds.seconds(Work("loops", 1e9))
        0.5
        """
        kind: Kind = work.kind
        return float(work.amount / getattr(self, kind))


# A machine with two cores, where those of this one need not be known.
NOMINAL = Speeds(products=1e11, factorizations=5e10, reads=5e10, passes=1e10, loops=2e10)


@cache
def machine_speeds() -> Speeds:
    """Return the speeds of this machine, measured once per process."""
    return measure_speeds()


def measure_speeds() -> Speeds:
    """Measure how fast this machine multiplies, reads at random and passes over arrays.

    Returns
    -------
    Speeds
        With as many threads as torch and compiled loops use.
    """
    import torch

    from graphprox._utils.numba_helpers import get_num_threads

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with threadpool_limits(1, user_api="blas"):
            one = _measure_one_thread()
    finally:
        torch.set_num_threads(threads)
    return Speeds(
        products=one.products * _speedup(threads),
        factorizations=one.factorizations,
        reads=one.reads * _speedup(threads),
        passes=one.passes,
        loops=one.loops * _speedup(get_num_threads()),
    )


def _speedup(threads: int) -> float:
    return 1 + EFFICIENCY * (threads - 1)


def _measure_one_thread() -> Speeds:
    import torch

    rng = np.random.default_rng(0)
    square = rng.random((PRODUCT_SIZE, PRODUCT_SIZE), dtype=np.float32)
    table = torch.ones(READ_ROWS, READ_CHANNELS)
    places = torch.from_numpy(rng.integers(0, READ_ROWS, NUM_READS))
    starts = torch.arange(0, NUM_READS, 4)
    long = np.ones(PASS_SIZE, np.float32)
    passes = long.nbytes / _time_best(lambda: long * long, PASS_REPETITIONS)
    products = 2 * PRODUCT_SIZE**3 / _time_best(lambda: square @ square)
    return Speeds(
        products=products,
        factorizations=products,
        reads=4 * NUM_READS * READ_CHANNELS / _time_best(lambda: torch.embedding_bag(table, places, starts)),
        passes=passes,
        loops=passes,
    )


def _time_best(call: Callable[[], object], repetitions: int = REPETITIONS) -> float:
    seconds = []
    for _ in range(repetitions):
        start = time.process_time()
        call()
        seconds.append(time.process_time() - start)
    return max(min(seconds), 1e-6)
