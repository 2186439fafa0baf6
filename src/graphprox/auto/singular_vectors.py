"""Leading right singular vectors, of one block of rows or of many that are never side by side.

The algorithm is that of Halko et al. with the power iterations of scikit-learn. Of many blocks, the tall factor of each
iteration is not kept: a block of rows is multiplied by the small factor and, transposed, by the result at once. What
takes memory is a matrix of a row for each column.

Rows can be divided among processes, which add up the products of columns. The neighbors of each node have as many
columns as rows, which are then divided, too.

References
----------
Halko et al., Finding structure with randomness: Probabilistic algorithms for constructing approximate matrix
decompositions, SIAM Review 2011.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import eigh
from sklearn.utils.extmath import randomized_svd

from graphprox._utils.arrays import Features, FloatArray
from graphprox._utils.mapped import release_pages
from graphprox._utils.team import ALONE, Team
from graphprox.auto.exchange import gather_rows, take_first, to_columns, to_rows
from graphprox.auto.row_store import Panels, RowStore, column_panels, own_blocks, row_blocks
from graphprox.auto.sparse_products import add_transposed_product, multiply_sparse, sum_over_neighbors

ITERATIONS = 4
OVERSAMPLING = 10  # columns beyond those that are asked for

Doubles = NDArray[np.float64]
Precision: TypeAlias = type[np.float32] | type[np.float64]


class Operand(Protocol):
    """A matrix by its products; M is the matrix below."""

    @property
    def team(self) -> Team:
        """Processes that the rows of M are divided among."""

    @property
    def column_team(self) -> Team:
        """Processes that matrices with a row for each column of M are divided among, as those below."""

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""

    def whole(self) -> Features | None:
        """Return the matrix, if it is computed as one block, by each process."""

    def multiply(self, columns: FloatArray) -> Iterator[FloatArray]:
        """Yield blocks of the own rows of M times some columns."""

    def multiply_gram(self, columns: NDArray[Any]) -> NDArray[Any]:
        """Return the transpose of M times M times some columns, in their precision."""


@dataclass(frozen=True, eq=False)
class BlockedRows:
    """A matrix whose rows are computed when they are needed.

    Parameters
    ----------
    shape : tuple of int
    read : callable
        Returns a block of rows, dense or sparse.
    team : Team, optional
        Processes that rows are divided among; by default this one has all. Each has all columns.
    """

    shape: tuple[int, int]
    read: Callable[[slice], Features]
    team: Team = ALONE
    column_team: ClassVar[Team] = ALONE

    def whole(self) -> Features | None:
        """Return the matrix, if it is one block; of several processes, only one with more columns than rows."""
        blocks, is_wide = row_blocks(self.shape[0]), self.shape[0] < self.shape[1]
        return self.read(blocks[0]) if len(blocks) == 1 and (self.team.size == 1 or is_wide) else None

    def multiply(self, columns: FloatArray) -> Iterator[FloatArray]:
        """Yield blocks of the own rows of the matrix times some columns."""
        for rows in own_blocks(self.shape[0], self.team):
            yield _multiply(self.read(rows), columns)

    def multiply_gram(self, columns: NDArray[Any]) -> NDArray[Any]:
        """Return the transposed matrix times the matrix times some columns."""
        total = np.zeros((self.shape[1], columns.shape[1]))
        for rows in own_blocks(self.shape[0], self.team):
            block = self.read(rows)
            product = _multiply(block, columns)
            if isinstance(block, sp.csr_array):
                add_transposed_product(block, product, total)
            else:
                total += block.T @ product
        self.team.add_up(total)
        return total.astype(columns.dtype)


def _multiply(block: Features, columns: NDArray[Any]) -> NDArray[Any]:
    return multiply_sparse(block, columns) if isinstance(block, sp.csr_array) else block @ columns


@dataclass(frozen=True, eq=False)
class NeighborRows:
    """The neighbors of each node as its words: D A W, where A is symmetric and its entries are ones.

    Parameters
    ----------
    neighbors : csr_array of shape (num_nodes, num_nodes)
        Its pattern is A; the values are not read.
    lengths : ndarray of shape (num_nodes,)
        The diagonal of D: one divided by the length of each row of A W.
    weights : ndarray of shape (num_nodes,)
        The diagonal of W: the weight of each column.
    team : Team, optional
        Processes that rows are divided among; by default this one has all. Each has all neighbors.
    """

    neighbors: sp.csr_array
    lengths: FloatArray
    weights: FloatArray
    team: Team = ALONE

    @property
    def column_team(self) -> Team:
        """The same processes, as columns are nodes, too."""
        return self.team

    @property
    def shape(self) -> tuple[int, int]:
        """Number of nodes, twice."""
        return len(self.lengths), len(self.lengths)

    def whole(self) -> Features | None:
        """Return None: a graph of one block is a sparse matrix."""
        return None

    def product(self, columns: FloatArray) -> FloatArray:
        """Return the matrix times some columns, both with all rows."""
        return sum_over_neighbors(self.neighbors, self.lengths, columns * self.weights[:, None])

    def multiply(self, columns: FloatArray) -> Iterator[FloatArray]:
        """Yield the own rows of the matrix times some columns."""
        product = self.product(to_columns(self.team, columns, len(self.lengths)))
        yield to_rows(self.team, product, columns.shape[1])

    def multiply_gram(self, columns: NDArray[Any]) -> NDArray[Any]:
        """Return the own rows of the transposed matrix times the matrix times some columns."""
        weighted = to_columns(self.team, columns, len(self.lengths)) * self.weights[:, None]
        once = sum_over_neighbors(self.neighbors, self.lengths**2, weighted)
        del weighted
        return to_rows(self.team, sum_over_neighbors(self.neighbors, self.weights, once), columns.shape[1])


def right_singular_vectors(
    matrix: Operand, size: int, *, random_state: int, store: RowStore | None = None
) -> tuple[Doubles, FloatArray]:
    """Return the leading singular values and right singular vectors.

    Parameters
    ----------
    matrix : Operand
    size : int
        Number of vectors, at most the number of columns and of rows.
    random_state : int
    store : RowStore, optional
        Where vectors of many columns are kept.

    Returns
    -------
    tuple of ndarray of shape (size,) and ndarray of shape (num_columns, size)
        Signs are such that the largest entry of each left singular vector is positive. If columns are divided among
        processes, the rows of this one.
    """
    seed = random_state % 2**32
    whole = matrix.whole()
    if whole is not None:
        _, values, right = randomized_svd(whole, size, n_iter=ITERATIONS, random_state=seed, flip_sign=True)
        return values, right.T
    num_columns, team = matrix.shape[1], matrix.column_team
    store = store or RowStore(team=team)
    own = team.rows(num_columns)
    right = store.empty(own.stop - own.start, size)
    if size + OVERSAMPLING >= num_columns:  # all directions: the products of all columns are small
        identity = np.eye(num_columns)
        squares, vectors = _eigen(gather_rows(team, matrix.multiply_gram(identity[own]), identity), matrix.team)
        right[:] = vectors[own, :size]
        _flip_signs(matrix, right, [slice(0, size)])
        return np.sqrt(squares[:size]), right
    z = _draw(num_columns, size + OVERSAMPLING, seed, store)
    # Random columns all lean towards the first singular vectors, and what distinguishes them is small: the squares of
    # squares of the last singular values. Afterwards they are nearly orthogonal, and single precision is enough.
    precision: Precision = np.float64
    for _ in range(ITERATIONS):
        w = _multiply_gram(matrix, z, store)
        scale, rotation = _eigen(_inner_products(w, w, precision, team), matrix.team)
        _rotate(w, rotation * _invert(np.sqrt(scale)), z, precision)
        precision = np.float32
    # With Y = M Z and W = M'Y: Q = Y G^(-1/2) is orthonormal if G = Y'Y = Z'W, and M is near Q Q'M = Q G^(-1/2) W'.
    w = _multiply_gram(matrix, z, store)
    scale, rotation = _eigen(_inner_products(z, w, precision, team), matrix.team)
    root = (rotation * _invert(np.sqrt(scale))) @ rotation.T
    squares, rotation = _eigen(root @ _inner_products(w, w, precision, team) @ root, matrix.team)
    values = np.sqrt(squares[:size])
    _rotate(w, root @ rotation[:, :size] * _invert(values), Panels([right]), precision)
    _flip_signs(matrix, right, column_panels(num_columns, size, team.size))
    return values, right


def _draw(num_columns: int, size: int, seed: int, store: RowStore) -> Panels:
    """Return the own rows of random columns, the same as scikit-learn's."""
    own = store.own_rows(num_columns)
    panels, rng = store.panels(num_columns, size), np.random.RandomState(seed)
    for rows in row_blocks(num_columns):
        drawn = rng.normal(size=(rows.stop - rows.start, size)).astype(np.float32)
        first, last = max(rows.start, own.start), min(rows.stop, own.stop)
        if first < last:
            panels.write(slice(first - own.start, last - own.start), drawn[first - rows.start : last - rows.start])
    return panels


