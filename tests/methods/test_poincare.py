"""The Poincaré embedding of Geom-GCN."""

from __future__ import annotations

import math

import networkx as nx
import numpy as np
import pytest

from graphprox.methods import _poincare
from graphprox.methods._poincare import (
    add_distance_gradient,
    find_nearest_pairs,
    poincare_distance,
    poincare_embedding,
)


def random_points(count, seed=0):
    """Points of the unit disk, some of them near its boundary."""
    random = np.random.default_rng(seed)
    angle, radius = random.uniform(0, 2 * np.pi, count), np.tanh(random.exponential(1.0, count))
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1)


def test_distance_is_that_of_the_hyperbolic_plane():
    for a, b in zip(random_points(50), random_points(50, seed=1), strict=True):
        # The formula with complex numbers: 2 artanh |(a - b) / (1 - a conj(b))|.
        one, other = complex(*a), complex(*b)
        expected = 2 * math.atanh(abs((one - other) / (1 - one * other.conjugate())))
        assert poincare_distance(a, b) == pytest.approx(expected, rel=1e-6)


def test_gradient_equals_finite_differences_scaled_by_the_metric():
    for a, b in zip(random_points(50), random_points(50, seed=1), strict=True):
        steps = np.eye(2) * 1e-6 * (1 - a @ a)
        slopes = [
            (poincare_distance(a + step, b) - poincare_distance(a - step, b)) / (2 * step.sum()) for step in steps
        ]
        gradient = np.full(2, 7.0)
        add_distance_gradient(a, b, 3.0, gradient)
        np.testing.assert_allclose(gradient - 7, 3 * (1 - a @ a) ** 2 / 4 * np.array(slopes), rtol=1e-3, atol=1e-8)


def test_gradient_of_equal_points_is_zero():
    gradient = np.zeros(2)
    add_distance_gradient(np.array([0.3, 0.1]), np.array([0.3, 0.1]), 1.0, gradient)
    assert not gradient.any()


def test_step_decreases_the_loss_of_its_edge_as_its_gradient_predicts():
    points = random_points(12)
    source, target, negatives = np.array([0]), np.array([1]), np.array([[2, 3, 4, -1, 5]])

    def loss(points):
        distances = np.array([poincare_distance(points[0], points[each]) for each in (1, 2, 3, 4, 5)])
        return distances[0] + math.log(np.exp(-distances).sum())

    # The loss changes by minus the learning rate times the squared norm of the gradient in the metric.
    moved = points.copy()
    _poincare._train_epoch(moved, source, target, negatives, 1e-7)
    metric = 4 / (1 - (points**2).sum(1)) ** 2
    expected = -(metric * ((moved - points) ** 2).sum(1)).sum() / 1e-7
    assert loss(moved) - loss(points) == pytest.approx(expected, rel=1e-3)
    assert np.array_equal(moved[6:], points[6:])
    assert (moved[:6] != points[:6]).all()


def test_tree_has_close_neighbors_and_its_root_near_the_center():
    tree = nx.balanced_tree(3, 4)
    pairs = np.array(tree.edges).T
    edges = np.concatenate([pairs, pairs[::-1]], axis=1)
    points = poincare_embedding(edges, 121, random_state=0, epochs=100)
    assert ((points**2).sum(1) < 1).all()
    distances = np.array([[poincare_distance(a, b) for b in points] for a in points])
    is_edge = np.zeros((121, 121), bool)
    is_edge[tuple(edges)] = True
    others = ~is_edge & ~np.eye(121, dtype=bool)
    assert distances[is_edge].mean() < 0.6 * distances[others].mean()
    leaves = np.arange(40, 121)
    norms = np.linalg.norm(points, axis=1)
    assert norms[:4].mean() < norms[leaves].mean()


def test_negatives_exclude_neighbors_and_the_node_itself():
    source, nodes = np.array([0, 2]), np.array([[0, 1, 2, 3], [0, 1, 2, 3]])
    edge_keys = np.sort(np.array([0 * 4 + 1, 1 * 4 + 0, 2 * 4 + 3, 3 * 4 + 2]))
    found = _poincare._is_connected(source, nodes, edge_keys, 4)
    assert found.tolist() == [[True, True, False, False], [False, False, True, True]]


@pytest.mark.parametrize("count", [0, 1, 7, 190])
def test_nearest_pairs_have_the_smallest_distances(monkeypatch, count):
    monkeypatch.setattr(_poincare, "BLOCK_SIZE", 6)
    points = random_points(20)
    every = sorted((poincare_distance(points[a], points[b]), a, b) for b in range(20) for a in range(b))
    found = find_nearest_pairs(points, count)
    assert sorted(map(tuple, found.T.tolist())) == sorted((a, b) for _, a, b in every[:count])
