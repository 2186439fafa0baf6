"""Meeting: processes find those of their own start, whatever earlier ones have left in the store."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from torch.distributed import HashStore

from graphprox.distributed.launch import Launch
from graphprox.distributed.meeting import meet
from graphprox.errors import ProcessError


def meet_in_threads(store, size):
    with ThreadPoolExecutor(size) as pool:
        return list(pool.map(lambda rank: meet(store, Launch(rank, size, timeout=20)), range(size)))


def test_processes_of_each_start_have_a_name_of_their_own():
    store = HashStore()
    names = [meet_in_threads(store, size) for size in (2, 3, 3, 2)]
    assert all(len(set(each)) == 1 for each in names)
    assert len({each[0] for each in names}) == 4


@pytest.mark.parametrize(("rank", "missing"), [(0, "processes 1 and 2"), (2, "process 0")])
def test_process_that_does_not_come_is_named(rank, missing):
    message = (
        rf"^all 3 processes must start within 0\.2 s; {missing} did not, as seen by process {rank}: check that all "
    )
    with pytest.raises(ProcessError, match=message):
        meet(HashStore(), Launch(rank, 3, timeout=0.2))
