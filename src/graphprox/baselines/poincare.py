"""Poincaré embedding: nodes as points of the hyperbolic plane, neighbours near each other, hubs near the middle."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from graphprox.arrays import IntArray
from graphprox.proximity.compiled import Float64Array, compiled

Bools = NDArray[np.bool_]

WIDTH = 2
START = 1e-3  # points begin within this square around the middle
RIM = 1 - 1e-5  # how far from the middle a point may get: at 1 all distances are infinite
BURN_IN, BURN_IN_RATE = 10, 0.1  # epochs at a lower rate, while points find their angle
BLOCK = 512  # rows of the distances that are in memory at once


def poincare_embedding(
    edge_index: IntArray,
    num_nodes: int,
    *,
    seed: int,
    epochs: int = 50,
    negatives: int = 10,
    learning_rate: float = 0.1,
) -> Float64Array:
    """A point of the unit disk for each node, (nodes, 2), by Riemannian gradient descent.

    For each edge (u, v) of ``edge_index`` (2, entries), in an order drawn anew each epoch, v is to be nearer to u than
    ``negatives`` drawn nodes that u has no edge to.

    >>> star = np.array([[0, 0, 0, 1, 2, 3], [1, 2, 3, 0, 0, 0]])
    >>> poincare_embedding(star, 4, seed=0).shape
    (4, 2)
    """
    rng = np.random.default_rng(seed)
    points = rng.uniform(-START, START, (num_nodes, WIDTH))
    source, target = (np.ascontiguousarray(ends) for ends in edge_index)
    joined = np.sort(source * num_nodes + target)
    for epoch in range(epochs):
        order = rng.permutation(len(source))
        others = rng.integers(num_nodes, size=(len(source), negatives))
        others[_is_joined(source[order], others, joined, num_nodes)] = -1
        rate = learning_rate * (BURN_IN_RATE if epoch < BURN_IN else 1.0)
        _descend(points, source[order], target[order], others, rate)
    return points


def _is_joined(source: IntArray, others: IntArray, joined: IntArray, num_nodes: int) -> Bools:
    """Whether each of the others, (entries, negatives), is the source itself or a node that it has an edge to."""
    keys = source[:, None] * num_nodes + others
    at = np.minimum(np.searchsorted(joined, keys), len(joined) - 1)
    found: Bools = (joined[at] == keys) | (others == source[:, None])
    return found


# -- distances and their gradients ------------------------------------------------------------------------------------


@compiled
def distance(a: Float64Array, b: Float64Array) -> float:
    """The hyperbolic distance of two points of the unit disk."""
    apart, out_a, out_b = 0.0, 1.0, 1.0
    for i in range(len(a)):
        apart += (a[i] - b[i]) ** 2
        out_a -= a[i] ** 2
        out_b -= b[i] ** 2
    return math.acosh(1 + 2 * apart / (out_a * out_b))


@compiled
def add_gradient(a: Float64Array, b: Float64Array, factor: float, gradient: Float64Array) -> None:
    """Add ``factor`` times the Riemannian gradient of the distance, as a function of ``a``, to ``gradient``."""
    apart, out_a, out_b, inner = 0.0, 1.0, 1.0, 0.0
    for i in range(len(a)):
        apart += (a[i] - b[i]) ** 2
        out_a -= a[i] ** 2
        out_b -= b[i] ** 2
        inner += a[i] * b[i]
    excess = 2 * apart / (out_a * out_b)
    root = math.sqrt(excess * (excess + 2))
    if root == 0:
        return  # two points in one place: no direction leads away from it
    # The gradient in the plane, times the inverse of the metric, (1 - |a|²)² / 4.
    scale = factor / (out_b * root)
    for i in range(len(a)):
        gradient[i] += scale * ((2 - out_b - 2 * inner) * a[i] - out_a * b[i])


@compiled
def _move(point: Float64Array, gradient: Float64Array, rate: float) -> None:
    """A step against the gradient, back to the rim where it would lead beyond."""
    square = 0.0
    for i in range(len(point)):
        point[i] -= rate * gradient[i]
        square += point[i] ** 2
    if square > RIM**2:
        for i in range(len(point)):
            point[i] *= RIM / math.sqrt(square)


@compiled
def _descend(points: Float64Array, source: IntArray, target: IntArray, others: IntArray, rate: float) -> None:
    """A step for each edge: of -log of the target's share of exp(-distance) among target and others, -1 for none."""
    width, candidates = points.shape[1], others.shape[1] + 1
    weights, gradients = np.empty(candidates), np.empty((candidates + 1, width))
    for edge in range(len(source)):
        here = points[source[edge]]
        total = 0.0
        for i in range(candidates):
            node = target[edge] if i == 0 else others[edge, i - 1]
            weights[i] = math.exp(-distance(here, points[node])) if node >= 0 else 0.0
            total += weights[i]
        gradients[:] = 0
        for i in range(candidates):
            node = target[edge] if i == 0 else others[edge, i - 1]
            if node >= 0:
                slope = (1.0 if i == 0 else 0.0) - weights[i] / total
                add_gradient(here, points[node], slope, gradients[candidates])
                add_gradient(points[node], here, slope, gradients[i])
        _move(here, gradients[candidates], rate)
        for i in range(candidates):
            node = target[edge] if i == 0 else others[edge, i - 1]
            if node >= 0:
                _move(points[node], gradients[i], rate)


# -- who is near ------------------------------------------------------------------------------------------------------


def nearest_pairs(points: Float64Array, count: int) -> IntArray:
    """The ``count`` pairs of nodes that are nearest to each other, (2, count), the smaller number first."""
    if count == 0:
        return np.empty((2, 0), np.int64)
    inverse = 1 / (1 - (points**2).sum(axis=1))
    keys, values = np.empty(0, np.int64), np.empty(0)
    bound = np.inf
    for first in range(0, len(points), BLOCK):
        part, rest = points[first : first + BLOCK], points[first:]
        # Nearer in this is nearer in distance, which is an increasing function of it.
        apart = sum(np.subtract.outer(part[:, i], rest[:, i]) ** 2 for i in range(WIDTH))
        apart *= inverse[first : first + BLOCK, None]
        apart *= inverse[first:]
        row, column = np.nonzero(np.triu(apart <= bound, 1))  # each pair once
        keys = np.concatenate([keys, (row + first) * len(points) + column + first])
        values = np.concatenate([values, apart[row, column]])
        if len(values) > count:
            kept = np.argpartition(values, count - 1)[:count]
            keys, values = keys[kept], values[kept]
            bound = values.max()
    return np.stack(np.divmod(np.sort(keys), len(points)))
