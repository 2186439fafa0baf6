"""Graphs and embeddings shared by the tests of evaluation."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from graphprox import synthetic


@pytest.fixture(scope="session")
def smoothed():
    """A function that embeds a graph by an untrained encoder: smoothed features, random weights, ReLU."""

    def smoothed(graph, width):
        adjacency = graph.to_scipy() + sp.eye_array(graph.num_nodes)
        mean = sp.diags_array(1 / adjacency.sum(axis=1)) @ adjacency
        rows = mean @ (mean @ graph.x)
        weight = np.random.default_rng(0).normal(size=(graph.num_features, width))
        return np.maximum(np.asarray(rows @ weight), 0).astype(np.float32)

    return smoothed


@pytest.fixture(scope="session")
def graph():
    return synthetic()


@pytest.fixture(scope="session")
def embedding(graph, smoothed):
    return smoothed(graph, 24)


@pytest.fixture(scope="session")
def order(graph):
    return np.random.default_rng(5).permutation(graph.num_nodes)


@pytest.fixture(scope="session")
def lengths(graph):
    """A positive factor for each row."""
    return np.random.default_rng(6).uniform(0.1, 9, (graph.num_nodes, 1))
