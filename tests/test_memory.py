"""Memory that is kept changes how fast arrays come, and nothing else."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch

from graphprox import memory
from graphprox.memory import pages_kept, peak_memory

needs_glibc = pytest.mark.skipif(memory._glibc() is None, reason="memory is managed by another C library")
MB = 2**20


def work():
    """Something that takes and frees arrays of all sizes."""
    rng = np.random.default_rng(0)
    total = torch.zeros(300, 300)
    for size in (10, 3_000, 300_000, 9_000_000):
        drawn = torch.tensor(rng.random(size, dtype=np.float32))
        total += (drawn * drawn).sum() + torch.outer(drawn[:300].new_ones(300), drawn[:1].expand(300))
    return total.numpy().tobytes()


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_results_are_the_same_within_and_after(depth):
    expected = work()

    def nested(levels):
        with pages_kept():
            within = nested(levels - 1) if levels > 1 else work()
            assert work() == expected
        return within

    assert nested(depth) == work() == expected


def test_arrays_made_within_live_on():
    with pages_kept():
        made = np.arange(10 * MB, dtype=np.uint8)
        tensor = torch.arange(5 * MB)
    np.random.default_rng(0).random(10 * MB)
    assert (made == np.arange(10 * MB, dtype=np.uint8)).all()
    assert torch.equal(tensor, torch.arange(5 * MB))


def test_other_threads_get_arrays_larger_than_their_part_of_the_heap():
    with pages_kept(), ThreadPoolExecutor(4) as pool:
        sizes = [1, 63 * MB, 65 * MB, 130 * MB]
        assert list(pool.map(lambda size: int(np.ones(size, np.uint8).sum(dtype=np.int64)), sizes)) == sizes


# What other tests have left in the heap would count, too: these begin with an empty one.
FRESH = """
import resource
import numpy as np
from graphprox.memory import pages_kept
MB = 2**20

def held():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()

def pages_taken(size, *, times=10):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(times):
        np.ones(size, np.uint8)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

"""


def in_a_fresh_process(code):
    done = subprocess.run([sys.executable, "-c", FRESH + code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@needs_glibc
def test_within_pages_are_taken_once():
    in_a_fresh_process("""
with pages_kept():
    pages_taken(100 * MB, times=1)
    assert pages_taken(100 * MB) < 50
assert pages_taken(100 * MB) > 300  # those of 2 MB, even
""")


@needs_glibc
@pytest.mark.parametrize("size", ["MB // 4", "4 * MB"])
def test_afterwards_arrays_come_as_fast_as_in_a_process_that_has_had_large_ones(size):
    in_a_fresh_process(f"""
with pages_kept():
    pass
pages_taken({size}, times=1)
assert pages_taken({size}) < 100
""")


@needs_glibc
def test_afterwards_memory_is_given_back():
    in_a_fresh_process("""
before = held()
with pages_kept():
    for _ in range(3):
        np.ones(200 * MB, np.uint8)
    assert held() > before + 150 * MB
assert held() < before + 50 * MB
""")


@needs_glibc
def test_an_error_undoes_it_too():
    in_a_fresh_process("""
try:
    with pages_kept():
        raise ZeroDivisionError
except ZeroDivisionError:
    assert pages_taken(100 * MB) > 300  # those of 2 MB, even
else:
    raise AssertionError("the error was kept")
""")


def test_without_glibc_nothing_is_done(monkeypatch):
    monkeypatch.setattr(memory, "_glibc", lambda: None)
    with pages_kept():
        assert work() == work()


@pytest.mark.parametrize("platform", ["darwin", "win32", "linux"])
def test_another_c_library_is_left_alone(monkeypatch, platform):
    def missing(name):
        raise OSError(f"{name}: no such file")

    monkeypatch.setattr(memory.sys, "platform", platform)
    monkeypatch.setattr(memory.ctypes, "CDLL", missing)
    assert memory._glibc() is None


def test_the_peak_never_falls():
    before = peak_memory()
    assert before is None or before > 10 * MB
    array = np.ones(100 * MB, np.uint8)
    del array
    assert before is None or peak_memory() >= before
