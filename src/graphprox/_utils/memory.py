"""Peak memory of the process, and reuse of freed memory."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

# Parameters of glibc's mallopt, and the values to which glibc adapts in a program with large arrays. Its initial values
# would be slower, as glibc no longer adapts after mallopt was called.
TRIM_THRESHOLD, MMAP_THRESHOLD, MMAP_MAX = -1, -3, -4
ADAPTED = {TRIM_THRESHOLD: 2**26, MMAP_THRESHOLD: 2**25, MMAP_MAX: 65536}


def peak_memory() -> int | None:
    """Return the peak memory of the process, since its start or the last `reset_peak_memory`.

    Returns
    -------
    int or None
        Bytes of resident memory; None if the operating system does not report it.
    """
    try:
        import resource
    except ImportError:  # Windows
        return None
    for line in _read_lines("/proc/self/status"):
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def reset_peak_memory() -> None:
    """Reset the peak memory, if the operating system supports it."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def _read_lines(path: str) -> list[str]:
    with suppress(OSError):
        return Path(path).read_text(encoding="ascii").splitlines()
    return []


@contextmanager
def keep_freed_memory() -> Iterator[None]:
    """Reuse freed memory for the next arrays inside a ``with`` block, in which each step allocates the same sizes.

    By default glibc returns every large block to the operating system, which has to clear its pages again: a sum of
    two matrices of 40 MB then takes several times as long. Without glibc nothing is done.
    """
    libc = _load_glibc()
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


def _load_glibc() -> ctypes.CDLL | None:
    if not sys.platform.startswith("linux"):
        return None
    try:
        libc = ctypes.CDLL("libc.so.6")
    except OSError:  # a different C library
        return None
    return libc if hasattr(libc, "mallopt") and hasattr(libc, "malloc_trim") else None
