from __future__ import annotations

import numpy as np
import pytest
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import normalize

from graphprox import Graph
from graphprox.auto.outputs import OUTPUTS, PreparedGraph
from graphprox.auto.spreading import NUM_SIMILAR


def test_feature_view_is_personalized_pagerank_over_the_nearest_nodes():
    rows = normalize(np.random.default_rng(0).random((60, 8), np.float32))
    search = NearestNeighbors(n_neighbors=NUM_SIMILAR, metric="cosine", algorithm="brute").fit(rows)
    nearest = search.kneighbors_graph(mode="connectivity").toarray()
    looped = np.maximum(nearest, nearest.T) + np.eye(60)
    scale = looped.sum(1) ** -0.5
    matrix = scale[:, None] * looped * scale
    expected = rows.astype(float)
    for _ in range(5):
        expected = 0.7 * matrix @ expected + 0.3 * rows
    found = OUTPUTS["view"](PreparedGraph(Graph(rows, [[0], [1]]), rows, random_state=0))
    np.testing.assert_allclose(found, normalize(expected), atol=1e-5)


def test_nodes_of_one_kind_become_more_similar():
    rng = np.random.default_rng(0)
    kind = np.repeat(np.arange(3), 30)
    rows = normalize(np.eye(3)[kind] + 0.4 * rng.random((90, 3))).astype(np.float32)
    found = OUTPUTS["view"](PreparedGraph(Graph(rows, [[0], [1]]), rows, random_state=0))
    same = np.equal.outer(kind, kind)
    before, after = rows @ rows.T, found @ found.T
    assert after[same].mean() > before[same].mean()
    assert np.linalg.norm(found, axis=1) == pytest.approx(1, abs=1e-5)
