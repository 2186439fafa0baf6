"""The processes that share the work on independent items, such as nodes: by default this one alone.

Code that computes items independently of each other asks the team which of them are its own, and copies the others
afterwards. It need not know whether there are other processes, nor how they are connected.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np
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
_kept: ContextVar[bool | None] = ContextVar("kept", default=None)
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


def select_rows(team: Team, rows: Any, chosen: NDArray[np.int64], num_rows: int) -> Any:
    """Return some rows, whoever keeps them, in each process.

    Parameters
    ----------
    team : Team
    rows : ndarray of shape (own rows, num_columns)
        Of a process that is alone, it may also be a csr_array.
    chosen : ndarray of shape (num_chosen,)
        Their numbers among the rows of all processes.
    num_rows : int
        Number of rows of all processes.

    Returns
    -------
    ndarray of shape (num_chosen, num_columns)
    """
    if team.size == 1:
        return rows[chosen]
    own = team.rows(num_rows)
    is_own = (chosen >= own.start) & (chosen < own.stop)
    selected = np.zeros((len(chosen), rows.shape[1]), rows.dtype)
    selected[is_own] = rows[chosen[is_own] - own.start]
    team.add_up(selected)
    return selected


# -- what each process keeps of a result ------------------------------------------------------------------------------


@contextmanager
def keep_own_rows(*, save_model: bool = False) -> Iterator[None]:
    """Keep the vectors of own nodes only: what is fitted inside the block by several processes is not gathered.

    Parameters
    ----------
    save_model : bool, default=False
        Whether the first process gets all that a model is saved of.
    """
    token = _kept.set(save_model)
    try:
        yield
    finally:
        _kept.reset(token)


def row_keepers() -> Team:
    """Return the processes of which each keeps the vectors of its own nodes; this one alone if each has all.

    Returns
    -------
    Team

    Examples
    --------
    >>> row_keepers().size
    1
    """
    return ALONE if _kept.get() is None else current_team()


def is_model_saved() -> bool:
    """Return whether the first process needs all that a model is saved of, inside of `keep_own_rows`."""
    return bool(_kept.get())
