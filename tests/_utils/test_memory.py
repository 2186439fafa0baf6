"""What memory is available is known, running out of it is recognized, and reusing it changes nothing but the speed."""

from __future__ import annotations

import errno
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch

from graphprox._utils import memory
from graphprox._utils.memory import is_out_of_memory, keep_freed_memory, peak_memory
from graphprox.errors import ReadError

needs_glibc = pytest.mark.skipif(memory._load_glibc() is None, reason="memory is managed by another C library")
MB = 2**20


def work():
    """Allocate and free arrays of all sizes."""
    rng = np.random.default_rng(0)
    total = torch.zeros(300, 300)
    for size in (10, 3_000, 300_000, 9_000_000):
        sample = torch.tensor(rng.random(size, dtype=np.float32))
        total += (sample * sample).sum() + torch.outer(sample[:300].new_ones(300), sample[:1].expand(300))
    return total.numpy().tobytes()


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_results_are_unchanged_inside_and_after_the_context(depth):
    expected = work()

    def run_nested(levels):
        with keep_freed_memory():
            within = run_nested(levels - 1) if levels > 1 else work()
            assert work() == expected
        return within

    assert run_nested(depth) == work() == expected


def test_arrays_created_inside_survive_the_context():
    with keep_freed_memory():
        made = np.arange(10 * MB, dtype=np.uint8)
        tensor = torch.arange(5 * MB)
    np.random.default_rng(0).random(10 * MB)
    assert (made == np.arange(10 * MB, dtype=np.uint8)).all()
    assert torch.equal(tensor, torch.arange(5 * MB))


def test_other_threads_can_allocate_large_arrays():
    with keep_freed_memory(), ThreadPoolExecutor(4) as pool:
        sizes = [1, 63 * MB, 65 * MB, 130 * MB]
        assert list(pool.map(lambda size: int(np.ones(size, np.uint8).sum(dtype=np.int64)), sizes)) == sizes


# These tests run in a new process, as the heap of this one depends on other tests.
PRELUDE = """
import resource
import numpy as np
from graphprox._utils.memory import keep_freed_memory, return_freed_memory
MB = 2**20

def resident_memory():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()

def count_page_faults(size, *, times=10):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(times):
        np.ones(size, np.uint8)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

"""


