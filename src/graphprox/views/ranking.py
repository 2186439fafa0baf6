"""Ranking: the most similar nodes of every node."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphprox._utils.arrays import FloatArray, IntArray, ReadOnlyArrays, freeze
from graphprox._utils.checks import is_integer
from graphprox._utils.mapped import release_pages
from graphprox.errors import ParameterError, ReadError
from graphprox.io.npy import NpzArrays, open_npz, wrap_read_errors
from graphprox.io.storage.files import atomic_write
from graphprox.io.storage.memory_maps import make_temporary_map

BLOCK_ROWS = 65_536  # read at a time
NO_NEIGHBOR = -1  # pads rows that have fewer than k_max neighbors


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Ranking(ReadOnlyArrays):
    """The most similar nodes of every node, most similar first.

    Parameters
    ----------
    neighbors : array-like of shape (num_nodes, k_max)
        Node numbers. Rows with fewer neighbors end in -1.
    similarities : array-like of shape (num_nodes, k_max)
        Their cosines, which are positive and not increasing along a row; 0 where there is no neighbor.
    engine : str, default="exact"
        Name of the search engine.
    recall : float, default=1.0
        Share of the nearest neighbors that the engine found, as estimated on a sample.

    Examples
    --------
    >>> ranking = Ranking(neighbors=[[1, 2], [0, -1], [0, -1]], similarities=[[0.9, 0.5], [0.9, 0], [0.5, 0]])
    >>> ranking
    Ranking(3 nodes, 2 neighbors each, exact, recall 1.000)
    >>> ranking.edge_index(1).tolist()
    [[0, 1, 2], [1, 0, 0]]
    """

    neighbors: NDArray[np.int32]
    similarities: FloatArray
    engine: str
    recall: float

    def __init__(
        self, neighbors: ArrayLike, similarities: ArrayLike, *, engine: str = "exact", recall: float = 1.0
    ) -> None:
        nodes, similar = np.asarray(neighbors), np.asarray(similarities, dtype=np.float32)
        _validate(nodes, similar, recall)
        values = {
            "neighbors": freeze(nodes.astype(np.int32, copy=False), given=neighbors),
            "similarities": freeze(similar, given=similarities),
            "engine": str(engine),
            "recall": float(recall),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def num_nodes(self) -> int:
        """Number of nodes."""
        return int(self.neighbors.shape[0])

    @property
    def k_max(self) -> int:
        """Largest number of neighbors per node."""
        return int(self.neighbors.shape[1])

    def edge_index(self, k: int) -> IntArray:
        """Return the edges from every node to its first k neighbors.

        Parameters
        ----------
        k : int
            Number of neighbors per node, between 1 and ``k_max``.

        Returns
        -------
        ndarray of shape (2, num_edges)
            Read-only.
        """
        if not is_integer(k) or not 1 <= k <= self.k_max:
            raise ParameterError(f"k must be an integer between 1 and {self.k_max}; got {k!r}")
        return freeze(self._edges_of(slice(0, self.num_nodes), k))

    def edge_blocks(self, k: int) -> Iterator[IntArray]:
        """Yield the edges of `edge_index` in their order, in blocks of the sources.

        Parameters
        ----------
        k : int

        Yields
        ------
        ndarray of shape (2, num_edges)
        """
        for first in range(0, self.num_nodes, BLOCK_ROWS):
            yield self._edges_of(slice(first, min(first + BLOCK_ROWS, self.num_nodes)), k)
            release_pages(self.neighbors)

    def _edges_of(self, nodes: slice, k: int) -> IntArray:
        chosen = self.neighbors[nodes, :k]
        listed = chosen != NO_NEIGHBOR
        source = np.repeat(np.arange(nodes.start, nodes.stop), listed.sum(axis=1))
        return np.stack([source, chosen[listed].astype(np.int64)])

    def in_files(self) -> Ranking:
        """Return the same ranking with its arrays in files of the work folder, which have no names.

        They do not count towards the memory of the process, and nothing is left of them when it ends.

        Returns
        -------
        Ranking
        """
        moved = object.__new__(type(self))
        vars(moved).update(vars(self))
        for name in ("neighbors", "similarities"):
            array = getattr(self, name)
            mapped = make_temporary_map(array.shape, array.dtype) if array.size else array.copy()
            for first in range(0, len(array), BLOCK_ROWS):
                mapped[first : first + BLOCK_ROWS] = array[first : first + BLOCK_ROWS]
                release_pages(mapped)
            mapped.flags.writeable = False
            object.__setattr__(moved, name, mapped)
        return moved

    def save(self, path: str | Path) -> None:
        """Write the ranking to an npz file, atomically.

        Parameters
        ----------
        path : str or Path
            File to write; an existing one is replaced.

        Raises
        ------
        WriteError
            If the file cannot be written.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     path = Path(folder, "ranking.npz")
        ...     Ranking([[1], [0]], [[0.9], [0.9]]).save(path)
        ...     Ranking.load(path)
        Ranking(2 nodes, 1 neighbors each, exact, recall 1.000)
        """
        with atomic_write(Path(path)) as (temporary,), temporary.open("wb") as file:
            np.savez(
                file,
                neighbors=self.neighbors,
                similarities=self.similarities,
                engine=np.array(self.engine),
                recall=np.array(self.recall),
            )

    @classmethod
    def load(cls, path: str | Path) -> Ranking:
        """Read a ranking from a file that `save` has written.

        Parameters
        ----------
        path : str or Path

        Returns
        -------
        Ranking

        Raises
        ------
        ReadError
            If the file does not exist, is damaged or contains no ranking.
        """
        with open_npz(Path(path)) as arrays:
            return _read_ranking(arrays)

    def __repr__(self) -> str:
        return f"Ranking({self.num_nodes} nodes, {self.k_max} neighbors each, {self.engine}, recall {self.recall:.3f})"


def _read_ranking(arrays: NpzArrays) -> Ranking:
    # np.load checks the CRC of a member only if it is read completely, as whole arrays are.
    with wrap_read_errors(arrays.path, "npz"):
        neighbors, similarities, engine, recall = (
            arrays[name] for name in ("neighbors", "similarities", "engine", "recall")
        )
        if engine.dtype.kind != "U" or engine.size != 1 or recall.dtype.kind != "f" or recall.size != 1:
            raise ReadError(f"{arrays.path} must contain a ranking; its engine or its recall is not a single value")
        try:
            return Ranking(neighbors, similarities, engine=engine.item(), recall=recall.item())
        except ParameterError as error:
            raise ReadError(f"{arrays.path} must contain a ranking: {error}") from None


# -- validation -----------------------------------------------------------------------------------------------------


def _validate(neighbors: NDArray[np.generic], similarities: FloatArray, recall: float) -> None:
    if neighbors.ndim != 2 or neighbors.dtype.kind not in "iu" or neighbors.shape[1] == 0:
        raise ParameterError(
            "neighbors must be a matrix of integers with a row per node; "
            f"got {neighbors.dtype} of shape {neighbors.shape}"
        )
    if similarities.shape != neighbors.shape:
        raise ParameterError(
            f"similarities must have the shape of neighbors, {neighbors.shape}; got {similarities.shape}"
        )
    if neighbors.size and (neighbors.min() < NO_NEIGHBOR or neighbors.max() >= len(neighbors)):
        raise ParameterError(
            f"neighbors must be node numbers between 0 and {len(neighbors) - 1}, or -1 for none; "
            f"got values between {neighbors.min()} and {neighbors.max()}"
        )
    for first in range(0, len(neighbors), BLOCK_ROWS):
        _validate_rows(first, neighbors[first : first + BLOCK_ROWS], similarities[first : first + BLOCK_ROWS])
    if not 0 <= recall <= 1:
        raise ParameterError(f"recall must be between 0 and 1; got {recall}")


def _validate_rows(first: int, neighbors: NDArray[np.generic], similarities: FloatArray) -> None:
    """Validate the rows from ``first`` on."""
    if len(wrong := np.argwhere((neighbors != NO_NEIGHBOR) != (similarities > 0))):
        at = tuple(wrong[0])
        raise ParameterError(
            "similarities must be positive where there is a neighbor and 0 where there is none; "
            f"got {similarities[at]:g} for neighbor {neighbors[at]} of node {first + at[0]}"
        )
    if len(wrong := np.argwhere(similarities[:, 1:] > similarities[:, :-1])):
        row, place = wrong[0]
        low, high = similarities[row, place : place + 2]
        raise ParameterError(
            f"similarities must not increase along a row; node {first + row} has {low:g} before {high:g}: "
            "sort its neighbors"
        )
    if len(wrong := np.argwhere(neighbors == np.arange(first, first + len(neighbors))[:, None])):
        raise ParameterError(
            f"a node must not be its own neighbor; got node {first + wrong[0][0]} in its own row: leave it out"
        )
