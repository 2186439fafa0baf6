"""Ranking: for each node the nodes most similar to it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphprox.arrays import FloatArray, IntArray, frozen
from graphprox.errors import GraphError, ParameterError, ReadError
from graphprox.io.arrays import NpzArrays, damage_named, opened_npz
from graphprox.io.files import written_whole

NOBODY = -1  # fills up a row that has fewer neighbours than places


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Ranking:
    """The nearest nodes of every node, most similar first, and how similar they are.

    ``neighbors`` (nodes, k_max) holds node numbers, ``similarities`` (nodes, k_max) their cosines, which are positive
    and never rise along a row; both are read-only. Where a node has fewer neighbours its row ends in -1, and in
    similarity 0. ``engine`` names what searched, ``recall`` the share of the true neighbours that it found.

    >>> ranking = Ranking(neighbors=[[1, 2], [0, -1], [0, -1]], similarities=[[0.9, 0.5], [0.9, 0], [0.5, 0]])
    >>> ranking
    Ranking(3 nodes, 2 neighbours each, exact, recall 1.000)
    >>> ranking.graph(1).tolist()
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
        _check(nodes, similar, recall)
        values = {
            "neighbors": frozen(nodes.astype(np.int32, copy=False), given=neighbors),
            "similarities": frozen(similar, given=similarities),
            "engine": str(engine),
            "recall": float(recall),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def num_nodes(self) -> int:
        """The number of ranked nodes."""
        return int(self.neighbors.shape[0])

    @property
    def k_max(self) -> int:
        """The ranked width: how many neighbours a node has at most."""
        return int(self.neighbors.shape[1])

    def graph(self, k: int) -> IntArray:
        """The edges from every node to its first k neighbours, (2, edges), read-only; nothing is searched again."""
        if not isinstance(k, int | np.integer) or isinstance(k, bool) or not 1 <= k <= self.k_max:
            raise GraphError(f"k must lie in 1..{self.k_max}, the ranked width; got {k!r}")
        chosen = self.neighbors[:, :k]
        listed = chosen != NOBODY
        source = np.repeat(np.arange(self.num_nodes), listed.sum(axis=1))
        return frozen(np.stack([source, chosen[listed].astype(np.int64)]))

    def save(self, path: str | Path) -> None:
        """Write an npz file of plain arrays, whole or not at all; :meth:`load` reads it."""
        with written_whole(Path(path)) as (temporary,), temporary.open("wb") as file:
            np.savez(
                file,
                neighbors=self.neighbors,
                similarities=self.similarities,
                engine=np.array(self.engine),
                recall=np.array(self.recall),
            )

    @classmethod
    def load(cls, path: str | Path) -> Ranking:
        """Read what :meth:`save` wrote; a damaged file is a `ReadError`."""
        with opened_npz(Path(path)) as arrays:
            return _from(arrays)

    def __repr__(self) -> str:
        return f"Ranking({self.num_nodes} nodes, {self.k_max} neighbours each, {self.engine}, recall {self.recall:.3f})"


def _from(arrays: NpzArrays) -> Ranking:
    # np.load checks each member's CRC only where it reads on to its end, which it does for an array read whole.
    with damage_named(arrays.path, "npz"):
        neighbors, similarities, engine, recall = (
            arrays[name] for name in ("neighbors", "similarities", "engine", "recall")
        )
        if engine.dtype.kind != "U" or engine.size != 1 or recall.dtype.kind != "f" or recall.size != 1:
            raise ReadError(f"{arrays.path} must hold a ranking; its engine or its recall is no single value")
        try:
            return Ranking(neighbors, similarities, engine=engine.item(), recall=recall.item())
        except ParameterError as error:
            raise ReadError(f"{arrays.path} must hold a ranking: {error}") from None


# -- the rules, each in one place -----------------------------------------------------------------------------------


def _check(neighbors: NDArray[np.generic], similarities: FloatArray, recall: float) -> None:
    if neighbors.ndim != 2 or neighbors.dtype.kind not in "iu" or neighbors.shape[1] == 0:
        raise ParameterError(
            "neighbors must be a matrix of node numbers, one row per node; "
            f"got {neighbors.dtype} of shape {neighbors.shape}"
        )
    if similarities.shape != neighbors.shape:
        raise ParameterError(
            f"similarities must have the shape of neighbors, {neighbors.shape}; got {similarities.shape}"
        )
    if neighbors.size and (neighbors.min() < NOBODY or neighbors.max() >= len(neighbors)):
        raise ParameterError(
            f"neighbors must name nodes 0..{len(neighbors) - 1}, or -1 for none; "
            f"got {neighbors.min()}..{neighbors.max()}"
        )
    if not np.array_equal(neighbors != NOBODY, similarities > 0):
        raise ParameterError("similarities must be positive where there is a neighbour and 0 where there is none")
    if (similarities[:, 1:] > similarities[:, :-1]).any():
        raise ParameterError("similarities must never rise along a row, the most similar first")
    if (neighbors == np.arange(len(neighbors))[:, None]).any():
        raise ParameterError("a node must not be its own neighbour")
    if not 0 <= recall <= 1:
        raise ParameterError(f"recall must lie in 0..1, a share; got {recall}")
