"""The parallel loop over compiled code."""

from __future__ import annotations

import numba
import pytest

from graphprox._utils.numba_helpers import CHUNKS_PER_THREAD, get_num_threads, run_in_parallel


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("total", [0, 1, 7, 1000])
def test_ranges_cover_every_item_once(monkeypatch, threads, total):
    monkeypatch.setattr(numba.config, "NUMBA_NUM_THREADS", threads)
    ranges = []
    run_in_parallel(lambda begin, end: ranges.append((begin, end)), total)
    assert get_num_threads() == threads
    assert sorted(item for begin, end in ranges for item in range(begin, end)) == list(range(total))
    assert len(ranges) <= threads * CHUNKS_PER_THREAD


def test_error_of_a_range_is_raised():
    with pytest.raises(ZeroDivisionError):
        run_in_parallel(lambda begin, _: 1 // (begin - begin), 5)
