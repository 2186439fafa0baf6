"""Memory of the process: its peak, what it may use, whether it ran out; and reuse of freed memory."""

from __future__ import annotations

import ctypes
import errno
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

# Parameters of glibc's mallopt, and the values to which glibc adapts in a program with large arrays. Its initial values
# would be slower, as glibc no longer adapts after mallopt was called.
TRIM_THRESHOLD, MMAP_THRESHOLD, MMAP_MAX = -1, -3, -4
ADAPTED = {TRIM_THRESHOLD: 2**26, MMAP_THRESHOLD: 2**25, MMAP_MAX: 65536}
ROOT = Path("/")
NO_LIMIT = 2**60  # control groups of version 1 have a limit of nearly 2**63 bytes if they have none
# Limit, usage and the part of it that are cached files; of control groups of version 2 and 1.
_GROUP_FILES = (
    ("memory.max", "memory.current", "inactive_file"),
    ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
)


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


def _read_lines(path: str | Path) -> list[str]:
    with suppress(OSError, UnicodeDecodeError):
        return Path(path).read_text(encoding="ascii").splitlines()
    return []


# -- what is available ----------------------------------------------------------------------------------------------


def current_memory(root: Path = ROOT) -> int:
    """Return the resident memory of the process.

    Parameters
    ----------
    root : Path, default="/"
        Root of the file system, for tests.

    Returns
    -------
    int
        Bytes; 0 if the operating system does not report it.
    """
    return _read_sizes(root / "proc/self/status").get("VmRSS", 0)


def available_memory(root: Path = ROOT) -> int | None:
    """Return how much memory the process may use in total: what it uses already, and what it can still get.

    That is the smallest of the available memory of the machine, the limits of its control groups (versions 1 and 2, as
    containers and batch systems set them) and its own limit of address space (``ulimit -v``). Files that are cached in
    memory do not count as used.

    Parameters
    ----------
    root : Path, default="/"
        Root of the file system, for tests.

    Returns
    -------
    int or None
        Bytes; None if the operating system does not report it.
    """
    status = _read_sizes(root / "proc/self/status")
    free = [_read_sizes(root / "proc/meminfo").get("MemAvailable"), _free_address_space(status.get("VmSize", 0))]
    free += [_free_in_group(folder) for folder in _control_groups(root)]
    limits = [max(each, 0) for each in free if each is not None]
    return min(limits) + status.get("VmRSS", 0) if limits else None


def _read_sizes(path: Path) -> dict[str, int]:
    """Return the sizes in a file of ``Name:  123 kB``, in bytes."""
    words = (line.split() for line in _read_lines(path))
    return {each[0].rstrip(":"): int(each[1]) * 1024 for each in words if each[2:] == ["kB"]}


def _free_address_space(used: int) -> int | None:
    try:
        import resource
    except ImportError:  # Windows
        return None
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if limit == resource.RLIM_INFINITY else limit - used


def _control_groups(root: Path) -> Iterator[Path]:
    """Yield the folders of the memory control groups of the process, and of the groups that contain them.

    In a container, the path of a group may be that on the host, and the folder itself the group.
    """
    mounted = root / "sys/fs/cgroup"
    for line in _read_lines(root / "proc/self/cgroup"):
        _, controllers, path = line.split(":", 2)
        if controllers and "memory" not in controllers.split(","):
            continue
        top = mounted / "memory" if controllers else mounted
        inner = top / path.lstrip("/")
        yield from (each for each in (inner, *inner.parents) if each == top or top in each.parents)


def _free_in_group(folder: Path) -> int | None:
    for limit_name, usage_name, cached_name in _GROUP_FILES:
        limit, usage = (" ".join(_read_lines(folder / name)) for name in (limit_name, usage_name))
        if limit.isdigit() and usage.isdigit() and int(limit) < NO_LIMIT:
            pairs = (line.split() for line in _read_lines(folder / "memory.stat"))
            cached = {each[0]: int(each[1]) for each in pairs if len(each) == 2}.get(cached_name, 0)
            return int(limit) - int(usage) + cached
    return None


# -- running out ----------------------------------------------------------------------------------------------------

# What libraries say in an error that is no MemoryError: torch, the loader of shared libraries, threads, and Python
# itself where an import cannot allocate.
_OUT_OF_MEMORY = (
    "can't allocate memory",
    "cannot allocate memory",
    "out of memory",
    "not enough memory",
    "failed to map segment",
    "can't start new thread",
    "std::bad_alloc",
    "returned null without setting an exception",
)


def is_out_of_memory(error: BaseException | None) -> bool:
    """Return whether an error, or the one that it was raised from, says that there is not enough memory.

    Parameters
    ----------
    error : BaseException or None

    Returns
    -------
    bool

    Examples
    --------
    >>> is_out_of_memory(MemoryError()), is_out_of_memory(ValueError("out of memory"))
    (True, False)
    >>> is_out_of_memory(RuntimeError("DefaultCPUAllocator: can't allocate memory"))
    True
    """
    while error is not None:
        if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM):
            return True
        message = str(error).lower()
        if isinstance(error, RuntimeError | ImportError | SystemError) and any(
            each in message for each in _OUT_OF_MEMORY
        ):
            return True
        error = error.__cause__ or error.__context__
    return False


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


def return_freed_memory() -> None:
    """Return freed memory to the operating system, inside of `keep_freed_memory`, too.

    What is left of arrays of other sizes, that are not made again, would not be reused. Without glibc nothing is done.
    """
    libc = _load_glibc()
    if libc is not None:
        libc.malloc_trim(0)


def _load_glibc() -> ctypes.CDLL | None:
    if not sys.platform.startswith("linux"):
        return None
    try:
        libc = ctypes.CDLL("libc.so.6")
    except OSError:  # a different C library
        return None
    return libc if hasattr(libc, "mallopt") and hasattr(libc, "malloc_trim") else None
