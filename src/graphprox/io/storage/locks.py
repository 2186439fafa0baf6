"""Locks on outputs: of two processes that write the same file or folder, one works and the other stops at once.

The lock is a hidden file beside an output file, or a folder that is replaced, or in another output folder, and not in a
folder of the user: it is then the same one for all users and machines that share the output. The operating system
releases it when the process ends, however it ends. Its holder removes the file before it releases the lock; a file that
a killed process has left is taken over by the next one. Where a file system has no locks, a warning is given instead.
"""

from __future__ import annotations

import os
import stat
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from graphprox._utils.flock import try_flock
from graphprox._utils.stacklevel import warn
from graphprox.errors import GraphproxWarning, WriteError
from graphprox.io.storage.files import hidden_path, reason

LOCK = ".graphprox.lock"  # in a folder


_held: dict[Path, int] = {}  # thread that holds each lock of this process
_guard = threading.Lock()


def lock_path(path: Path, *, beside: bool = False) -> Path:
    """Return the lock file of an output.

    Parameters
    ----------
    path : Path
        An existing folder, or a file that need not exist.
    beside : bool, default=False
        Whether that of a folder is beside it, too, as the folder itself is replaced.

    Returns
    -------
    Path
        ``.graphprox.lock`` in a folder, a hidden file beside a file.
    """
    path = Path(os.path.realpath(path))
    return path / LOCK if path.is_dir() and not beside else hidden_path(path, ".lock")


@contextmanager
def hold_lock(path: Path, *, beside: bool = False) -> Iterator[None]:
    """Hold the lock of an output in the ``with`` block; a thread can hold it several times.

    Parameters
    ----------
    path : Path
        An existing folder, or a file in an existing folder.
    beside : bool, default=False
        As in `lock_path`.

    Yields
    ------
    None

    Raises
    ------
    WriteError
        If another process or thread holds the lock, or if the lock file cannot be written.

    Warns
    -----
    GraphproxWarning
        If the file system has no locks.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     with hold_lock(Path(folder, "vectors.csv")):
    ...         print(len(list(Path(folder).iterdir())))
    ...     print(len(list(Path(folder).iterdir())))
    1
    0
    """
    lock, thread = lock_path(path, beside=beside), threading.get_ident()
    with _guard:
        is_held = lock in _held
        if is_held and _held[lock] != thread:
            raise _describe_conflict(path, "another thread")
        if not is_held:
            release = _acquire(path, lock)
            _held[lock] = thread
    try:
        yield
    finally:
        if not is_held:
            with _guard:
                del _held[lock]
                release()


def _acquire(path: Path, lock: Path) -> Callable[[], None]:
    """Acquire a lock of the operating system, and return what releases it."""
    if sys.platform == "win32":
        return _acquire_on_windows(path, lock)
    try:
        while True:
            descriptor = _open(lock)
            is_locked = try_flock(descriptor)
            if is_locked is False:
                owner = os.pread(descriptor, 20, 0).decode(errors="replace").strip()
                os.close(descriptor)
                raise _describe_conflict(path, f"process {owner}" if owner.isdigit() else "another process")
            # An earlier holder may have removed the file after it was opened here: that lock excludes no one.
            if is_locked is None or _is_same_file(descriptor, lock):
                break
            os.close(descriptor)
    except OSError as error:
        raise WriteError(f"{path} cannot be written: {reason(error)}; no partial file is left") from None
    if is_locked is None:
        _release(descriptor, lock)
        _warn_unsupported(path)
        return lambda: None
    with suppress(OSError):  # only for messages of other processes
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
    return lambda: _release(descriptor, lock)


def _open(lock: Path) -> int:
    flags = os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        descriptor = os.open(lock, flags | os.O_RDWR, 0o666)
    except PermissionError:
        if not lock.exists():
            raise
        # It was left by a process of another user.
        descriptor = os.open(lock, (flags | os.O_RDONLY) & ~os.O_CREAT)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(f"{lock.name} must be a regular file")
    return descriptor


def _is_same_file(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def _release(descriptor: int, lock: Path) -> None:
    with suppress(OSError):  # a folder may have been removed, or be another user's
        lock.unlink()
    os.close(descriptor)


def _acquire_on_windows(path: Path, lock: Path) -> Callable[[], None]:
    from filelock import FileLock, Timeout

    held = FileLock(lock)
    try:
        held.acquire(blocking=False)
    except Timeout:
        raise _describe_conflict(path, "another process") from None
    except (OSError, NotImplementedError) as error:
        raise WriteError(f"{path} cannot be written: {reason(error)}; no partial file is left") from None

    def release() -> None:
        held.release()
        with suppress(OSError):  # another process may have opened it already
            lock.unlink()

    return release


def _describe_conflict(path: Path, owner: str) -> WriteError:
    return WriteError(
        f"{path} must be written by one process at a time; {owner} is writing it: wait until it ends, or name another "
        f"{'folder' if path.is_dir() else 'file'}"
    )


def _warn_unsupported(path: Path) -> None:
    warn(
        f"the file system of {path} has no locks: do not write it from another process at the same time",
        GraphproxWarning,
    )
