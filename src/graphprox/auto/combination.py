"""Combination of outputs: centered unit rows side by side, reduced to the size of the embedding.

Two things can be added to the result. Nodes that are similar by all outputs together are averaged with each other: what
they agree on is more reliable than what one of them says. And one column stands for the number of neighbors, so that
nodes with many of them have larger products with each other: they are more likely to be connected.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from sklearn.preprocessing import normalize

from graphprox._utils.arrays import FloatArray, IntArray
from graphprox._utils.mapped import release_pages
from graphprox._utils.numba_helpers import run_in_parallel
from graphprox._utils.team import ALONE, Team
from graphprox.auto.exchange import take_first
from graphprox.auto.row_store import RowStore, row_blocks
from graphprox.auto.selection import Mixture
from graphprox.auto.spreading import diffuse_rows, similar_edges
from graphprox.auto.stages import Stages

MIN_LENGTH = 1e-5  # of a centered row, in single precision
MIN_COMPONENTS = 16  # of a result with a column for the number of neighbors, which takes the place of a direction
ALPHA, HOPS = 0.15, 5  # diffusion over similar nodes
SIMILAR_VECTORS = "similar vectors"  # the stage of the search for them


@dataclass(frozen=True, eq=False)
class Combination:
    """How outputs become vectors: what the fitted graph decided, applicable to another graph.

    Parameters
    ----------
    weights : mapping of str to float
        Weight of each output that is kept.
    means : mapping of str to ndarray
        Mean row of each output.
    projection : ndarray of shape (num_channels, num_directions)
        Leading principal directions of the outputs side by side.
    similar : float, default=0.0
        Weight of the most similar nodes.
    popularity : float, default=0.0
        Largest entry of the last column, which stands for the number of neighbors; without that column if zero.
    max_neighbors : int, default=0
        Largest number of neighbors in the fitted graph, for which that entry is meant.
    random_state : int, default=0
        Random seed of ties between similar nodes.
    num_zeros : int, default=0
        Number of columns of zeros that follow the directions, of which there are no more than channels.

    Examples
    --------
    >>> outputs = {"own": np.eye(4, dtype=np.float32)}
    >>> Combination.fit(outputs, Mixture({"own": 1.0}), n_components=2).transform(outputs).shape
    (4, 2)
    """

    weights: Mapping[str, float]
    means: Mapping[str, FloatArray]
    projection: FloatArray
    similar: float = 0.0
    popularity: float = 0.0
    max_neighbors: int = 0
    random_state: int = 0
    num_zeros: int = 0

    @classmethod
    def fit(
        cls,
        outputs: Mapping[str, FloatArray],
        mixture: Mixture,
        *,
        n_components: int,
        num_neighbors: IntArray | None = None,
        random_state: int = 0,
        team: Team = ALONE,
    ) -> Combination:
        """Compute means and principal directions of some outputs of a graph.

        Parameters
        ----------
        outputs : mapping of str to ndarray of shape (num_nodes, channels)
            Those of this process, if several divide the rows.
        mixture : Mixture
        n_components : int
            Size of the result, which is filled with zeros where it has more columns than there are directions.
        num_neighbors : ndarray of shape (num_nodes,), optional
            Number of neighbors of each node. Without it, or in a small result, there is no column for it.
        random_state : int, default=0
        team : Team, optional
            Processes that rows are divided among, all of which get the same result; by default this one has all.

        Returns
        -------
        Combination
        """
        weights = mixture.weights
        means = {name: _mean_unit_row(outputs[name], team) for name in weights}
        most = 0 if num_neighbors is None else int(num_neighbors.max(initial=0))
        popularity = mixture.popularity if most > 0 and n_components >= MIN_COMPONENTS else 0.0
        gram = sum_products(cls(weights, means, np.empty((0, 0), np.float32))._read_blocks(outputs))
        team.add_up(gram)
        size = n_components - (popularity > 0)
        directions = take_first(team, principal_directions(gram, size, sharpness=mixture.sharpness))
        num_zeros = size - directions.shape[1]
        return cls(weights, means, directions, mixture.similar, popularity, most, random_state, num_zeros)

    @property
    def n_components(self) -> int:
        """Size of the result."""
        return int(self.projection.shape[1]) + self.num_zeros + (self.popularity > 0)

    @property
    def num_used(self) -> int:
        """Number of components that are not zero in all vectors."""
        return int(np.count_nonzero(self.projection.any(axis=0))) + (self.popularity > 0)

    def transform(
        self, outputs: Mapping[str, FloatArray], num_neighbors: IntArray | None = None, store: RowStore | None = None
    ) -> FloatArray:
        """Return the vectors of a graph from its outputs.

        Parameters
        ----------
        outputs : mapping of str to ndarray of shape (num_nodes, channels)
        num_neighbors : ndarray of shape (num_nodes,), optional
            Number of neighbors of each node; required if one of the columns stands for it.
        store : RowStore, optional
            Where the vectors are kept; in memory by default.

        Returns
        -------
        ndarray of shape (num_nodes, n_components)
            Rows of unit length without the column for the number of neighbors; zero where no output says anything.
        """
        store = store or RowStore()
        return self.finish(to_unit_rows(self.project(outputs, store)), num_neighbors, store)

    def finish(
        self,
        vectors: FloatArray,
        num_neighbors: IntArray | None = None,
        store: RowStore | None = None,
        stages: Stages | None = None,
    ) -> FloatArray:
        """Return the vectors of a graph from the rows that `project` has returned, as rows of unit length.

        Parameters
        ----------
        vectors : ndarray of shape (num_nodes, num_directions)
            Those that the store keeps. Not changed; returned if there is nothing to add.
        num_neighbors : ndarray of shape (num_nodes,), optional
            Of all nodes.
        store : RowStore, optional
        stages : Stages, optional
            Where the nodes that are similar are kept, for a run that is resumed.

        Returns
        -------
        ndarray of shape (num_nodes, n_components)
        """
        if self.popularity > 0 and num_neighbors is None:
            raise ValueError("num_neighbors must be given, as one of the columns stands for it")
        store, spread = store or RowStore(), None
        num_nodes = len(vectors) if num_neighbors is None else len(num_neighbors)
        if self.similar > 0 and num_nodes > 1:
            edges = similar_edges(
                vectors,
                random_state=self.random_state,
                store=store,
                num_nodes=num_nodes,
                stages=stages,
                name=SIMILAR_VECTORS,
            )
            spread = diffuse_rows(edges, vectors, ALPHA, HOPS, store=store)
            del edges
        popular = None if num_neighbors is None or self.popularity == 0 else num_neighbors[store.own_rows(num_nodes)]
        size = vectors.shape[1]
        if spread is None and self.n_components == size:
            return vectors
        finished = store.empty(len(vectors), self.n_components)
        for rows in row_blocks(len(vectors)):
            unit = vectors[rows]
            if spread is not None:
                unit = normalize(unit + self.similar * normalize(spread[rows]), copy=False)
            finished[rows, :size] = unit
            finished[rows, size:] = 0
            if popular is not None:
                finished[rows, -1] = self._popularity_of(popular[rows])
            release_pages(vectors, spread, finished)
        return finished

    def project(self, outputs: Mapping[str, FloatArray], store: RowStore | None = None) -> FloatArray:
        """Return the outputs side by side in their principal directions.

        Parameters
        ----------
        outputs : mapping of str to ndarray of shape (num_nodes, channels)
        store : RowStore, optional
            Where the result is kept; in memory by default.

        Returns
        -------
        ndarray of shape (num_nodes, num_directions)
        """
        channels = [outputs[name].shape[1] for name in self.weights]
        parts = np.split(self.projection, np.cumsum(channels)[:-1])
        num_nodes = len(outputs[next(iter(self.weights))])
        vectors = (store or RowStore()).empty(num_nodes, self.projection.shape[1])
        for rows, blocks in zip(row_blocks(num_nodes), self._read_blocks(outputs), strict=True):
            product = blocks[0] @ parts[0]
            for block, part in zip(blocks[1:], parts[1:], strict=True):
                product += block @ part
            vectors[rows] = product
            release_pages(vectors)
        return vectors

    def _popularity_of(self, num_neighbors: IntArray) -> NDArray[np.float64]:
        share: NDArray[np.float64] = np.minimum(np.log1p(num_neighbors) / np.log1p(self.max_neighbors), 1)
        return self.popularity * share

    def _read_blocks(self, outputs: Mapping[str, FloatArray]) -> Iterator[list[FloatArray]]:
        """Yield blocks of rows of each output, as weighted rows of unit length around its mean.

        All rows of an output share a direction, their mean, which says nothing about a node but makes all cosines
        large. A node of which an output says nothing stays at zero.
        """
        for rows in row_blocks(len(outputs[next(iter(self.weights))])):
            yield [_center(outputs[name][rows], self.means[name], weight) for name, weight in self.weights.items()]
            release_pages(*outputs.values())


def to_unit_rows(rows: FloatArray) -> FloatArray:
    """Return rows of unit length, in place; rows of zeros stay.

    Parameters
    ----------
    rows : ndarray of shape (num_nodes, channels)

    Returns
    -------
    ndarray of shape (num_nodes, channels)
    """
    for block in row_blocks(len(rows)):
        rows[block] = normalize(rows[block], copy=False)
        release_pages(rows)
    return rows


def _mean_unit_row(rows: FloatArray, team: Team) -> FloatArray:
    total, count = np.zeros(rows.shape[1]), np.array([len(rows)])
    for block in row_blocks(len(rows)):
        total += normalize(np.asarray(rows[block], np.float32)).sum(axis=0, dtype=np.float64)
        release_pages(rows)
    team.add_up(total)
    team.add_up(count)
    mean: FloatArray = (total / count).astype(np.float32)
    return mean


def _center(rows: FloatArray, mean: FloatArray, weight: float) -> FloatArray:
    centered = np.empty(rows.shape, np.float32)

    def center(begin: int, end: int) -> None:
        part = np.asarray(rows[begin:end], np.float32)
        difference = normalize(part)
        difference -= mean
        length = np.linalg.norm(difference, axis=1)
        # Rows that differ from the mean by rounding only say nothing either.
        says_something = part.any(axis=1) & (length > MIN_LENGTH)
        scale = np.divide(weight, length, where=says_something, out=np.zeros_like(length))
        np.multiply(difference, scale[:, None].astype(np.float32), out=centered[begin:end])

    run_in_parallel(center, len(rows))  # numpy lets other threads run
    return centered


def sum_products(blocks: Iterable[Sequence[FloatArray]]) -> NDArray[np.float64]:
    """Return the products of all columns, summed over blocks of rows.

    Parameters
    ----------
    blocks : iterable of sequences of ndarray of shape (n_rows, channels)
        For each block of rows, parts of its columns side by side.

    Returns
    -------
    ndarray of shape (num_channels, num_channels)
        The lower triangle; what is above it is not computed.
    """
    total = np.zeros((0, 0))
    for done, parts in enumerate(blocks):
        starts = np.cumsum([0, *(each.shape[1] for each in parts)])
        if not done:
            total = np.zeros((starts[-1], starts[-1]))
        for i, left in enumerate(parts):
            total[starts[i] : starts[i + 1], : starts[i + 1]] += np.concatenate(
                [left.T @ right for right in parts[: i + 1]], axis=1
            )
    return total


def principal_directions(gram: NDArray[np.float64], n_components: int, *, sharpness: float = 1.0) -> FloatArray:
    """Return the leading right singular vectors of a matrix.

    They are computed from the products of its columns, which are sums over nodes: see `sum_products`.

    Parameters
    ----------
    gram : ndarray of shape (num_channels, num_channels)
        Products of columns, of which the lower triangle is read.
    n_components : int
    sharpness : float, default=1.0
        Each direction is multiplied by its singular value, relative to the largest, to the power of this minus 1.

    Returns
    -------
    ndarray of shape (num_channels, min(n_components, num_channels))
        The largest entry of each column is positive. Columns beyond the rank of the matrix are zero.
    """
    size = min(n_components, len(gram))
    values, vectors = eigh(gram, subset_by_index=(len(gram) - size, len(gram) - 1))
    values, vectors = values[::-1], vectors[:, ::-1]
    # Directions without any variance are arbitrary, and would not be empty on another graph.
    vectors = np.where(values > np.finfo(np.float32).eps * len(gram) * values[0], vectors, 0)
    vectors *= (np.clip(values, 0, None) / max(values[0], np.finfo(np.float32).tiny)) ** ((sharpness - 1) / 2)
    vectors *= np.sign(vectors[np.argmax(np.abs(vectors), axis=0), np.arange(size)])
    directions: FloatArray = vectors.astype(np.float32)
    return directions
