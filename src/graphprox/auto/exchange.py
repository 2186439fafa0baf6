"""Exchange of rows and columns among processes that share the rows of a graph.

Each process keeps consecutive rows of all columns. To spread them over edges, it needs all rows, but not all columns,
which do not depend on each other: the processes exchange their rows for a share of the columns, each spreads its own,
and they exchange them back. What a process holds is an equal part of the matrix, either way.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphprox._utils.team import Team


def to_columns(team: Team, rows: NDArray[Any], num_rows: int) -> NDArray[Any]:
    """Exchange rows of all columns for columns of all rows.

    Parameters
    ----------
    team : Team
    rows : ndarray of shape (own rows, num_columns)
    num_rows : int
        Number of rows of all processes.

    Returns
    -------
    ndarray of shape (num_rows, own columns)
        The given array if this process is alone.
    """
    if team.size == 1:
        return rows
    shares = team.all_rows(rows.shape[1])
    own = _length(shares[team.rank])
    sent = [_length(each) * len(rows) for each in shares]
    received = [_length(each) * own for each in team.all_rows(num_rows)]
    given = np.empty(rows.size, rows.dtype)
    for share, part in zip(shares, np.split(given, np.cumsum(sent)[:-1]), strict=True):
        part.reshape(len(rows), _length(share))[:] = rows[:, share]
    return team.exchange_array(given, sent, received).reshape(num_rows, own)


def to_rows(team: Team, columns: NDArray[Any], num_columns: int) -> NDArray[Any]:
    """Exchange columns of all rows for rows of all columns: the inverse of `to_columns`.

    Parameters
    ----------
    team : Team
    columns : ndarray of shape (num_rows, own columns)
    num_columns : int
        Number of columns of all processes.

    Returns
    -------
    ndarray of shape (own rows, num_columns)
        The given array if this process is alone.
    """
    if team.size == 1:
        return columns
    num_rows, width = columns.shape
    shares = team.all_rows(num_columns)
    own = _length(team.rows(num_rows))
    received = [_length(each) * own for each in shares]
    sent = [_length(each) * width for each in team.all_rows(num_rows)]
    arrived = team.exchange_array(np.ravel(columns), sent, received)
    rows = np.empty((own, num_columns), columns.dtype)
    for share, part in zip(shares, np.split(arrived, np.cumsum(received)[:-1]), strict=True):
        rows[:, share] = part.reshape(own, _length(share))
    return rows


def gather_rows(team: Team, rows: NDArray[Any], out: NDArray[Any]) -> NDArray[Any]:
    """Write the rows of all processes into an array, in each of them.

    Parameters
    ----------
    team : Team
    rows : ndarray of shape (own rows, ...)
    out : ndarray of shape (num_rows, ...)

    Returns
    -------
    ndarray of shape (num_rows, ...)
        ``out``.
    """
    out[team.rows(len(out))] = rows
    team.copy_rows(out, team.all_rows(len(out)))
    return out


def gather_first(team: Team, rows: NDArray[Any], num_rows: int) -> NDArray[Any]:
    """Return the rows of all processes in the first one, and those of this process in any other.

    Parameters
    ----------
    team : Team
    rows : ndarray of shape (own rows, num_columns)
    num_rows : int
        Number of rows of all processes.

    Returns
    -------
    ndarray of shape (num_rows, num_columns), or (own rows, num_columns)
        The given array if this process is alone.
    """
    if team.size == 1:
        return rows
    nothing, width = [0] * team.size, rows.shape[1]
    sent = [rows.size if rank == 0 else 0 for rank in range(team.size)]
    received = [_length(each) * width for each in team.all_rows(num_rows)] if team.rank == 0 else nothing
    arrived = team.exchange_array(np.array(rows, order="C").reshape(-1), sent, received)
    return arrived.reshape(num_rows, width) if team.rank == 0 else rows


def take_first(team: Team, array: NDArray[Any]) -> NDArray[Any]:
    """Return an array of the first process, so that all continue with the same bytes.

    Processors and libraries of other machines may round differently, and directions of equal variance are arbitrary.

    Parameters
    ----------
    team : Team
    array : ndarray
        Of the same shape and type in all processes.

    Returns
    -------
    ndarray
        The given array if this process is alone.
    """
    if team.size == 1:
        return array
    copied = np.array(array, order="C")
    team.copy_first(copied)
    return copied


def _length(rows: slice) -> int:
    return int(rows.stop - rows.start)
