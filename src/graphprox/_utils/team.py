"""The processes that share the work on independent items, such as nodes: by default this one alone.

Code that computes items independently of each other asks the team which of them are its own, and copies the others
afterwards. It need not know whether there are other processes, nor how they are connected.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from numpy.typing import NDArray


class Team:
    """A team of one process, whose methods cost nothing; several processes override them.

    Attributes
    ----------
    rank, size : int
        Number of this process, and of all.

    Examples
    --------
    >>> Team().all_rows(10)
    [slice(0, 10, None)]
    """

    rank: int = 0
    size: int = 1

    def all_rows(self, num_rows: int) -> list[slice]:
        """Return the consecutive rows of each process."""
        return [slice(0, num_rows)]

    def rows(self, num_rows: int) -> slice:
        """Return the rows of this process."""
        return self.all_rows(num_rows)[self.rank]

    def copy_rows(self, array: NDArray[Any], owned: Sequence[slice]) -> None:
        """Copy the rows of an array that other processes have computed, into it.

        Parameters
        ----------
        array : ndarray
            Contiguous, and of the same shape and type in all processes.
        owned : sequence of slice
            Rows of each process.
        """

    def add_up(self, array: NDArray[Any]) -> None:
        """Replace an array by its sum over all processes."""

    def copy_first(self, array: NDArray[Any]) -> None:
        """Replace an array by that of the first process."""

    def exchange_array(self, array: NDArray[Any], sent: Sequence[int], received: Sequence[int]) -> NDArray[Any]:  # noqa: ARG002
        """Send the first entries to process 0, the next ones to process 1, and so on.

        Parameters
        ----------
        array : ndarray of shape (sum of sent,)
        sent, received : sequence of int
            Number of entries to and from each process.

        Returns
        -------
        ndarray of shape (sum of received,)
            Entries from process 0, then those from process 1, and so on.
        """
        return array

    def gather_texts(self, text: str) -> list[str]:
        """Return the texts of all processes, in the order of their ranks."""
        return [text]

    def any(self, flag: bool) -> bool:
        """Return whether a flag is set in any process."""
        return flag


_current: ContextVar[Team | None] = ContextVar("team", default=None)
ALONE = Team()


def current_team() -> Team:
    """Return the processes that share work: those of the innermost :func:`share_work`, or this one alone.

    Returns
    -------
    Team

    Examples
    --------
    >>> current_team().size
    1
    """
    return _current.get() or ALONE


@contextmanager
def share_work(team: Team) -> Iterator[None]:
    """Share the work inside the block; all processes of the team enter it, and do the same there.

    Parameters
    ----------
    team : Team
    """
    token = _current.set(team)
    try:
        yield
    finally:
        _current.reset(token)
