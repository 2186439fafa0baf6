"""Progress of long computations, without a parameter in every signature between its source and its consumer."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol


class Progress(Protocol):
    """Callable that receives the progress of a stage."""

    def __call__(self, stage: str, done: int, total: int, note: str = "") -> None:
        """Report progress.

        Parameters
        ----------
        stage : str
            What is computed, such as ``"training"``.
        done, total : int
            How many of its units are done.
        note : str, default=""
            Text to append, such as the loss.
        """


_current: ContextVar[Progress | None] = ContextVar("progress", default=None)


@contextmanager
def report_progress(progress: Progress | None) -> Iterator[None]:
    """Report the progress of all work inside the block to a callable.

    Parameters
    ----------
    progress : callable or None
        Called as ``progress(stage, done, total, note="")``; None reports nothing.

    Returns
    -------
    context manager

    Examples
    --------
    >>> from graphprox import DeepWalk, synthetic
    >>> stages = set()
    >>> with report_progress(lambda stage, done, total, note="": stages.add(stage)):
    ...     _ = DeepWalk(n_components=4, num_walks=1, walk_length=5).fit(synthetic(nodes=140))
    >>> stages
    {'training'}
    """
    token = _current.set(progress)
    try:
        yield
    finally:
        _current.reset(token)


def current_progress() -> Progress | None:
    """Return the callable that `report_progress` has set.

    Returns
    -------
    callable or None

    Examples
    --------
    >>> current_progress() is None
    True
    """
    return _current.get()


class PrintProgress:
    """Print progress on stderr, a line for each tenth of a stage.

    Parameters
    ----------
    title : str
        Printed at the beginning of each line.
    """

    def __init__(self, title: str) -> None:
        self.title = title
        self._last: tuple[str, int] | None = None

    def __call__(self, stage: str, done: int, total: int, note: str = "") -> None:
        """Print a line if another tenth of the stage is done."""
        tenth = (stage, 10 * done // max(total, 1))
        if tenth != self._last:
            print(f"{self.title}: {stage} {done:,} of {total:,}{note}", file=sys.stderr)
        self._last = tenth
