"""Outputs that are inputs: a file that is read must not be replaced by what is computed from it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from graphprox.errors import WriteError

MAX_FILES = 100_000  # of an input folder


def check_outputs(files: Iterable[Path] = (), inputs: Iterable[Path] = (), *, folders: Iterable[Path] = ()) -> None:
    """Check that no output is an input, by its path, by a link or as the same file on disk.

    Parameters
    ----------
    files : iterable of Path
        Files that will be written.
    inputs : iterable of Path
        Files that will be read, and folders whose files will be.
    folders : iterable of Path
        Folders that will be written to, and that must not have an input in them.

    Raises
    ------
    WriteError
        If an output is an input, or two outputs are the same.

    Examples
    --------
    >>> check_outputs([Path("vectors.csv")], [Path("edges.csv")])
    """
    files, folders, inputs = list(files), list(folders), list(inputs)
    _check_distinct([*files, *folders])
    existing = {_identity(path): path for given in inputs for path in _expand(given)}
    for path in [*files, *folders]:
        identity = _identity(path)
        if identity is not None and identity in existing:
            found = existing[identity]
            which = "" if found == path else f", as {found}"
            raise WriteError(f"an output must not be an input; {path} is read{which}: name another file")
    for folder in folders:
        for given in inputs:
            if _identity(given) is not None and _contains(folder, given):
                raise WriteError(
                    f"an output folder must not have an input in it; {folder} has {given}: name another folder"
                )


def _check_distinct(paths: list[Path]) -> None:
    seen: dict[object, Path] = {}
    for path in paths:
        other = seen.setdefault(_identity(path) or os.path.realpath(path), path)
        if other is not path:
            raise WriteError(f"outputs must differ from each other; {path} is given twice: name another file")


def _identity(path: Path) -> tuple[int, int] | None:
    """Return what two names of the same file share, or None if it does not exist."""
    try:
        found = path.stat()
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino


def _expand(path: Path) -> Iterator[Path]:
    yield path
    if _identity(path) is not None and path.is_dir():
        yield from islice(path.rglob("*"), MAX_FILES)


def _contains(folder: Path, path: Path) -> bool:
    return Path(os.path.realpath(folder)) in Path(os.path.realpath(path)).parents
