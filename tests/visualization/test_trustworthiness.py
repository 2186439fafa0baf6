"""Trustworthiness is that of scikit-learn, also on a sample."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.manifold import trustworthiness

from graphprox.visualization import trustworthiness as module
from graphprox.visualization.trustworthiness import measure_trustworthiness
from graphprox.visualization.tsne import to_directions


@pytest.fixture
def vectors():
    return np.random.default_rng(0).normal(size=(300, 6)).astype(np.float32)


@pytest.mark.parametrize("n_neighbors", [1, 5, 10])
@pytest.mark.parametrize("noise", [0, 0.5, 50])
def test_equals_scikit_learn(vectors, n_neighbors, noise):
    points = (vectors[:, :2] + noise * np.random.default_rng(1).normal(size=(300, 2))).astype(np.float32)
    expected = trustworthiness(vectors, points, n_neighbors=n_neighbors, metric="cosine")
    assert measure_trustworthiness(to_directions(vectors), points, n_neighbors=n_neighbors) == pytest.approx(expected)


def test_a_sample_estimates_it(vectors, monkeypatch):
    monkeypatch.setattr(module, "SAMPLE", 150)
    monkeypatch.setattr(module, "_SCORES_PER_BLOCK", 1000)
    points = vectors[:, :2]
    expected = trustworthiness(vectors, points, n_neighbors=10, metric="cosine")
    assert measure_trustworthiness(to_directions(vectors), points) == pytest.approx(expected, abs=0.02)


def test_a_random_map_has_about_a_half(vectors):
    points = np.random.default_rng(2).normal(size=(300, 2)).astype(np.float32)
    assert measure_trustworthiness(to_directions(vectors), points) == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize("num_nodes", [1, 2, 3, 30])
def test_equal_points_and_few_nodes_are_accepted(num_nodes):
    unit = np.ones((num_nodes, 1), np.float32)
    assert measure_trustworthiness(unit, np.zeros((num_nodes, 2), np.float32)) == 1
