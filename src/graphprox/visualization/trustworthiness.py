"""Trustworthiness of a map: whether nodes that are near in the map are near in the embedding."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphprox._utils.arrays import FloatArray, IntArray

SAMPLE = 1_000  # nodes whose neighborhoods are compared
_SCORES_PER_BLOCK = 1 << 24


def neighborhood_size(num_nodes: int, n_neighbors: int = 10) -> int:
    """Return the size of the neighborhoods that are compared: less than half of the nodes.

    Parameters
    ----------
    num_nodes : int
    n_neighbors : int, default=10

    Returns
    -------
    int

    Examples
    --------
    >>> neighborhood_size(1000), neighborhood_size(20)
    (10, 9)
    """
    return min(n_neighbors, (num_nodes - 1) // 2)


def measure_trustworthiness(unit: FloatArray, points: FloatArray, *, n_neighbors: int = 10, seed: int = 0) -> float:
    """Measure how far the neighbors in a map are neighbors in the embedding, by cosine.

    As scikit-learn's ``trustworthiness``, but on a sample of nodes, and without a matrix of all pairs: each neighbor in
    the map is penalized by how far it is from being one of the nearest in the embedding.

    Parameters
    ----------
    unit : ndarray of shape (num_nodes, n_components)
        Directions of the vectors, of length 1.
    points : ndarray of shape (num_nodes, 2)
        The map.
    n_neighbors : int, default=10
        Size of a neighborhood; less than half of the nodes are used.
    seed : int, default=0
        Random seed of the sample.

    Returns
    -------
    float
        1 if all neighborhoods are preserved, about 0.5 for a random map.

    Examples
    --------
    >>> angle = np.geomspace(0.1, 3, 20)
    >>> circle = np.column_stack([np.cos(angle), np.sin(angle)]).astype(np.float32)
    >>> measure_trustworthiness(circle, circle, n_neighbors=3)
    1.0
    """
    from threadpoolctl import threadpool_limits

    num_nodes = len(unit)
    k = neighborhood_size(num_nodes, n_neighbors)
    if k < 1:
        return 1.0
    nodes = np.sort(np.random.default_rng([seed, SAMPLE]).permutation(num_nodes)[:SAMPLE])
    neighbors = _nearest_points(points, nodes, k)
    excess = 0
    with threadpool_limits(1):
        size = max(1, _SCORES_PER_BLOCK // num_nodes)
        for first in range(0, len(nodes), size):
            block = slice(first, first + size)
            excess += int(np.maximum(_rank_neighbors(unit, nodes[block], neighbors[block]) - k, 0).sum())
    return 1.0 - 2.0 * excess / (len(nodes) * k * (2.0 * num_nodes - 3.0 * k - 1.0))


def _nearest_points(points: FloatArray, nodes: IntArray, k: int) -> IntArray:
    """Return the k nearest other points of some, (n_nodes, k)."""
    from scipy.spatial import KDTree

    _, found = KDTree(points).query(points[nodes], k + 1)
    found = np.asarray(found).reshape(len(nodes), k + 1)
    # Among equal points, the node itself need not be found first, or at all.
    own = np.argmax(found == nodes[:, None], axis=1)
    own[~(found == nodes[:, None]).any(axis=1)] = k
    keep = np.ones(found.shape, np.bool_)
    keep[np.arange(len(nodes)), own] = False
    return found[keep].reshape(len(nodes), k)


def _rank_neighbors(unit: FloatArray, nodes: IntArray, neighbors: IntArray) -> IntArray:
    """Return the rank of each neighbor among all other nodes by cosine, from 1; ties have the best rank of them."""
    cosines: NDArray[np.float32] = unit[nodes] @ unit.T
    cosines[np.arange(len(nodes)), nodes] = -np.inf
    ordered = np.sort(cosines, axis=1)
    of_neighbor = np.take_along_axis(cosines, neighbors, axis=1)
    larger = [
        len(row) - np.searchsorted(row, values, "right") for row, values in zip(ordered, of_neighbor, strict=True)
    ]
    return np.array(larger, np.int64) + 1
