"""Claims on the folder of a model: what is in it is lost only if the caller asks for it, and one process writes it.

A folder is ours if it has a model, checkpoints, or the first files of a training run. Files of other programs beside a
model are never touched, and a folder that has only such files is not used.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from graphprox.errors import WriteError
from graphprox.io.storage.files import find_temporaries, is_of_file_manager, make_writable_folder, reason
from graphprox.io.storage.locks import LOCK, hold_lock
from graphprox.io.storage.model_files import (
    ABOUT,
    AUTO,
    CHECKPOINTS,
    FAMILY,
    FILES,
    METRICS,
    STAGES,
    WORK,
    checkpoint_epochs,
    checkpoint_files,
    has_stages,
    model_files,
    model_kind,
    stage_files,
    training_files,
    work_files,
)


@contextmanager
def claim_model_folder(folder: Path, kind: str, *, overwrite: bool = False, resume: bool = False) -> Iterator[Path]:
    """Create a folder for a model, and hold its lock in the ``with`` block.

    Parameters
    ----------
    folder : Path
        Removed at the end if it was created here and is empty.
    kind : {"auto", "ft-gcl"}
        Kind of the new model.
    overwrite : bool, default=False
        Whether a model or checkpoints in it may be replaced.
    resume : bool, default=False
        Whether checkpoints or finished stages in it are continued.

    Yields
    ------
    Path
        The folder.

    Raises
    ------
    WriteError
        If the folder has a model or checkpoints that would be lost, or files of other programs; if another process is
        writing it; or if it cannot be written to.
    """
    _check_foreign(folder, kind)  # before a lock is written to it
    is_new = not folder.exists()
    try:
        with hold_lock(make_writable_folder(folder)):
            _check_foreign(folder, kind)
            if not overwrite:
                _check_unasked(folder, kind, resume=resume)
            yield folder
    finally:
        if is_new:
            with suppress(OSError):  # not empty
                folder.rmdir()


def _check_foreign(folder: Path, kind: str) -> None:
    """Raise a `WriteError` if a folder belongs to another program."""
    foreign = _find_foreign(folder, kind) if folder.is_dir() else None
    if foreign is not None:
        raise WriteError(
            f"the folder of a model must be new, empty, or that of an older model; {folder} has {foreign}, which is "
            "not a file of it: name another folder"
        )


def _check_unasked(folder: Path, kind: str, *, resume: bool) -> None:
    """Raise a `WriteError` if a folder has something that would be lost."""
    older, epochs = model_kind(folder), checkpoint_epochs(folder / CHECKPOINTS)
    if epochs and kind == FAMILY:
        if resume:
            return
        what = "a model" if older == FAMILY else "an unfinished training run"
        raise WriteError(
            f"a training run must not be discarded unasked; {folder} has {what}, saved after epoch {epochs[0]}: set "
            "resume=True to continue it, set overwrite=True to replace it, or name another folder"
        )
    if has_stages(folder):
        if resume and kind == AUTO:
            return
        raise WriteError(
            f"an unfinished run must not be discarded unasked; {folder} has finished stages of one of {AUTO}: set "
            "resume=True to continue it, set overwrite=True to replace it, or name another folder"
        )
    if older is not None or epochs:
        raise WriteError(
            f"a model must not be replaced unasked; {folder} has one: set overwrite=True to replace it, or name "
            "another folder"
        )


def _find_foreign(folder: Path, kind: str) -> str | None:
    """Return the name of a file that makes a folder another program's, or that the new model would replace."""
    older = model_kind(folder)
    try:
        names = sorted(path.name for path in folder.iterdir())
    except OSError as error:
        raise WriteError(f"{folder} must be a folder that can be written to: {reason(error)}") from None
    if older is None and not checkpoint_epochs(folder / CHECKPOINTS):
        return next((name for name in names if not _is_left_over(folder / name)), None)
    # Beside a model, files of other programs may stay, unless the new model has a file of the same name.
    own = {path.name for path in [*model_files(folder, older), *training_files(folder)]}
    taken = [name for name in names if name in FILES.get(kind, ()) and name not in own]
    return next((name for name in taken if not _is_left_over(folder / name)), None)


def _is_left_over(path: Path) -> bool:
    """Return whether a file is no program's: of a process that was killed early, or of a file manager."""
    folder = path.parent
    if path.name == CHECKPOINTS and path.is_dir():
        return set(path.iterdir()) == set(checkpoint_files(path))
    if path.name == WORK and path.is_dir():
        return set(path.iterdir()) == set(work_files(path))
    if path.name == STAGES and path.is_dir():
        return set(path.iterdir()) == set(stage_files(path))
    if path.name == METRICS:
        return (folder / CHECKPOINTS).is_dir() and _has_epochs(path)
    named = [ABOUT, *FILES[AUTO], *FILES[FAMILY]]
    return (
        path.name == LOCK
        or is_of_file_manager(path.name)
        or any(path in find_temporaries(folder / name) for name in named)
    )


def _has_epochs(path: Path) -> bool:
    """Return whether a file has the first line of metrics, or none."""
    try:
        first, is_complete, _ = path.read_text(errors="replace").partition("\n")
        return not is_complete or {"epoch", "pairs", "k", "loss"} <= json.loads(first).keys()
    except (OSError, ValueError, AttributeError):
        return False
