"""Graphs and embeddings shared by the tests of evaluation."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from graphprox import synthetic


@pytest.fixture(scope="session")
def embed_untrained():
    """Function that embeds a graph by an untrained encoder: smoothed features, random weights, ReLU."""

    def embed_untrained(graph, n_components):
        adjacency = graph.to_scipy() + sp.eye_array(graph.num_nodes)
        mean = sp.diags_array(1 / adjacency.sum(axis=1)) @ adjacency
        rows = mean @ (mean @ graph.x)
        weight = np.random.default_rng(0).normal(size=(graph.num_features, n_components))
        return np.maximum(np.asarray(rows @ weight), 0).astype(np.float32)

    return embed_untrained


@pytest.fixture(scope="session")
def graph():
    return synthetic()


@pytest.fixture(scope="session")
def embedding(graph, embed_untrained):
    return embed_untrained(graph, 24)


@pytest.fixture(scope="session")
def order(graph):
    return np.random.default_rng(5).permutation(graph.num_nodes)


@pytest.fixture(scope="session")
def lengths(graph):
    """A positive factor for each row."""
    return np.random.default_rng(6).uniform(0.1, 9, (graph.num_nodes, 1))
