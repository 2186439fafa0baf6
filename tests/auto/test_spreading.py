"""Spreading over similar nodes, against scikit-learn's neighbors and a dense diffusion."""

from __future__ import annotations

import numpy as np
from sklearn.neighbors import kneighbors_graph

from graphprox.auto.spreading import NUM_SIMILAR, diffuse_rows, similar_edges


def test_rows_are_spread_over_the_nearest_by_cosine():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(100, 8)).astype(np.float32) + 1
    linked = kneighbors_graph(rows, NUM_SIMILAR, metric="cosine").toarray()
    linked = np.maximum(linked, linked.T) + np.eye(100)
    scale = 1 / np.sqrt(linked.sum(0))
    step, expected = scale[:, None] * linked * scale, rows.astype(float)
    for _ in range(3):
        expected = 0.7 * step @ expected + 0.3 * rows
    found = diffuse_rows(similar_edges(rows, random_state=0), rows, 0.3, 3)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)