def print_in_new_process(code):
    """Run code after the prelude; return the numbers that it prints."""
    done = subprocess.run([sys.executable, "-c", PRELUDE + code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return map(int, done.stdout.split())


@needs_glibc
def test_pages_are_allocated_once_inside_the_context():
    inside, after = print_in_new_process("""
with keep_freed_memory():
    count_page_faults(100 * MB, times=1)
    print(count_page_faults(100 * MB))
print(count_page_faults(100 * MB))
""")
    assert inside < 50
    assert after > 300  # even with pages of 2 MB


@needs_glibc
@pytest.mark.parametrize("size", ["MB // 4", "4 * MB"])
def test_allocation_is_fast_after_the_context(size):
    (faults,) = print_in_new_process(f"""
with keep_freed_memory():
    pass
count_page_faults({size}, times=1)
print(count_page_faults({size}))
""")
    assert faults < 100


@needs_glibc
def test_memory_is_returned_after_the_context():
    before, inside, after = print_in_new_process("""
print(resident_memory())
with keep_freed_memory():
    for _ in range(3):
        np.ones(200 * MB, np.uint8)
    print(resident_memory())
print(resident_memory())
""")
    assert inside > before + 150 * MB
    assert after < before + 50 * MB


@needs_glibc
def test_an_error_ends_the_context():
    (faults,) = print_in_new_process("""
try:
    with keep_freed_memory():
        raise ZeroDivisionError
except ZeroDivisionError:
    print(count_page_faults(100 * MB))
""")
    assert faults > 300  # even with pages of 2 MB


def test_nothing_is_done_without_glibc(monkeypatch):
    monkeypatch.setattr(memory, "_load_glibc", lambda: None)
    with keep_freed_memory():
        assert work() == work()


@pytest.mark.parametrize("platform", ["darwin", "win32", "linux"])
def test_other_c_libraries_are_not_changed(monkeypatch, platform):
    def missing(name):
        raise OSError(f"{name}: no such file")

    monkeypatch.setattr(memory.sys, "platform", platform)
    monkeypatch.setattr(memory.ctypes, "CDLL", missing)
    assert memory._load_glibc() is None


def test_peak_memory_is_monotonic():
    before = peak_memory()
    assert before is None or before > 10 * MB
    array = np.ones(100 * MB, np.uint8)
    del array
    assert before is None or peak_memory() >= before


# -- what is available ----------------------------------------------------------------------------------------------

GB = 2**30
KB_PER_GB = GB // 1024


def make_machine(root, *, available=16, cgroup="", files=None):
    """Write the files of an operating system; sizes of files are in GB, as those of /proc are in kB."""
    content = {
        "proc/meminfo": f"HugePages_Total: 0\nMemAvailable:  {available * KB_PER_GB} kB\n",
        "proc/self/status": f"Name:\tpython\nVmSize:  {3 * KB_PER_GB} kB\nVmRSS:  {KB_PER_GB} kB\n",
        "proc/self/cgroup": cgroup,
        **(files or {}),
    }
    for name, text in content.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def test_available_is_what_the_machine_has_left_and_the_process_uses(tmp_path):
    assert memory.available_memory(make_machine(tmp_path)) == 17 * GB
    assert memory.current_memory(tmp_path) == GB


def group_v2(limit, used, cached=0):
    return {"memory.max": str(limit), "memory.current": str(used), "memory.stat": f"anon 1\ninactive_file {cached}\n"}


def group_v1(limit, used, cached=0):
    return {
        "memory.limit_in_bytes": str(limit),
        "memory.usage_in_bytes": str(used),
        "memory.stat": f"total_inactive_file {cached}\n",
    }


@pytest.mark.parametrize(
    ("cgroup", "groups", "expected"),
    [
        ("0::/\n", {"": group_v2(4 * GB, 2 * GB)}, 3),
        ("0::/\n", {"": group_v2(4 * GB, 3 * GB, cached=GB)}, 3),
        ("0::/\n", {"": group_v2("max", 2 * GB)}, 17),
        ("0::/user/job\n", {"user/job": group_v2("max", GB), "user": group_v2(6 * GB, GB)}, 6),
        ("0::/on/the/host\n", {"": group_v2(4 * GB, 2 * GB)}, 3),
        ("4:memory:/job\n3:cpu:/\n", {"memory/job": group_v1(2 * GB, GB, cached=GB // 2)}, 2.5),
        ("4:cpu,memory:/x\n", {"memory": group_v1(2**63 - 4096, GB)}, 17),
        ("1:cpu:/job\n", {"memory/job": group_v1(2 * GB, GB)}, 17),
        ("0::/\n", {"": group_v2(GB, 2 * GB)}, 1),  # more is used than allowed: nothing is left
    ],
)
def test_limits_of_control_groups_count(tmp_path, cgroup, groups, expected):
    files = {f"sys/fs/cgroup/{group}/{name}": text for group, each in groups.items() for name, text in each.items()}
    assert memory.available_memory(make_machine(tmp_path, cgroup=cgroup, files=files)) == expected * GB


def test_nothing_is_known_where_the_system_reports_nothing(tmp_path):
    assert memory.available_memory(tmp_path) is None


def test_limit_of_address_space_counts():
    script = """
import resource
from graphprox._utils.memory import available_memory, current_memory
resource.setrlimit(resource.RLIMIT_AS, (2**30, 2**30))
print(available_memory() / 2**30)
"""
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert 0.5 < float(done.stdout) <= 1


# -- running out ----------------------------------------------------------------------------------------------------


def allocate_with_numpy():
    np.empty(2**60, np.uint8)


def allocate_with_torch():
    torch.empty(2**60, dtype=torch.uint8)


def allocate_with_arrow():
    import pyarrow as pa

    pa.allocate_buffer(2**60)


def raise_from_none():
    try:
        allocate_with_numpy()
    except MemoryError:
        raise ReadError("x.npy is damaged") from None


def map_file():
    raise OSError(errno.ENOMEM, "Cannot allocate memory")


@pytest.mark.parametrize(
    "allocate", [allocate_with_numpy, allocate_with_torch, allocate_with_arrow, raise_from_none, map_file]
)
def test_errors_of_all_libraries_are_recognized(allocate):
    with pytest.raises(Exception) as raised:  # noqa: PT011 - each library raises its own
        allocate()
    assert is_out_of_memory(raised.value)


@pytest.mark.parametrize("error", [ValueError("out of memory"), RuntimeError("shapes differ"), OSError(2, "missing")])
def test_other_errors_are_not(error):
    assert not is_out_of_memory(error)


@needs_glibc
def test_freed_memory_is_returned_inside_the_context_when_asked():
    kept, returned = print_in_new_process("""
with keep_freed_memory():
    before = resident_memory()
    held = [np.ones(8 * MB, np.uint8) for _ in range(6)]
    del held[::2]  # between blocks that are in use
    print((resident_memory() - before) // MB)
    return_freed_memory()
    print((resident_memory() - before) // MB)
""")
    assert kept >= 45
    assert returned <= 30
