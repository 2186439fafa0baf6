"""Advisory locks on open files, which the operating system releases when a process ends, however it ends."""

from __future__ import annotations

import errno
import sys

if sys.platform != "win32":
    import fcntl

# What flock reports where a file system, such as some network file systems, has no locks.
_UNSUPPORTED = {errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EINVAL, errno.EBADF}


def try_flock(descriptor: int) -> bool | None:
    """Lock an open file for this process, without waiting.

    Parameters
    ----------
    descriptor : int
        Closing it releases the lock.

    Returns
    -------
    bool or None
        Whether the lock was acquired; None if the file system or the platform has no such locks.

    Examples
    --------
    >>> from tempfile import TemporaryFile
    >>> with TemporaryFile() as file:
    ...     try_flock(file.fileno()) in (True, None)
    True
    """
    if sys.platform == "win32":
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in _UNSUPPORTED:
            return None
        if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
            return False
        raise
    return True
