"""Helpers for all files: checks before reading, and atomic writing."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from graphprox._utils.flock import try_flock
from graphprox.errors import ReadError, WriteError

TEMPORARY = ".part"  # ending of a temporary file
_OF_FILE_MANAGERS = (".DS_Store", "Thumbs.db", "desktop.ini", ".gitkeep", ".gitignore")  # and of git

# -- reading --------------------------------------------------------------------------------------------------------


def check_readable(path: str | Path) -> Path:
    """Check that a file can be read and is not empty.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    Path

    Raises
    ------
    ReadError
        If the file does not exist, cannot be read or is empty.
    """
    path = Path(path)
    try:
        mode = path.stat().st_mode
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
            raise ReadError(
                f"{path} must be a regular file, which can be read several times; it is a pipe, socket or device: "
                "write it to a file first"
            )
        with path.open("rb") as file:
            empty = not file.read(1)
    except FileNotFoundError:
        raise ReadError(f"{path} does not exist: check the name") from None
    except IsADirectoryError:
        raise ReadError(f"{path} must be a file; it is a directory: name a file inside it") from None
    except (OSError, ValueError) as error:  # a name with a null byte is a ValueError
        raise ReadError(f"{path} cannot be read: {reason(error)}") from None
    if empty:
        raise ReadError(f"{path} must contain data; it is empty")
    return path


def ending(path: str | Path) -> str:
    """Return the ending that selects a file's format, in lower case and without ``.gz``.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    str

    Examples
    --------
    >>> ending("Edges.CSV.gz")
    '.csv'
    """
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    if suffixes and suffixes[-1] == ".gz":
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def is_gzipped(path: Path) -> bool:
    """Check whether a file's name ends in ``.gz``.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    bool
    """
    return path.suffix.lower() == ".gz"


def cache_folder(name: str) -> Path:
    """Return a cache directory, ``graphprox/NAME`` in ``XDG_CACHE_HOME`` or ``~/.cache``.

    Parameters
    ----------
    name : str
        Name of the directory.

    Returns
    -------
    Path
    """
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "graphprox" / name


def reason(error: BaseException) -> str:
    r"""Return the first sentence of an error's message, on one line.

    Parameters
    ----------
    error : BaseException
        An error of a library or the operating system.

    Returns
    -------
    str

    Examples
    --------
    >>> reason(ValueError("bad magic. Is this really\nan array?"))
    'bad magic'
    """
    if isinstance(error, KeyError):
        return f"{error} is missing"
    message = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else str(error)
    first = " ".join(message.split()).partition(". ")[0][:160].rstrip(".:")
    return first or ("it ends early" if isinstance(error, EOFError) else type(error).__name__)


# -- writing --------------------------------------------------------------------------------------------------------


@contextmanager
def atomic_write(*paths: Path) -> Iterator[tuple[Path, ...]]:
    """Write files atomically: all of them replace older files together, or none does.

    A process that is killed leaves each file as it was or complete, and temporary files, which the next one removes.
    The last file is replaced last: a description of the others belongs there.

    Parameters
    ----------
    *paths : Path
        Files to write.

    Yields
    ------
    tuple of Path
        Temporary files in the same directories, to be written in the ``with`` block. They are moved to ``paths`` if
        it ends without an error, and removed otherwise.

    Raises
    ------
    WriteError
        If the operating system reports an error. Older files are then unchanged.
    """
    with ExitStack() as cleanup:
        try:
            targets = [_resolve_target(path) for path in paths]
            if len(targets) == 1:
                sweep(*targets)
            staged = tuple(_create_temporary(target, cleanup) for target in targets)
            yield staged
            for temporary in staged:
                flush_file(temporary)
            _replace_all(staged, targets, cleanup)
            sweep(*targets)  # not before: backups of a killed process may be all that is left of an older file
        except OSError as error:
            raise WriteError(f"{paths[0]} cannot be written: {reason(error)}; no partial file is left") from None


def sweep(*paths: Path) -> None:
    """Remove temporary files that a killed process has left, but not those that a live one is writing.

    Parameters
    ----------
    *paths : Path
        Files that the process was writing.
    """
    for temporary in (each for path in paths for each in find_temporaries(path)):
        try:
            descriptor = os.open(temporary, os.O_RDWR)
        except OSError:  # removed by now, or another user's
            continue
        # A temporary file is locked while it is written. Without locks, as on Windows, it is not known whether it is.
        with os.fdopen(descriptor, "rb"):
            if try_flock(descriptor):
                with suppress(OSError):
                    temporary.unlink()


def find_temporaries(path: Path) -> list[Path]:
    """List the temporary files of a file, in any order.

    Parameters
    ----------
    path : Path
        File that is written atomically.

    Returns
    -------
    list of Path
    """
    pattern = re.compile(rf"{re.escape(_prefix(path))}[a-z0-9_]{{8}}{re.escape(TEMPORARY)}")
    try:
        return [Path(entry.path) for entry in os.scandir(path.parent) if pattern.fullmatch(entry.name)]
    except OSError:
        return []


def flush_folder(path: Path) -> None:
    """Flush the names of the files in a folder to disk, so that renamed files survive a power failure.

    Parameters
    ----------
    path : Path
    """
    if os.name == "nt":  # directories cannot be opened
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.EBADF, errno.ENOTSUP):  # file systems that have nothing to flush
            raise
    finally:
        os.close(descriptor)


def flush_file(path: Path) -> None:
    """Flush the content of a file to disk.

    Parameters
    ----------
    path : Path
    """
    with path.open("rb+") as file:  # Windows does not flush a file that is open for reading only
        os.fsync(file.fileno())


def is_of_file_manager(name: str) -> bool:
    """Return whether a file is one that file managers and git leave in any folder.

    Parameters
    ----------
    name : str
        Name of the file.

    Returns
    -------
    bool
    """
    return name in _OF_FILE_MANAGERS


def hidden_path(path: Path, ending: str) -> Path:
    """Return the path of a hidden file or folder beside another one, that has a name of its own.

    Parameters
    ----------
    path : Path
    ending : str
        What it ends with, such as ``".lock"``.

    Returns
    -------
    Path
    """
    # File names have a maximal length, so the name is shortened, and a digest tells shortened names apart.
    digest = hashlib.sha256(os.fsencode(path.name)).hexdigest()[:8]
    return path.with_name(f".{path.name[:32]}.{digest}{ending}")


def make_writable_folder(path: Path) -> Path:
    """Create a folder and check that files can be written to it, to fail before a long computation and not after.

    Parameters
    ----------
    path : Path
        The folder.

    Returns
    -------
    Path

    Raises
    ------
    WriteError
        If the folder cannot be created or written to.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            return path
    except OSError as error:
        raise WriteError(f"{path} must be a folder that can be written to: {reason(error)}") from None


