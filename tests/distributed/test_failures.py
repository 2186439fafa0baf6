"""Failures: the error of one process ends all, and a process that hangs is named by the others."""

from __future__ import annotations

import time

import pytest
import torch

from graphprox.distributed.failures import LostProcessError, RemoteError
from graphprox.errors import ParameterError


def fail_in_one(processes, rank):
    if processes.rank == rank:
        raise ParameterError("k must be positive; got 0")
    processes.sum_(torch.zeros(1))


@pytest.mark.parametrize("rank", [0, 1])
def test_error_of_one_process_reaches_all(workers, rank):
    results = workers.run(3, fail_in_one, rank)
    assert type(results.pop(rank)) is ParameterError
    for error in results:
        assert isinstance(error, RemoteError)
        assert str(error) == f"process {rank} of 3: k must be positive; got 0"
        assert (error.exit_code, error.is_lost) == (2, False)


def hang_in_one(processes, rank, seconds):
    if processes.rank == rank:
        time.sleep(seconds)
    processes.sum_(torch.zeros(1))


def test_process_that_hangs_is_named_by_all_others_after_the_timeout(workers):
    results = workers.run(3, hang_in_one, 1, 7, timeout=1.5)
    for rank in (0, 2):
        assert isinstance(results[rank], LostProcessError | RemoteError)
        assert str(results[rank]).startswith(
            "a process must answer within 1.5 s; process 1 of 3 did not: look for what holds it up, and start all"
        )
        assert results[rank].is_lost
    assert isinstance(results[1], LostProcessError | RemoteError)
