"""Which criterion judges which features."""

from __future__ import annotations

import numpy as np
import pytest

from auto.topic_graphs import topic_graph
from graphprox.auto.criteria.by_density import by_density
from graphprox.auto.criteria.held_out_features import held_out_features
from graphprox.auto.criteria.neighbor_similarity import neighbor_similarity


@pytest.mark.parametrize("dense", [False, True])
def test_words_are_judged_by_held_out_features_and_dense_vectors_by_neighbors(dense):
    graph = topic_graph(nodes=150)
    if dense:
        graph = graph.with_features(graph.x @ np.random.default_rng(0).normal(size=(graph.num_features, 20)))
    expected = neighbor_similarity if dense else held_out_features
    assert by_density(graph, 0, lambda *_: None) == expected(graph, 0, lambda *_: None)
