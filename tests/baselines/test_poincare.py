"""The Poincaré embedding, which Geom-GCN sees its graph in."""

from __future__ import annotations

import math

import networkx as nx
import numpy as np
import pytest

from graphprox.baselines import poincare
from graphprox.baselines.poincare import add_gradient, distance, nearest_pairs, poincare_embedding


def in_disk(count, seed=0):
    """Points of the unit disk, some of them near its rim."""
    draws = np.random.default_rng(seed)
    angle, radius = draws.uniform(0, 2 * np.pi, count), np.tanh(draws.exponential(1.0, count))
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1)


def test_the_distance_is_that_of_the_hyperbolic_plane():
    for a, b in zip(in_disk(50), in_disk(50, seed=1), strict=True):
        # By the other formula for it, in complex numbers: 2 artanh |(a - b) / (1 - a conj(b))|.
        one, other = complex(*a), complex(*b)
        expected = 2 * math.atanh(abs((one - other) / (1 - one * other.conjugate())))
        assert distance(a, b) == pytest.approx(expected, rel=1e-6)


def test_the_gradient_is_the_slope_of_the_distance_by_the_metric():
    for a, b in zip(in_disk(50), in_disk(50, seed=1), strict=True):
        steps = np.eye(2) * 1e-6 * (1 - a @ a)
        slopes = [(distance(a + step, b) - distance(a - step, b)) / (2 * step.sum()) for step in steps]
        gradient = np.full(2, 7.0)
        add_gradient(a, b, 3.0, gradient)
        np.testing.assert_allclose(gradient - 7, 3 * (1 - a @ a) ** 2 / 4 * np.array(slopes), rtol=1e-3, atol=1e-8)


def test_two_points_in_one_place_have_no_gradient():
    gradient = np.zeros(2)
    add_gradient(np.array([0.3, 0.1]), np.array([0.3, 0.1]), 1.0, gradient)
    assert not gradient.any()


def test_a_step_goes_down_the_loss_of_its_edge():
    points = in_disk(12)
    source, target, others = np.array([0]), np.array([1]), np.array([[2, 3, 4, -1, 5]])

    def loss(points):
        apart = np.array([distance(points[0], points[each]) for each in (1, 2, 3, 4, 5)])
        return apart[0] + math.log(np.exp(-apart).sum())

    # The loss changes by what the gradient says: minus the rate times its square length, by the metric.
    moved = points.copy()
    poincare._descend(moved, source, target, others, 1e-7)
    metric = 4 / (1 - (points**2).sum(1)) ** 2
    expected = -(metric * ((moved - points) ** 2).sum(1)).sum() / 1e-7
    assert loss(moved) - loss(points) == pytest.approx(expected, rel=1e-3)
    assert np.array_equal(moved[6:], points[6:])
    assert (moved[:6] != points[:6]).all()


def test_in_a_tree_parents_are_nearer_than_strangers_and_the_root_is_in_the_middle():
    tree = nx.balanced_tree(3, 4)
    pairs = np.array(tree.edges).T
    edges = np.concatenate([pairs, pairs[::-1]], axis=1)
    points = poincare_embedding(edges, 121, seed=0, epochs=100)
    assert ((points**2).sum(1) < 1).all()
    apart = np.array([[distance(a, b) for b in points] for a in points])
    joined = np.zeros((121, 121), bool)
    joined[tuple(edges)] = True
    strangers = ~joined & ~np.eye(121, dtype=bool)
    assert apart[joined].mean() < 0.6 * apart[strangers].mean()
    leaves = np.arange(40, 121)
    lengths = np.linalg.norm(points, axis=1)
    assert lengths[:4].mean() < lengths[leaves].mean()


def test_negatives_are_neither_neighbours_nor_the_node_itself():
    source, others = np.array([0, 2]), np.array([[0, 1, 2, 3], [0, 1, 2, 3]])
    joined = np.sort(np.array([0 * 4 + 1, 1 * 4 + 0, 2 * 4 + 3, 3 * 4 + 2]))
    found = poincare._is_joined(source, others, joined, 4)
    assert found.tolist() == [[True, True, False, False], [False, False, True, True]]


@pytest.mark.parametrize("count", [0, 1, 7, 190])
def test_nearest_pairs_are_the_nearest_of_all(monkeypatch, count):
    monkeypatch.setattr(poincare, "BLOCK", 6)
    points = in_disk(20)
    every = sorted((distance(points[a], points[b]), a, b) for b in range(20) for a in range(b))
    found = nearest_pairs(points, count)
    assert sorted(map(tuple, found.T.tolist())) == sorted((a, b) for _, a, b in every[:count])
