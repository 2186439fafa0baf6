"""Check that files would fit onto a disk, before they are written."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from graphprox._utils.amounts import format_memory
from graphprox.errors import WriteError


def free_disk_space(folder: Path) -> int | None:
    """Return how many bytes can be written to a folder.

    Parameters
    ----------
    folder : Path
        A folder, which need not exist yet.

    Returns
    -------
    int or None
        None if the operating system does not report it.
    """
    return _ask_system(folder, lambda place: shutil.disk_usage(place).free)


def find_disk(folder: Path) -> object:
    """Return what is equal for folders on the same disk.

    Parameters
    ----------
    folder : Path
        A folder, which need not exist yet.

    Returns
    -------
    object

    Examples
    --------
    >>> find_disk(Path("new")) == find_disk(Path("."))
    True
    """
    device = _ask_system(folder, lambda place: place.stat().st_dev)
    return folder if device is None else device


def check_disk_space(folder: Path, wanted: int, what: str) -> None:
    """Raise an error if there is not enough space for what is about to be written.

    Parameters
    ----------
    folder : Path
    wanted : int
        Number of bytes.
    what : str
        What needs them, for the message.

    Raises
    ------
    WriteError

    Examples
    --------
    >>> check_disk_space(Path("."), 10**18, "the graph folder")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    graphprox.errors.WriteError: the graph folder must fit onto the disk of ...; it needs 1,000,000,000 GB, and ...
    """
    free = free_disk_space(folder)
    if free is not None and wanted > free:
        raise WriteError(
            f"{what} must fit onto the disk of {folder}; it needs {format_memory(wanted)}, and {format_memory(free)} "
            "are free: free space, or name a folder on another disk"
        )


def _ask_system(folder: Path, ask: Callable[[Path], int]) -> int | None:
    """Return the answer for a folder, or for the nearest one above it that exists."""
    for place in (folder, *folder.absolute().parents):
        try:
            return ask(place)
        except OSError:
            continue
    return None
