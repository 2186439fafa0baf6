"""Folders that a command creates for its results, and that are not left behind if it fails before there are any."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from graphprox.cli.ranks import is_first

_missing: set[Path] = set()


def watch_new_folders(*folders: Path | None) -> None:
    """Remember which of some folders and their parents do not exist yet.

    Parameters
    ----------
    *folders : Path or None
        Folders that a command may create.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as place:
    ...     model = Path(place, "models", "new")
    ...     watch_new_folders(model)
    ...     model.mkdir(parents=True)
    ...     remove_new_folders()
    ...     model.parent.exists(), Path(place).exists()
    (False, True)
    """
    given = [folder for folder in folders if folder is not None and is_first()]
    _missing.update(each for folder in given for each in (folder, *folder.parents) if not each.exists())


def remove_new_folders() -> None:
    """Remove the folders that did not exist, if there is no file in them; called if a command fails or is stopped."""
    for folder in sorted(_missing, key=lambda each: -len(each.parts)):
        _remove_empty(folder)
    forget_new_folders()


def forget_new_folders() -> None:
    """Keep the folders, as a command begins or has ended."""
    _missing.clear()


def _remove_empty(folder: Path) -> None:
    """Remove a folder with nothing but empty folders in it."""
    with suppress(OSError):  # one that is not empty stays
        for inner in folder.iterdir():
            if inner.is_dir() and not inner.is_symlink():
                _remove_empty(inner)
        folder.rmdir()
