"""Claims on a graph folder: what is in it is lost only if the caller asks for it, and one process writes it.

A graph is written to a working folder inside, ``.sharding``. Its parts get names of their own, by their checksums, and
are moved beside those of an older graph; graph.json is replaced then, in one step, and the older parts are removed.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from graphprox.errors import ReadError, WriteError
from graphprox.io.folder.description import GRAPH, Description, dump_description
from graphprox.io.storage.files import (
    atomic_write,
    find_temporaries,
    flush_folder,
    is_of_file_manager,
    make_writable_folder,
    reason,
)
from graphprox.io.storage.locks import LOCK, hold_lock

WORK = ".sharding"
_PART = re.compile(r"part-\d{5,}-[0-9a-f]{8}")


@contextmanager
def claim_graph_folder(folder: Path, *, overwrite: bool = False, resume: bool = False) -> Iterator[Path]:
    """Create a graph folder and its working folder, and hold its lock in the ``with`` block.

    Parameters
    ----------
    folder : Path
        Removed at the end if it was created here and is empty.
    overwrite : bool, default=False
        Whether a graph in it may be replaced.
    resume : bool, default=False
        Whether the working folder of a killed process is kept; it is emptied otherwise.

    Yields
    ------
    Path
        The working folder.

    Raises
    ------
    WriteError
        If the folder has a graph that would be lost, or files of other programs; if another process is writing it; or
        if it cannot be written to.
    """
    _check_foreign(folder)  # before a lock is written to it
    is_new = not folder.exists()
    try:
        with hold_lock(make_writable_folder(folder)), _wrap_write_errors(folder):
            _check_foreign(folder)
            if (folder / GRAPH).exists() and not overwrite and not resume:
                raise WriteError(
                    f"a graph folder must not be replaced unasked; {folder} has a graph: set overwrite=True to replace "
                    "it, or name another folder"
                )
            work = folder / WORK
            if not resume:
                shutil.rmtree(work, ignore_errors=True)
            work.mkdir(exist_ok=True)
            yield work
    finally:
        if is_new:
            with suppress(OSError):  # not empty
                folder.rmdir()


def check_finished(folder: Path) -> None:
    """Raise a `ReadError` if a graph folder has only what an unfinished run has left.

    Parameters
    ----------
    folder : Path
        A path of anything.
    """
    if (folder / WORK).is_dir():
        raise ReadError(
            f"{folder} must be a complete graph folder; graphprox shard was stopped before it ended: run the same "
            "command again with --resume"
        )


def publish(folder: Path, work: Path, about: Description, parts: Sequence[Path]) -> None:
    """Move complete parts to a graph folder, describe them, and remove those of an older graph.

    A process that is killed meanwhile leaves the older graph or the new one.

    Parameters
    ----------
    folder : Path
    work : Path
        The working folder; it is removed.
    about : Description
    parts : sequence of Path
        Folders of the parts in the working folder. One that is missing was moved by a process that was killed.
    """
    with _wrap_write_errors(folder):
        for written, record in zip(parts, about.parts, strict=True):
            target = folder / record.folder
            if written.exists():
                if target.exists():  # left by a killed process, or the same part of an older graph
                    shutil.rmtree(written)
                else:
                    written.rename(target)
        flush_folder(folder)
        with atomic_write(folder / GRAPH) as (staged,):
            staged.write_text(dump_description(about))
        named = {record.folder for record in about.parts}
        for path in folder.iterdir():
            if _PART.fullmatch(path.name) and path.name not in named:
                shutil.rmtree(path)
        shutil.rmtree(work)


@contextmanager
def _wrap_write_errors(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise WriteError(f"{folder} cannot be written: {reason(error)}") from None


def _check_foreign(folder: Path) -> None:
    """Raise a `WriteError` if a folder belongs to another program."""
    if not folder.is_dir():
        return
    try:
        names = sorted(path.name for path in folder.iterdir())
    except OSError as error:
        raise WriteError(f"{folder} must be a folder that can be written to: {reason(error)}") from None
    found = next((name for name in names if not _is_ours(folder / name)), None)
    if found is not None:
        raise WriteError(
            f"a graph folder must be new, empty, or that of an older graph; {folder} has {found}, which is not a file "
            "of it: name another folder"
        )


def _is_ours(path: Path) -> bool:
    if path.name == GRAPH:
        return _is_description(path)
    is_part = _PART.fullmatch(path.name) is not None or path.name == WORK
    return (
        (is_part and path.is_dir())
        or path.name == LOCK
        or is_of_file_manager(path.name)
        or path in find_temporaries(path.parent / GRAPH)
    )


def _is_description(path: Path) -> bool:
    """Return whether a file is a description of ours, which may be damaged if its parts are there."""
    try:
        about = json.loads(path.read_text())
    except (OSError, ValueError, RecursionError):
        return any(_PART.fullmatch(each.name) for each in path.parent.iterdir())
    return isinstance(about, dict) and {"format", "parts", "checksum"} <= about.keys()
