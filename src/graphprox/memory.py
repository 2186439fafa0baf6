"""How much memory the process has taken, and how it is kept from being given back too early."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

# glibc's names for what mallopt sets, and what it sets by itself in a program that has had large arrays. What it starts
# with would be slower than ever: once mallopt was called, it no longer adapts.
TRIM_THRESHOLD, MMAP_THRESHOLD, MMAP_MAX = -1, -3, -4
ADAPTED = {TRIM_THRESHOLD: 2**26, MMAP_THRESHOLD: 2**25, MMAP_MAX: 65536}


def peak_memory() -> int | None:
    """The most bytes that the process has held so far, or since `forget_peak`; None where the system does not tell."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    for line in _lines("/proc/self/status"):
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def forget_peak() -> None:
    """Begin to look for the peak anew; where the system cannot, it stays that of the whole process."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def _lines(path: str) -> list[str]:
    with suppress(OSError):
        return Path(path).read_text(encoding="ascii").splitlines()
    return []


@contextmanager
def pages_kept() -> Iterator[None]:
    """Keep freed memory for the next array, as each step of a loop frees and takes the same.

    By default glibc hands every large block back to the system, which clears its pages anew each time: a sum of two
    matrices of 40 MB then takes several times as long. Elsewhere nothing is done.
    """
    libc = _glibc()
    if libc is None:
        yield
        return
    libc.mallopt(MMAP_MAX, 0)
    libc.mallopt(TRIM_THRESHOLD, 2**31 - 1)
    try:
        yield
    finally:
        for name, value in ADAPTED.items():
            libc.mallopt(name, value)
        libc.malloc_trim(0)


def _glibc() -> ctypes.CDLL | None:
    if not sys.platform.startswith("linux"):
        return None
    try:
        libc = ctypes.CDLL("libc.so.6")
    except OSError:  # another C library
        return None
    return libc if hasattr(libc, "mallopt") and hasattr(libc, "malloc_trim") else None
