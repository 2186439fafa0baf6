"""Poincaré embedding: nodes as points of the hyperbolic plane, close to their neighbors."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from graphprox._utils.arrays import IntArray
from graphprox._utils.numba_helpers import Float64Array, njit

BoolArray = NDArray[np.bool_]

N_COMPONENTS = 2
INITIAL_RANGE = 1e-3  # initial coordinates are between minus this and this
MAX_NORM = 1 - 1e-5  # at norm 1 all distances are infinite
BURN_IN_EPOCHS, BURN_IN_FACTOR = 10, 0.1  # a lower learning rate while points find their angle
BLOCK_SIZE = 512  # rows of the distance matrix that are in memory at a time


def poincare_embedding(
    edge_index: IntArray,
    num_nodes: int,
    *,
    random_state: int,
    epochs: int = 50,
    num_negatives: int = 10,
    learning_rate: float = 0.1,
) -> Float64Array:
    """Embed nodes in the Poincaré disk by Riemannian stochastic gradient descent.

    For each edge (u, v), in random order, v should be closer to u than random nodes without an edge to u.

    Parameters
    ----------
    edge_index : ndarray of shape (2, num_entries)
    num_nodes : int
    random_state : int
        Random seed.
    epochs : int, default=50
        Number of passes over the edges.
    num_negatives : int, default=10
        Number of random nodes for each edge.
    learning_rate : float, default=0.1

    Returns
    -------
    ndarray of shape (num_nodes, 2)
        Points of the unit disk.

    Examples
    --------
    >>> star = np.array([[0, 0, 0, 1, 2, 3], [1, 2, 3, 0, 0, 0]])
    >>> poincare_embedding(star, 4, random_state=0).shape
    (4, 2)
    """
    generator = np.random.default_rng(random_state)
    points = generator.uniform(-INITIAL_RANGE, INITIAL_RANGE, (num_nodes, N_COMPONENTS))
    source, target = (np.ascontiguousarray(ends) for ends in edge_index)
    edge_keys = np.sort(source * num_nodes + target)
    for epoch in range(epochs):
        order = generator.permutation(len(source))
        negatives = generator.integers(num_nodes, size=(len(source), num_negatives))
        negatives[_is_connected(source[order], negatives, edge_keys, num_nodes)] = -1
        factor = BURN_IN_FACTOR if epoch < BURN_IN_EPOCHS else 1.0
        _train_epoch(points, source[order], target[order], negatives, learning_rate * factor)
    return points


def _is_connected(source: IntArray, nodes: IntArray, edge_keys: IntArray, num_nodes: int) -> BoolArray:
    """Return whether each node, (num_entries, n_negatives), is its source or a neighbor of it."""
    keys = source[:, None] * num_nodes + nodes
    positions = np.minimum(np.searchsorted(edge_keys, keys), len(edge_keys) - 1)
    found: BoolArray = (edge_keys[positions] == keys) | (nodes == source[:, None])
    return found


# -- distances and their gradients ----------------------------------------------------------------------------------


@njit
def poincare_distance(a: Float64Array, b: Float64Array) -> float:
    """Return the hyperbolic distance of two points of the unit disk."""
    squared, room_a, room_b = 0.0, 1.0, 1.0  # |a - b|², 1 - |a|², 1 - |b|²
    for i in range(len(a)):
        squared += (a[i] - b[i]) ** 2
        room_a -= a[i] ** 2
        room_b -= b[i] ** 2
    return math.acosh(1 + 2 * squared / (room_a * room_b))


@njit
def add_distance_gradient(a: Float64Array, b: Float64Array, factor: float, gradient: Float64Array) -> None:
    """Add ``factor`` times the Riemannian gradient of the distance with respect to ``a`` to ``gradient``."""
    squared, room_a, room_b, inner = 0.0, 1.0, 1.0, 0.0
    for i in range(len(a)):
        squared += (a[i] - b[i]) ** 2
        room_a -= a[i] ** 2
        room_b -= b[i] ** 2
        inner += a[i] * b[i]
    excess = 2 * squared / (room_a * room_b)
    root = math.sqrt(excess * (excess + 2))
    if root == 0:
        return  # the gradient is undefined where both points are the same
    # The Euclidean gradient times the inverse of the metric, (1 - |a|²)² / 4.
    scale = factor / (room_b * root)
    for i in range(len(a)):
        gradient[i] += scale * ((2 - room_b - 2 * inner) * a[i] - room_a * b[i])


@njit
def _step(point: Float64Array, gradient: Float64Array, learning_rate: float) -> None:
    """Move a point against the gradient, and project it back into the disk."""
    square = 0.0
    for i in range(len(point)):
        point[i] -= learning_rate * gradient[i]
        square += point[i] ** 2
    if square > MAX_NORM**2:
        for i in range(len(point)):
            point[i] *= MAX_NORM / math.sqrt(square)


@njit
def _train_epoch(
    points: Float64Array, source: IntArray, target: IntArray, negatives: IntArray, learning_rate: float
) -> None:
    """Take a step for each edge on the cross-entropy of softmax(-distance) over target and negatives; -1 means none."""
    channels, candidates = points.shape[1], negatives.shape[1] + 1
    weights, gradients = np.empty(candidates), np.empty((candidates + 1, channels))
    for edge in range(len(source)):
        here = points[source[edge]]
        total = 0.0
        for i in range(candidates):
            node = target[edge] if i == 0 else negatives[edge, i - 1]
            weights[i] = math.exp(-poincare_distance(here, points[node])) if node >= 0 else 0.0
            total += weights[i]
        gradients[:] = 0
        for i in range(candidates):
            node = target[edge] if i == 0 else negatives[edge, i - 1]
            if node >= 0:
                factor = (1.0 if i == 0 else 0.0) - weights[i] / total
                add_distance_gradient(here, points[node], factor, gradients[candidates])
                add_distance_gradient(points[node], here, factor, gradients[i])
        _step(here, gradients[candidates], learning_rate)
        for i in range(candidates):
            node = target[edge] if i == 0 else negatives[edge, i - 1]
            if node >= 0:
                _step(points[node], gradients[i], learning_rate)


# -- nearest pairs --------------------------------------------------------------------------------------------------


def find_nearest_pairs(points: Float64Array, count: int) -> IntArray:
    """Find the pairs of points with the smallest hyperbolic distance.

    Parameters
    ----------
    points : ndarray of shape (num_nodes, 2)
    count : int
        Number of pairs.

    Returns
    -------
    ndarray of shape (2, count)
        The smaller node of each pair first.
    """
    if count == 0:
        return np.empty((2, 0), np.int64)
    inverse = 1 / (1 - (points**2).sum(axis=1))
    keys, values = np.empty(0, np.int64), np.empty(0)
    bound = np.inf
    for first in range(0, len(points), BLOCK_SIZE):
        part, rest = points[first : first + BLOCK_SIZE], points[first:]
        # The distance is an increasing function of this.
        separation = sum(np.subtract.outer(part[:, i], rest[:, i]) ** 2 for i in range(N_COMPONENTS))
        separation *= inverse[first : first + BLOCK_SIZE, None]
        separation *= inverse[first:]
        row, column = np.nonzero(np.triu(separation <= bound, 1))  # each pair once
        keys = np.concatenate([keys, (row + first) * len(points) + column + first])
        values = np.concatenate([values, separation[row, column]])
        if len(values) > count:
            kept = np.argpartition(values, count - 1)[:count]
            keys, values = keys[kept], values[kept]
            bound = values.max()
    return np.stack(np.divmod(np.sort(keys), len(points)))
