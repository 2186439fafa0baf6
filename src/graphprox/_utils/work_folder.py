"""The folder of temporary files of a work that is too large for memory."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

_FOLDER: ContextVar[Path | None] = ContextVar("work_folder", default=None)


@contextmanager
def use_work_folder(folder: Path) -> Iterator[None]:
    """Write temporary files to this folder, inside a ``with`` block.

    Parameters
    ----------
    folder : Path
        An existing folder.

    Examples
    --------
    >>> with use_work_folder(Path("/scratch")):
    ...     work_folder().name
    'scratch'
    """
    token = _FOLDER.set(folder)
    try:
        yield
    finally:
        _FOLDER.reset(token)


def work_folder() -> Path:
    """Return the folder of temporary files, by default that of the system: ``TMPDIR``, or /tmp.

    Returns
    -------
    Path
    """
    return _FOLDER.get() or Path(tempfile.gettempdir())
