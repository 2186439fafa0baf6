"""Claims on an embedding folder: it is replaced as a whole, and what is in it is lost only if the caller asks for it.

A folder is written beside the one that it replaces, under a hidden name, and renamed when all of it is on disk. Between
two renames the older folder has a hidden name, too: if the process is killed then, the next one renames it back.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from graphprox.errors import ReadError, WriteError
from graphprox.io.embedding_folder.embedding_description import DESCRIPTION, PART, read_description
from graphprox.io.storage.files import flush_folder, hidden_path, is_of_file_manager, make_writable_folder, reason
from graphprox.io.storage.locks import LOCK, hold_lock


def is_embedding_folder(path: Path) -> bool:
    """Return whether an output names an embedding folder: it has no ending, and is not a file.

    Parameters
    ----------
    path : Path

    Returns
    -------
    bool

    Examples
    --------
    >>> is_embedding_folder(Path("vectors")), is_embedding_folder(Path("vectors.parquet"))
    (True, False)
    """
    return path.suffix == "" and (path.is_dir() or not path.exists())


def check_replaceable(folder: Path, *, overwrite: bool) -> None:
    """Check that a folder can be written or replaced, before the embedding is computed.

    What a killed process has left is removed.

    Parameters
    ----------
    folder : Path
        It need not exist.
    overwrite : bool
        Whether an embedding in it may be replaced.

    Raises
    ------
    WriteError
        As `replace_embedding` does.
    """
    with _hold_folder(folder, overwrite=overwrite):
        pass


@contextmanager
def _hold_folder(folder: Path, *, overwrite: bool) -> Iterator[Path]:
    """Hold the lock of a folder that can be replaced, and yield its path without links."""
    target = Path(os.path.realpath(folder))
    if target.is_mount():
        raise WriteError(
            f"the folder of an embedding is replaced as a whole, and must not be a mount point; {folder} is one: name "
            "a folder inside it"
        )
    make_writable_folder(target.parent)
    with hold_lock(target, beside=True), wrap_write_errors(folder):
        _recover(target, staging_folder(folder))
        _check_content(folder, overwrite=overwrite)
        yield target


def _check_content(folder: Path, *, overwrite: bool) -> None:
    """Raise an error if a folder has files of other programs, or an embedding that must not be replaced."""
    if not folder.exists():
        return
    try:
        names = sorted(path.name for path in folder.iterdir())
    except OSError as error:
        raise WriteError(f"{folder} must be a folder that can be written to: {reason(error)}") from None
    own = _own_names(folder)
    foreign = next((name for name in names if name not in own and not is_of_file_manager(name)), None)
    if foreign is not None:
        raise WriteError(
            f"the folder of an embedding must be new, empty, or that of an older one; {folder} has {foreign}, which is "
            "not a file of it: name another folder, or a file with an ending such as .parquet"
        )
    if DESCRIPTION in names and not overwrite:
        raise WriteError(
            f"an embedding folder must not be replaced unasked; {folder} has an embedding: set overwrite=True to "
            "replace it, or name another folder"
        )


def staging_folder(folder: Path) -> Path:
    """Return the folder in which the parts are written, before it is renamed.

    Parameters
    ----------
    folder : Path

    Returns
    -------
    Path
        The same one for all processes that share the work.
    """
    return hidden_path(Path(os.path.realpath(folder)), ".writing")  # a link to the folder is kept


@contextmanager
def replace_embedding(folder: Path, *, overwrite: bool) -> Iterator[None]:
    """Create the folder in which the parts are to be written, and rename it at the end of the ``with`` block.

    The lock of the folder is held in the block. If the block raises, the folder remains as it was.

    Parameters
    ----------
    folder : Path
    overwrite : bool
        Whether an embedding in it may be replaced.

    Raises
    ------
    WriteError
        If the folder has an embedding that would be lost, or files of other programs; if another process is writing it;
        or if it cannot be written to.
    """
    staged = staging_folder(folder)
    with _hold_folder(folder, overwrite=overwrite) as target:
        staged.mkdir()
        try:
            yield
            flush_folder(staged)
            _publish(staged, target)
        except BaseException:
            _remove(staged)
            raise


@contextmanager
def wrap_write_errors(folder: Path) -> Iterator[None]:
    """Turn errors of the operating system into a `WriteError`.

    Parameters
    ----------
    folder : Path
    """
    try:
        yield
    except OSError as error:
        raise WriteError(f"{folder} cannot be written: {reason(error)}; no partial folder is left") from None


def _own_names(folder: Path) -> set[str]:
    """Return the names of the files of an embedding; if its description is damaged, those that parts may have."""
    if not (folder / DESCRIPTION).is_file():
        return {LOCK}
    try:
        parts = {part.name for part in read_description(folder).parts}
    except ReadError:
        parts = {path.name for path in folder.iterdir() if PART.fullmatch(path.name)}
    return {LOCK, DESCRIPTION, *parts}


def _older_folder(folder: Path) -> Path:
    return hidden_path(folder, ".older")


def _recover(target: Path, staged: Path) -> None:
    """Remove what a killed process has left; the older folder gets its name again, if there is no newer one."""
    _remove(staged)
    older = _older_folder(target)
    if older.is_dir():
        if target.exists():
            _remove(older)
        else:
            older.rename(target)


def _publish(staged: Path, target: Path) -> None:
    older = _older_folder(target)
    if not target.exists():
        staged.rename(target)
    else:
        shutil.copymode(target, staged)
        for path in target.iterdir():
            if is_of_file_manager(path.name):
                shutil.copy2(path, staged / path.name)
        target.rename(older)
        try:
            staged.rename(target)
        except BaseException:
            older.rename(target)
            raise
    flush_folder(target.parent)
    _remove(older)


def _remove(folder: Path) -> None:
    """Remove a hidden folder; one with files of other programs remains."""
    if not folder.is_dir():
        return
    for path in folder.iterdir():
        if path.name in (DESCRIPTION, LOCK) or PART.fullmatch(path.name) or is_of_file_manager(path.name):
            path.unlink()
    folder.rmdir()
