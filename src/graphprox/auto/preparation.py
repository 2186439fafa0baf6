"""Features as the default method reads them: weighted columns, and their leading singular directions, sharpened.

Two facts about features hold on every graph that was measured. A column that many nodes share says little about any of
them, which is why information retrieval weights words by their inverse document frequency. And the leading singular
directions of the features, which many columns agree on, say more about a node than the others: they are emphasized.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.preprocessing import normalize

from graphprox._utils.arrays import Features, FloatArray
from graphprox._utils.mapped import is_mapped, release_pages
from graphprox._utils.team import ALONE, Team
from graphprox.auto.exchange import gather_rows, take_first
from graphprox.auto.row_store import RowStore, own_blocks, row_blocks
from graphprox.auto.singular_vectors import BlockedRows, Doubles, right_singular_vectors
from graphprox.graph.structural import count_nonzero_rows

MAX_DIRECTIONS = 256
SHARPNESS = 1.5  # exponent of the singular values in a large graph; 1 keeps the features as they are
FEW_SHARPNESS = 2.0  # in a small one, where fewer directions can be trusted
PRIOR_COUNT = 20  # nodes added to all counts, so that a word of two nodes of two hundred is not taken for a rare one
FEW_NODES = 300  # of which half of the evidence is believed
MAX_DENSITY = 0.25  # of a matrix that is taken for a bag of words
MAX_INTEGER_DENSITY = 0.5  # of counts whose columns are not centered
MAX_SCALE = 3.0  # standard deviation of a dense column, relative to that of a column which is not too wide
MAX_WIDE = 10  # columns that may be too wide, or half of fewer than twenty


@dataclass(frozen=True, eq=False)
class Preparation:
    """Weights of the columns and singular directions of one feature matrix, applicable to others.

    Parameters
    ----------
    weights : ndarray of shape (num_features,) or None
        Weight of each column: its inverse document frequency in a bag of words, what makes columns of a dense matrix
        comparable, None in any other.
    center : ndarray of shape (num_features,) or None
        Mean of each column of a dense matrix.
    directions : ndarray of shape (num_features, num_directions)
        Leading right singular vectors, each times a power of its singular value.
    counted : bool
        Whether the size of a row is its number of nonzero entries, rather than its length.
    typical_size : float
        Median size of a row.

    Examples
    --------
    >>> from graphprox import synthetic
    >>> x = synthetic(nodes=140).x
    >>> Preparation.fit(x, random_state=0).transform(x).shape
    (140, 32)
    """

    weights: FloatArray | None
    center: FloatArray | None
    directions: FloatArray
    counted: bool
    typical_size: float

    @classmethod
    def fit(
        cls,
        x: Features,
        *,
        random_state: int,
        max_directions: int = MAX_DIRECTIONS,
        sharpness: float | None = None,
        weighted: bool = True,
        centered: bool = True,
        limited: bool = True,
        team: Team = ALONE,
    ) -> Preparation:
        """Compute weights and directions.

        Parameters
        ----------
        x : ndarray or csr_array of shape (num_nodes, num_features)
        random_state : int
            Random seed of the singular vectors, which are computed by the algorithm of Halko et al.
        max_directions : int, default=256
            Largest number of directions.
        sharpness : float or None, default=None
            Exponent of the singular values; 1 keeps the features as they are. None for `choose_sharpness`.
        weighted : bool, default=True
            Whether columns of a bag of words are weighted.
        centered : bool, default=True
            Whether columns of a dense matrix are centered.
        limited : bool, default=True
            Whether columns of a dense matrix that are much wider than others are reduced, see `limit_scales`.
        team : Team, optional
            Processes that add up sums over their rows, each of which has the whole matrix and the same result; by
            default this one alone.

        Returns
        -------
        Preparation
        """
        weights, center = None, None
        if weighted and is_bag_of_words(x):
            weights = column_weights(x)
        elif centered and is_dense(x):
            weights, center = limit_scales(x, team)
            weights = weights if limited else np.ones_like(weights)
        shape = int(x.shape[0]), int(x.shape[1])
        rows = BlockedRows(shape, lambda block: _to_rows(_read(x, block), weights, center), team)
        values, right = right_singular_vectors(rows, min(max_directions, *shape), random_state=random_state)
        counted = _density(x) <= MAX_DENSITY
        sizes = _row_sizes(x, weights, center, counted=counted, team=team)
        if team.size > 1:
            sizes = gather_rows(team, sizes, np.empty(shape[0]))
        directions = take_first(team, sharpen(values, right, shape[0], sharpness))
        return cls(weights, center, directions, counted, typical_size(sizes))

    def transform(self, x: Features, store: RowStore | None = None) -> FloatArray:
        """Project a matrix with the same columns.

        Parameters
        ----------
        x : ndarray or csr_array of shape (num_nodes, num_features)
        store : RowStore, optional
            Where the rows are kept; in memory by default.

        Returns
        -------
        ndarray of shape (num_nodes, num_directions)
            Rows have unit length, or are zero where a node has no features. Those that the store keeps.
        """
        store = store or RowStore()
        own = store.own_rows(x.shape[0])
        rows = store.empty(own.stop - own.start, self.directions.shape[1])
        for block in own_blocks(x.shape[0], store.team):
            projected = _to_rows(_read(x, block), self.weights, self.center) @ self.directions
            projected = normalize(np.asarray(projected, dtype=np.float32), copy=False)
            rows[block.start - own.start : block.stop - own.start] = projected
            release_pages(rows)
        return rows

    def relative_sizes(self, x: Features, team: Team = ALONE) -> FloatArray:
        """Return the size of each row, divided by that of a typical row of the fitted matrix.

        Parameters
        ----------
        x : ndarray or csr_array of shape (num_nodes, num_features)
        team : Team, optional
            Processes that rows are divided among; by default this one has all.

        Returns
        -------
        ndarray of shape (num_nodes,)
            The number of nonzero entries, or the length of the row if the fitted matrix is not sparse: around the mean
            if it is dense. If rows are divided, those of this process.

        Examples
        --------
        >>> x = np.array([[3.0, 4.0], [0.0, 1.0], [0.0, 5.0]])
        >>> Preparation.fit(x, random_state=0, centered=False).relative_sizes(x)
        array([1. , 0.2, 1. ], dtype=float32)
        """
        sizes = _row_sizes(x, self.weights, self.center, counted=self.counted, team=team) / self.typical_size
        return sizes.astype(np.float32)


def choose_sharpness(num_nodes: int) -> float:
    """Return the exponent of the singular values: 1.5 in a large graph, up to 2 in a small one.

    Parameters
    ----------
    num_nodes : int

    Returns
    -------
    float

    Examples
    --------
    >>> choose_sharpness(300), round(choose_sharpness(100_000), 2)
    (1.75, 1.5)
    """
    return SHARPNESS + (FEW_SHARPNESS - SHARPNESS) * FEW_NODES / (num_nodes + FEW_NODES)


def is_dense(x: Features) -> bool:
    """Return whether a matrix has too many nonzero entries to be taken for words or other rare things.

    Parameters
    ----------
    x : ndarray or csr_array of shape (num_nodes, num_features)

    Returns
    -------
    bool
        Whether more than a quarter of its entries are nonzero, or more than half if all are non-negative integers.

    Examples
    --------
    >>> is_dense(np.eye(3)), is_dense(np.eye(3) / 2)
    (False, True)
    """
    return _density(x) > (MAX_INTEGER_DENSITY if _has_counts(x) else MAX_DENSITY)


def is_bag_of_words(x: Features) -> bool:
    """Return whether a matrix looks like counts of words or of other rare things.

    Parameters
    ----------
    x : ndarray or csr_array of shape (num_nodes, num_features)

    Returns
    -------
    bool
        Whether all entries are non-negative integers, and at most a quarter of them are nonzero.

    Examples
    --------
    >>> is_bag_of_words(np.eye(5, dtype=np.float32)), is_bag_of_words(np.array([[0.5, 0, 0, 0, 0]]))
    (True, False)
    """
    return 0 < _density(x) <= MAX_DENSITY and _has_counts(x)


def column_weights(x: Features) -> FloatArray:
    """Return the weight of each column: its inverse document frequency, less pronounced in a small graph.

    It is log((n + a) / (df + a)) to the power of n / (n + b), with a = 20 and b = 300: which words are rare in general
    cannot be known from two hundred nodes.

    Parameters
    ----------
    x : ndarray or csr_array of shape (num_nodes, num_features)

    Returns
    -------
    ndarray of shape (num_features,)
    """
    return weigh_counts(count_nonzero_rows(x), x.shape[0])


def weigh_counts(counts: NDArray[Any], num_nodes: int) -> FloatArray:
    """Return the weights of columns that so many nodes have an entry in, as `column_weights` does.

    Parameters
    ----------
    counts : ndarray of shape (num_features,)
    num_nodes : int

    Returns
    -------
    ndarray of shape (num_features,)
    """
    rarity: FloatArray = np.log((num_nodes + PRIOR_COUNT) / (counts + PRIOR_COUNT)).astype(np.float32)
    return rarity ** np.float32(num_nodes / (num_nodes + FEW_NODES))


def limit_scales(x: Features, team: Team = ALONE) -> tuple[FloatArray, FloatArray]:
    """Return what makes the columns of a dense matrix comparable: a factor and the mean of each.

    Columns of a table, which have different units, are standardized before, see `graphprox.preprocessing.Scaling`. In
    learned vectors and principal components differences of scale mean something, as narrow columns are noise: only
    columns that are much wider than others are reduced.

    Parameters
    ----------
    x : ndarray or csr_array of shape (num_nodes, num_features)
    team : Team, optional
        Processes that add up sums over their rows; by default this one alone.

    Returns
    -------
    tuple of two ndarrays of shape (num_features,)
        A deviation above three times the eleventh largest, or the median of fewer than twenty, is reduced to that.

    Examples
    --------
    >>> limit_scales(np.array([[1.0, 3.0, 1.0, 60.0], [3.0, 1.0, 3.0, 0.0]]))
    (array([1. , 1. , 1. , 0.1], dtype=float32), array([ 2.,  2.,  2., 30.], dtype=float32))
    """
    mean, deviation = _column_moments(x, team)
    widest = np.sort(deviation[deviation > 0])[::-1]
    if not len(widest):
        limit = np.zeros_like(deviation)
    else:
        typical = widest[min(len(widest) // 2, MAX_WIDE)]
        limit = np.minimum(deviation / typical, MAX_SCALE)
    factors = np.divide(limit, deviation, where=deviation > 0, out=np.ones_like(deviation))
    return factors.astype(np.float32), mean.astype(np.float32)


def sharpen(values: Doubles, right: FloatArray, num_nodes: int, sharpness: float | None = None) -> FloatArray:
    """Multiply singular vectors by a power of their singular values, relative to the largest.

    Parameters
    ----------
    values : ndarray of shape (num_directions,)
    right : ndarray of shape (num_columns, num_directions)
    num_nodes : int
    sharpness : float or None, default=None
        Exponent; 1 keeps the vectors as they are. None for `choose_sharpness`.

    Returns
    -------
    ndarray of shape (num_columns, num_directions)
    """
    exponent = choose_sharpness(num_nodes) if sharpness is None else sharpness
    scale = (values / max(values[0], np.finfo(np.float32).tiny)) ** (exponent - 1)
    if is_mapped(right):
        for block in row_blocks(len(right)):
            right[block] = right[block] * scale
            release_pages(right)
        return right
    return np.ascontiguousarray(right * scale, dtype=np.float32)


def typical_size(sizes: Doubles) -> float:
    """Return the median of the sizes above zero, or 1 if there are none.

    Parameters
    ----------
    sizes : ndarray of shape (num_nodes,)

    Returns
    -------
    float
    """
    return float(np.median(sizes[sizes > 0])) if sizes.any() else 1.0


def _read(x: Features, rows: slice) -> Features:
    """Return some rows; a matrix itself if these are all of them."""
    if rows == slice(0, x.shape[0]):
        return x
    block: Features = x[rows]
    if isinstance(block, np.ndarray) and is_mapped(block):
        block = np.array(block)
        release_pages(x)
    return block


def _value_blocks(x: Features) -> Iterator[NDArray[Any]]:
    """Yield the stored values, a block at a time."""
    values = x.data if isinstance(x, sp.csr_array) else x
    for rows in row_blocks(len(values)):
        yield values[rows]
        release_pages(values)


def _has_counts(x: Features) -> bool:
    """Return whether all entries are non-negative integers."""
    return all(not each.size or (each.min() >= 0 and np.array_equal(each, np.round(each))) for each in _value_blocks(x))


def _density(x: Features) -> float:
    """Return the share of nonzero entries."""
    count = sum(np.count_nonzero(each) for each in _value_blocks(x))
    return float(count / max(np.prod(x.shape, dtype=float), 1.0))


def _to_dense(x: Features) -> Doubles:
    return np.asarray(x if isinstance(x, np.ndarray) else x.toarray(), dtype=np.float64)


def _column_moments(x: Features, team: Team) -> tuple[Doubles, Doubles]:
    """Return the mean and the standard deviation of each column."""
    blocks = own_blocks(x.shape[0], team)
    if len(blocks) == 1 and team.size == 1:
        dense = _to_dense(x)
        return dense.mean(axis=0), dense.std(axis=0)
    total = sum((_to_dense(_read(x, each)).sum(axis=0) for each in blocks), np.zeros(x.shape[1]))
    team.add_up(total)
    mean = total / x.shape[0]
    squares = sum((np.square(_to_dense(_read(x, each)) - mean).sum(axis=0) for each in blocks), np.zeros(x.shape[1]))
    team.add_up(squares)
    return mean, np.sqrt(squares / x.shape[0])


def _row_sizes(
    x: Features, weights: FloatArray | None, center: FloatArray | None, *, counted: bool, team: Team
) -> Doubles:
    """Return the number of nonzero entries of each own row, or its length, around the mean if there is one."""
    blocks = own_blocks(x.shape[0], team)
    return np.concatenate([_block_sizes(_read(x, rows), weights, center, counted=counted) for rows in blocks])


def _block_sizes(x: Features, weights: FloatArray | None, center: FloatArray | None, *, counted: bool) -> Doubles:
    if not counted and center is not None and weights is not None:
        return np.asarray(np.linalg.norm(_center(x, weights, center), axis=1))
    matrix = sp.csr_array(x.astype(np.float64))
    sizes = matrix.count_nonzero(axis=1) if counted else np.sqrt(matrix.multiply(matrix).sum(axis=1))
    return np.asarray(sizes, dtype=np.float64).ravel()


def _to_rows(x: Features, weights: FloatArray | None, center: FloatArray | None = None) -> Features:
    """Return unit rows; those of a bag of words are weighted logarithms of its counts, dense ones are centered."""
    # In single precision, squares of very small or very large numbers are zero or infinite.
    if center is not None and weights is not None:
        return np.asarray(normalize(_center(x, weights, center), copy=False), dtype=np.float32)
    if weights is not None:
        x = np.log1p(x) * weights if isinstance(x, np.ndarray) else _weight_words(x, weights)
    rows: Features = normalize(x.astype(np.float64), copy=False).astype(np.float32)
    return rows


def _weight_words(x: sp.csr_array, weights: FloatArray) -> sp.csr_array:
    return sp.csr_array((np.log1p(x.data) * weights[x.indices], x.indices, x.indptr), shape=x.shape)


def _center(x: Features, weights: FloatArray, center: FloatArray) -> Doubles:
    """Return centered and weighted columns. A node without any features stays one."""
    dense = np.array(x if isinstance(x, np.ndarray) else x.toarray(), dtype=np.float64)
    present = dense.any(axis=1)
    dense -= center
    dense *= weights
    dense[~present] = 0
    return dense
