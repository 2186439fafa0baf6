"""Entries of the adjacency matrix: sorted files of them, and their merge into rows.

An entry is the key ``source * num_nodes + target``, as in `graphprox.graph.edges`, whose rules are those here: weights
of an edge that is listed repeatedly are added, and the larger weight of both directions of an undirected edge is kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphprox._utils.arrays import FloatArray, IntArray
from graphprox.graph.edges import check_sums, sort_and_merge
from graphprox.io.sharding.id_files import read_raw, write_raw

MIN_BUFFER = 1024  # keys of each file

Weights = NDArray[np.float64]


@dataclass(frozen=True)
class EntryFile:
    """Keys in increasing order, each once.

    Parameters
    ----------
    path : Path
        The keys; the file of the weights has a name that begins with it.
    size : int
        Number of keys.
    has_weights : bool
    """

    path: Path
    size: int
    has_weights: bool

    @property
    def weights(self) -> Path:
        """The sum of the weights of each key, float64."""
        return self.path.with_name(f"{self.path.name}.weights")

    def read(self, start: int, stop: int) -> tuple[IntArray, Weights | None]:
        """Return consecutive keys and their weights."""
        weights = read_raw(self.weights, np.float64, start, stop) if self.has_weights else None
        return read_raw(self.path, np.int64, start, stop), weights

    def find(self, key: int) -> int:
        """Return the position of the first key that is not smaller than ``key``."""
        if self.size == 0:
            return 0
        return int(np.searchsorted(np.memmap(self.path, np.int64, "r"), key))


@dataclass(frozen=True, eq=False)
class Entries:
    """Entries in increasing order.

    Attributes
    ----------
    keys : ndarray of shape (num_entries,)
    weights : ndarray of shape (num_entries,) or None
    num_listed : int
        Number of entries that are listed in this direction.
    """

    keys: IntArray
    weights: FloatArray | None
    num_listed: int


def write_entries(path: Path, source: IntArray, target: IntArray, weights: Any, *, num_nodes: int) -> EntryFile:
    """Sort entries, add up the weights of those that occur repeatedly, and write them.

    Parameters
    ----------
    path : Path
    source, target : ndarray of shape (num_listed,)
        Node numbers.
    weights : ndarray of shape (num_listed,) or None
    num_nodes : int

    Returns
    -------
    EntryFile
    """
    keys = np.multiply(source, num_nodes, dtype=np.int64)
    keys += target
    keys, sums = sort_and_merge(keys, None if weights is None else weights.astype(np.float64), np.add)
    file = EntryFile(path, len(keys), sums is not None)
    write_raw(path, keys)
    if sums is not None:
        write_raw(file.weights, sums)
    return file


def merge_entries(
    forward: Sequence[EntryFile], backward: Sequence[EntryFile], *, low: int, high: int, memory: int
) -> Iterator[Entries]:
    """Merge sorted files.

    Parameters
    ----------
    forward : sequence of EntryFile
        Entries as they are listed.
    backward : sequence of EntryFile
        The reverse of each, of an undirected graph; empty otherwise.
    low, high : int
        Keys from ``low`` to ``high - 1`` are merged.
    memory : int
        Number of keys in memory, of all files together.

    Yields
    ------
    Entries
        Ranges of keys in increasing order.

    Raises
    ------
    GraphError
        If weights add up to more than a float32 can be.
    """
    buffer = max(memory // max(len(forward) + len(backward), 1), MIN_BUFFER)
    there, back = ([_Reader(file, low, high, buffer) for file in files] for files in (forward, backward))
    while True:
        active = [reader for reader in (*there, *back) if reader.fill()]
        if not active:
            return
        # Beyond the last key of any buffer, its file may have more keys.
        end = min(reader.last for reader in active)
        keys, weights = _add(there, end)
        num_listed = len(keys)
        if back:
            reverse, reverse_weights = _add(back, end)
            both = None if weights is None or reverse_weights is None else np.concatenate([weights, reverse_weights])
            keys, weights = sort_and_merge(np.concatenate([keys, reverse]), both, np.maximum)
        yield Entries(keys, weights, num_listed)


def _add(readers: Sequence[_Reader], end: int) -> tuple[IntArray, FloatArray | None]:
    """Return the keys up to ``end``, with the sums of their weights."""
    taken = [reader.take(end) for reader in readers]
    keys = np.concatenate([keys for keys, _ in taken])
    found = [weights for _, weights in taken if weights is not None]
    keys, weights = sort_and_merge(keys, np.concatenate(found) if found else None, np.add)
    return keys, None if weights is None else check_sums(weights)


class _Reader:
    """A file, and the keys of it that are in memory."""

    def __init__(self, file: EntryFile, low: int, high: int, buffer: int) -> None:
        self._file, self._buffer = file, buffer
        self._next, self._stop = file.find(low), file.find(high)
        self._keys: IntArray = np.empty(0, np.int64)
        self._weights: Weights | None = np.empty(0) if file.has_weights else None

    @property
    def last(self) -> int:
        """The last key in memory."""
        return int(self._keys[-1])

    def fill(self) -> bool:
        """Read keys unless half of the buffer is there; return whether there are any."""
        if len(self._keys) < self._buffer / 2 and self._next + len(self._keys) < self._stop:
            self._keys, self._weights = self._file.read(self._next, min(self._next + self._buffer, self._stop))
        return len(self._keys) > 0

    def take(self, end: int) -> tuple[IntArray, Weights | None]:
        """Return the keys up to ``end`` and their weights, and forget them."""
        count = int(np.searchsorted(self._keys, end, side="right"))
        taken = self._keys[:count], None if self._weights is None else self._weights[:count]
        self._keys, self._weights = self._keys[count:], None if self._weights is None else self._weights[count:]
        self._next += count
        return taken
