"""Features as the default method reads them: weighted columns, and their leading singular directions, sharpened.

Two facts about features hold on every graph that was measured. A column that many nodes share says little about any of
them, which is why information retrieval weights words by their inverse document frequency. And the leading singular
directions of the features, which many columns agree on, say more about a node than the others: they are emphasized.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.preprocessing import normalize
from sklearn.utils.extmath import randomized_svd

from graphprox._utils.arrays import Features, FloatArray
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

        Returns
        -------
        Preparation
        """
        weights, center = None, None
        if weighted and is_bag_of_words(x):
            weights = column_weights(x)
        elif centered and is_dense(x):
            weights, center = limit_scales(x)
            weights = weights if limited else np.ones_like(weights)
        rows = _to_rows(x, weights, center)
        _, values, right = randomized_svd(
            rows, min(max_directions, *rows.shape), n_iter=4, random_state=random_state % 2**32, flip_sign=True
        )
        exponent = choose_sharpness(x.shape[0]) if sharpness is None else sharpness
        scale = (values / max(values[0], np.finfo(np.float32).tiny)) ** (exponent - 1)
        counted = _density(x) <= MAX_DENSITY
        sizes = _row_sizes(x, weights, center, counted=counted)
        typical = float(np.median(sizes[sizes > 0])) if sizes.any() else 1.0
        return cls(weights, center, np.ascontiguousarray(right.T * scale, dtype=np.float32), counted, typical)

    def transform(self, x: Features) -> FloatArray:
        """Project a matrix with the same columns.

        Parameters
        ----------
        x : ndarray or csr_array of shape (num_nodes, num_features)

        Returns
        -------
        ndarray of shape (num_nodes, num_directions)
            Rows have unit length, or are zero where a node has no features.
        """
        projected = _to_rows(x, self.weights, self.center) @ self.directions
        rows: FloatArray = normalize(np.asarray(projected, dtype=np.float32))
        return rows

    def relative_sizes(self, x: Features) -> FloatArray:
        """Return the size of each row, divided by that of a typical row of the fitted matrix.

        Parameters
        ----------
        x : ndarray or csr_array of shape (num_nodes, num_features)

        Returns
        -------
        ndarray of shape (num_nodes,)
            The number of nonzero entries, or the length of the row if the fitted matrix is not sparse: around the mean
            if it is dense.

        Examples
        --------
        >>> x = np.array([[3.0, 4.0], [0.0, 1.0], [0.0, 5.0]])
        >>> Preparation.fit(x, random_state=0, centered=False).relative_sizes(x)
        array([1. , 0.2, 1. ], dtype=float32)
        """
        sizes = _row_sizes(x, self.weights, self.center, counted=self.counted) / self.typical_size
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
    values = x.data if isinstance(x, sp.csr_array) else x
    return bool(np.any(values)) and _density(x) <= MAX_DENSITY and _has_counts(x)


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
    counts, num_nodes = count_nonzero_rows(x), x.shape[0]
    rarity: FloatArray = np.log((num_nodes + PRIOR_COUNT) / (counts + PRIOR_COUNT)).astype(np.float32)
    return rarity ** np.float32(num_nodes / (num_nodes + FEW_NODES))


def limit_scales(x: Features) -> tuple[FloatArray, FloatArray]:
    """Return what makes the columns of a dense matrix comparable: a factor and the mean of each.

    Columns of a table, which have different units, are standardized before, see `graphprox.preprocessing.Scaling`. In
    learned vectors and principal components differences of scale mean something, as narrow columns are noise: only
    columns that are much wider than others are reduced.

    Parameters
    ----------
    x : ndarray or csr_array of shape (num_nodes, num_features)

    Returns
    -------
    tuple of two ndarrays of shape (num_features,)
        A deviation above three times the eleventh largest, or the median of fewer than twenty, is reduced to that.

    Examples
    --------
    >>> limit_scales(np.array([[1.0, 3.0, 1.0, 60.0], [3.0, 1.0, 3.0, 0.0]]))
    (array([1. , 1. , 1. , 0.1], dtype=float32), array([ 2.,  2.,  2., 30.], dtype=float32))
    """
    dense = _to_dense(x)
    deviation = dense.std(axis=0)
    widest = np.sort(deviation[deviation > 0])[::-1]
    if not len(widest):
        limit = np.zeros_like(deviation)
    else:
        typical = widest[min(len(widest) // 2, MAX_WIDE)]
        limit = np.minimum(deviation / typical, MAX_SCALE)
    factors = np.divide(limit, deviation, where=deviation > 0, out=np.ones_like(deviation))
    return factors.astype(np.float32), dense.mean(axis=0).astype(np.float32)


def _has_counts(x: Features) -> bool:
    """Return whether all entries are non-negative integers."""
    values = x.data if isinstance(x, sp.csr_array) else x
    return not values.size or bool(values.min() >= 0 and np.array_equal(values, np.round(values)))


def _density(x: Features) -> float:
    """Return the share of nonzero entries."""
    values = x.data if isinstance(x, sp.csr_array) else x
    return float(np.count_nonzero(values) / max(np.prod(x.shape, dtype=float), 1.0))


def _to_dense(x: Features) -> NDArray[np.float64]:
    return np.asarray(x if isinstance(x, np.ndarray) else x.toarray(), dtype=np.float64)


def _row_sizes(
    x: Features, weights: FloatArray | None, center: FloatArray | None, *, counted: bool
) -> NDArray[np.float64]:
    """Return the number of nonzero entries of each row, or its length, around the mean if there is one."""
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
        x = np.log1p(x) * weights if isinstance(x, np.ndarray) else sp.csr_array(x.log1p() @ sp.diags_array(weights))
    rows: Features = normalize(x.astype(np.float64)).astype(np.float32)
    return rows


def _center(x: Features, weights: FloatArray, center: FloatArray) -> NDArray[np.float64]:
    """Return centered and weighted columns. A node without any features stays one."""
    dense = np.array(_to_dense(x))
    present = dense.any(axis=1)
    dense -= center
    dense *= weights
    dense[~present] = 0
    return dense
