"""Diffused features against PyG and their definition."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from sklearn.decomposition import TruncatedSVD
from sklearn.preprocessing import normalize
from torch_geometric.nn import APPNP

from graphprox import DiffusedFeatures, Graph, IgnoredInputWarning, RawFeatures, evaluation, load_dataset, synthetic


def test_diffused_features_equal_those_of_pyg_appnp():
    graph = synthetic(nodes=210)
    found = DiffusedFeatures(alpha=0.2, hops=6).fit_transform(graph)
    x = torch.tensor(normalize(graph.x))
    expected = APPNP(K=6, alpha=0.2)(x, torch.tensor(graph.edge_index)).numpy()
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_many_features_are_projected_to_their_singular_vectors():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 5)) @ rng.normal(size=(5, 30))
    graph = Graph(x, [range(59), range(1, 60)])
    found = DiffusedFeatures(n_components=5, hops=0).fit_transform(graph)
    expected = normalize(TruncatedSVD(5, random_state=0).fit_transform(normalize(x)))
    assert np.abs(found @ found.T - expected @ expected.T).max() < 1e-4  # equal but for a rotation


def test_more_components_than_features_are_a_warning_but_not_the_default():
    graph = synthetic(nodes=140)
    with pytest.warns(IgnoredInputWarning, match="got 33, of which only 32 exist, one for each feature"):
        assert DiffusedFeatures(n_components=33).fit_transform(graph).shape == (140, 32)
    assert DiffusedFeatures().fit_transform(graph).shape == (140, 32)


def test_new_nodes_are_projected_to_the_directions_of_fit():
    graph, other = synthetic(nodes=140, random_state=1), synthetic(nodes=210, random_state=2)
    embedder = DiffusedFeatures(n_components=7).fit(graph)
    assert embedder.components_.shape == (32, 7)
    np.testing.assert_allclose(embedder.transform(graph), embedder.vectors_, rtol=1e-5)
    assert embedder.transform(other).shape == (210, 7)


def test_node_without_features_gets_those_of_its_neighbors():
    graph = Graph([[0.0, 0.0], [3.0, 4.0], [0.0, 0.0]], [[0], [1]])
    vectors = DiffusedFeatures().fit_transform(graph)
    assert np.isfinite(vectors).all()
    assert vectors[0].min() > 0
    assert not vectors[2].any()


def test_diffusion_beats_raw_features_on_cora(data):
    dataset = load_dataset("Cora", data=data)
    scores = {
        each: evaluation.classify(dataset, each().fit_transform(dataset), n_splits=3).mean
        for each in (RawFeatures, DiffusedFeatures)
    }
    assert scores[DiffusedFeatures] > 0.82
    assert scores[RawFeatures] < 0.75
