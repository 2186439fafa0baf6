"""What holds for every file: it can be opened, and it is written whole or not at all."""

from __future__ import annotations

import errno
import glob
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from graphprox.errors import ReadError, WriteError

TEMPORARY = ".part"  # how the name of a file ends that is not yet whole

# -- reading --------------------------------------------------------------------------------------------------------


def readable(path: str | Path) -> Path:
    """The path of a file that can be read and is not empty."""
    path = Path(path)
    try:
        with path.open("rb") as file:
            empty = not file.read(1)
    except FileNotFoundError:
        raise ReadError(f"{path} does not exist: check the name") from None
    except IsADirectoryError:
        raise ReadError(f"{path} must be a file; it is a directory: name a file inside it") from None
    except OSError as error:
        raise ReadError(f"{path} cannot be read: {reason(error)}") from None
    if empty:
        raise ReadError(f"{path} must hold data; it is empty")
    return path


def ending(path: str | Path) -> str:
    """The ending that tells a file's format, in lower case and without ``.gz``.

    >>> ending("Edges.CSV.gz")
    '.csv'
    """
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    if suffixes and suffixes[-1] == ".gz":
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def is_gzipped(path: Path) -> bool:
    """Whether the file is named as a gzip file is."""
    return path.suffix.lower() == ".gz"


def cache_folder(name: str) -> Path:
    """Where something is kept for next time: ``graphprox/NAME`` below XDG_CACHE_HOME, or below ``~/.cache``."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "graphprox" / name


def reason(error: BaseException) -> str:
    r"""What a library or the system says went wrong, as a clause: its first sentence, on one line.

    >>> reason(ValueError("bad magic. Is this really\nan array?"))
    'bad magic'
    """
    if isinstance(error, KeyError):
        return f"{error} is missing"
    said = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else str(error)
    first = " ".join(said.split()).partition(". ")[0][:160].rstrip(".:")
    return first or ("it ends early" if isinstance(error, EOFError) else type(error).__name__)


# -- writing --------------------------------------------------------------------------------------------------------


@contextmanager
def written_whole(*paths: Path) -> Iterator[tuple[Path, ...]]:
    """Temporary files beside ``paths`` that take their places together when the block ends well.

    Whatever goes wrong, an error of the system becomes a `WriteError`, older files stay as they were, and no
    temporary file is left.
    """
    with ExitStack() as cleanup:
        try:
            targets = [_target(path) for path in paths]
            staged = tuple(_temporary_beside(target, cleanup) for target in targets)
            yield staged
            for temporary in staged:
                _flush_to_disk(temporary)
            _take_places(staged, targets, cleanup)
        except OSError as error:
            raise WriteError(f"{paths[0]} cannot be written: {reason(error)}; nothing is left of it") from None


def sweep(*paths: Path) -> None:
    """Remove what a killed process was about to write to these files; nobody else may be writing them now."""
    for path in paths:
        for temporary in path.parent.glob(f"{glob.escape(_prefix(path))}*{TEMPORARY}"):
            temporary.unlink(missing_ok=True)


def writable_folder(path: Path) -> Path:
    """The folder, made if need be, to which files can be written: better known before hours of work than after."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            return path
    except OSError as error:
        raise WriteError(f"{path} must be a folder that can be written to: {reason(error)}") from None


def _target(path: Path) -> Path:
    """Where a path leads in the end; what stands there already must be a file that may be written."""
    target = Path(os.path.realpath(path))  # a link stays a link, to the new file
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        return target
    if stat.S_ISDIR(mode):
        raise WriteError(f"{path} must be a file; it is a directory: name a file inside it")
    if not stat.S_ISREG(mode):
        raise WriteError(f"{path} must be a regular file, or it cannot be written whole; it is a device or a pipe")
    if not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    return target


def _temporary_beside(target: Path, cleanup: ExitStack) -> Path:
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=_prefix(target), suffix=TEMPORARY)
    temporary = Path(name)
    cleanup.callback(temporary.unlink, missing_ok=True)
    os.fchmod(descriptor, _mode(target))
    os.close(descriptor)
    return temporary


def _prefix(target: Path) -> str:
    return f".{target.name[:32]}."


def _mode(target: Path) -> int:
    """The rights of the older file, or those that any new file gets; mkstemp would let only its owner read it."""
    if target.exists():
        return stat.S_IMODE(target.stat().st_mode)
    umask = os.umask(0)
    os.umask(umask)
    return 0o666 & ~umask


def _flush_to_disk(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())


def _take_places(staged: Sequence[Path], targets: Sequence[Path], cleanup: ExitStack) -> None:
    """Move each temporary file to its place; where one cannot go, those before it give theirs back."""
    with ExitStack() as undo:
        for temporary, target in zip(staged[:-1], targets[:-1], strict=True):
            undo.callback(_give_back, target, _copy_of(target, cleanup))
            temporary.replace(target)
        staged[-1].replace(targets[-1])
        undo.pop_all()


def _copy_of(target: Path, cleanup: ExitStack) -> Path | None:
    if not target.exists():
        return None
    older = _temporary_beside(target, cleanup)
    shutil.copy2(target, older)
    return older


def _give_back(target: Path, older: Path | None) -> None:
    if older is None:
        target.unlink(missing_ok=True)
    else:
        older.replace(target)