def _multiply_gram(matrix: Operand, z: Panels, store: RowStore) -> Panels:
    is_whole = len(z.parts) == 1
    w = Panels([np.empty_like(z.parts[0])]) if is_whole else store.panels(matrix.shape[1], z.shape[1])
    for given, out in zip(z.parts, w.parts, strict=True):
        out[:] = matrix.multiply_gram(np.array(given))
        release_pages(given, out)
    return w


def _inner_products(left: Panels, right: Panels, precision: Precision, team: Team) -> Doubles:
    total = np.zeros((left.shape[1], right.shape[1]))
    for rows in row_blocks(left.shape[0]):
        one: NDArray[Any] = left.read(rows).astype(precision, copy=False)
        other: NDArray[Any] = one if right is left else right.read(rows).astype(precision, copy=False)
        total += one.T @ other
    team.add_up(total)
    return (total + total.T) / 2


def _rotate(given: Panels, rotation: Doubles, out: Panels, precision: Precision) -> None:
    factor: NDArray[Any] = rotation.astype(precision)
    for rows in row_blocks(given.shape[0]):
        block: NDArray[Any] = given.read(rows).astype(precision, copy=False)
        out.write(rows, (block @ factor).astype(np.float32, copy=False))


def _eigen(matrix: Doubles, team: Team) -> tuple[Doubles, Doubles]:
    """Return eigenvalues, largest first, those of rounding zero; and eigenvectors: those of the first process."""
    values, vectors = eigh(matrix)
    values, vectors = take_first(team, values[::-1]), take_first(team, vectors[:, ::-1])
    return np.where(values > np.finfo(np.float64).eps * len(values) * values[0], values, 0), vectors


def _invert(values: Doubles) -> Doubles:
    return np.divide(1.0, values, where=values > 0, out=np.zeros_like(values))


def _flip_signs(matrix: Operand, right: FloatArray, panels: Sequence[slice]) -> None:
    """Change signs in place, so that the largest entry of each column of the product is positive."""
    for columns in panels:
        chosen = np.array(right[:, columns])
        release_pages(right)
        largest = np.zeros(chosen.shape[1], np.float32)
        for block in matrix.multiply(chosen):
            found = block[np.abs(block).argmax(axis=0), np.arange(chosen.shape[1])]
            largest = np.where(np.abs(found) > np.abs(largest), found, largest)
        largest = _largest_of_all(matrix.team, largest)
        right[:, columns] *= np.where(largest < 0, -1, 1).astype(np.float32)
        release_pages(right)


def _largest_of_all(team: Team, largest: FloatArray) -> FloatArray:
    """Return the entry of largest size of any process, for each column."""
    everyone = np.zeros((team.size, len(largest)), largest.dtype)
    everyone[team.rank] = largest
    team.add_up(everyone)
    chosen: FloatArray = everyone[np.abs(everyone).argmax(axis=0), np.arange(len(largest))]
    return chosen
