"""The amount of features of a node, on a logarithmic scale around the typical one."""

from __future__ import annotations

import numpy as np
import pytest

from graphprox import AutoEmbedder, Graph
from graphprox.auto.outputs import OUTPUTS, PreparedGraph
from graphprox.auto.outputs.amount import NUM_BUCKETS
from graphprox.auto.preparation import Preparation


def amount(x):
    graph = Graph(x, [[0], [1]])
    return OUTPUTS["amount"](PreparedGraph.of(graph, Preparation.fit(graph.x, random_state=0), None, random_state=0))


def words(counts, num_words=80):
    return (np.arange(num_words) < np.array(counts)[:, None]).astype(np.float32)


def test_nodes_with_the_same_number_of_words_are_alike_and_others_are_not():
    rows = amount(words([1, 2, 4, 2, 8, 0]))
    assert rows.shape == (6, NUM_BUCKETS)
    cosines = rows @ rows.T
    assert np.argwhere(cosines > 0).tolist() == [[0, 0], [1, 1], [1, 3], [2, 2], [3, 1], [3, 3], [4, 4]]
    assert not rows[5].any()


def test_rows_are_shares_of_the_two_nearest_buckets():
    rows = amount(words(np.arange(1, 30), num_words=200))
    np.testing.assert_allclose(rows.sum(1), 1, rtol=1e-6)
    assert (np.count_nonzero(rows, axis=1) <= 2).all()
    place = rows @ np.arange(NUM_BUCKETS)
    np.testing.assert_allclose(np.diff(place), 4 * np.diff(np.log2(np.arange(1, 30))), atol=1e-4)


@pytest.mark.parametrize("unit", [1.37, 2.0**-40, 1e9])
def test_unit_of_the_features_does_not_matter(unit):
    x = np.random.default_rng(0).normal(size=(40, 5)) * np.geomspace(1, 50, 40)[:, None]
    np.testing.assert_allclose(amount(x * unit), amount(x), atol=1e-3)


def test_amounts_far_from_the_typical_one_are_in_the_outermost_buckets():
    x = np.ones((5, 3)) * np.array([1e-9, 1, 1, 1, 1e9])[:, None]
    prepared = Preparation.fit(x, random_state=0, centered=False)
    rows = OUTPUTS["amount"](PreparedGraph.of(Graph(x, [[0], [1]]), prepared, None, random_state=0))
    assert rows[0, 0] == rows[4, NUM_BUCKETS - 1] == rows[1, NUM_BUCKETS // 2] == 1


def test_rounding_of_rows_of_equal_length_has_no_effect():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(120, 16))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    edges = rng.integers(0, 120, (2, 300))
    one, other = (
        AutoEmbedder(n_components=16, keep="features").fit_transform(Graph(x * factor, edges))
        for factor in (1, 1 + 1e-7 * rng.normal(size=(120, 1)))
    )
    np.testing.assert_allclose(one @ one.T, other @ other.T, atol=1e-3)