def _resolve_target(path: Path) -> Path:
    """Resolve links, and check that an existing target is a writable file."""
    target = Path(os.path.realpath(path))  # the link itself is kept
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        return target
    if stat.S_ISDIR(mode):
        raise WriteError(f"{path} must be a file; it is a directory: name a file inside it")
    if not stat.S_ISREG(mode):
        raise WriteError(f"{path} must be a regular file to be written atomically; it is a device or a pipe")
    if not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    return target


def _create_temporary(target: Path, cleanup: ExitStack) -> Path:
    """Create a temporary file, and lock it until it is moved or removed: `sweep` leaves it then."""
    while True:
        descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=_prefix(target), suffix=TEMPORARY)
        if try_flock(descriptor):
            cleanup.callback(os.close, descriptor)
        else:  # Windows does not move open files
            os.close(descriptor)
        temporary = Path(name)
        if temporary.exists():  # otherwise another process has removed it before it was locked
            break
    cleanup.callback(temporary.unlink, missing_ok=True)
    temporary.chmod(_mode(target))  # os.fchmod does not exist on Windows
    return temporary


def _prefix(target: Path) -> str:
    return f".{target.name[:32]}."


def _mode(target: Path) -> int:
    """Return the permissions of the older file, or those of any new file; mkstemp makes it private."""
    if target.exists():
        return stat.S_IMODE(target.stat().st_mode)
    umask = os.umask(0)
    os.umask(umask)
    return 0o666 & ~umask


def _replace_all(staged: Sequence[Path], targets: Sequence[Path], cleanup: ExitStack) -> None:
    """Move all temporary files to their targets; on failure, restore those already replaced."""
    with ExitStack() as undo:
        for temporary, target in zip(staged[:-1], targets[:-1], strict=True):
            undo.callback(_restore, target, _back_up(target, cleanup))
            temporary.replace(target)
        # The last file may describe the others: it must not be on disk before them.
        _flush_folders(targets[:-1])
        staged[-1].replace(targets[-1])
        undo.pop_all()
    _flush_folders(targets[-1:])


def _flush_folders(targets: Sequence[Path]) -> None:
    for folder in dict.fromkeys(target.parent for target in targets):
        flush_folder(folder)


def _back_up(target: Path, cleanup: ExitStack) -> Path | None:
    if not target.exists():
        return None
    backup = _create_temporary(target, cleanup)
    shutil.copy2(target, backup)
    flush_file(backup)
    return backup


def _restore(target: Path, backup: Path | None) -> None:
    if backup is None:
        target.unlink(missing_ok=True)
    else:
        backup.replace(target)
