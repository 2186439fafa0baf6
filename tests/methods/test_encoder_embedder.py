"""What methods share that train an encoder and keep it."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from graphprox import Graph, synthetic
from graphprox.errors import CollapsedEmbeddingWarning
from graphprox.methods import MethodInfo
from graphprox.methods._encoder_embedder import EncoderEmbedder
from graphprox.methods.gae import GAE


class Scale(torch.nn.Module):
    """An encoder with one weight, whose gradient would be recorded."""

    def __init__(self, factor):
        super().__init__()
        self.factor = torch.nn.Parameter(torch.tensor(factor))

    def forward(self, features, edges):
        return features.matmul(torch.eye(features.shape[1])) * self.factor


class Scaled(EncoderEmbedder):
    name, factor = "scaled", 2.0
    info = MethodInfo(title="Scaled", group="features", uses="X", summary="features times a factor", paper="")

    def _fit(self, graph, seed, progress):
        return self._keep_encoder(Scale(self.factor), self._to_tensors(graph, self.settings()))


def test_vectors_are_the_output_of_the_encoder():
    graph = Graph(np.eye(3, dtype=np.float32) + 1, [[0, 1], [1, 2]])
    scaled = Scaled().fit(graph)
    rows = graph.x / graph.x.sum(1, keepdims=True)
    np.testing.assert_allclose(scaled.vectors_, 2 * rows, rtol=1e-6)
    np.testing.assert_array_equal(scaled.transform(graph), scaled.vectors_)
    assert isinstance(scaled.encoder_, Scale)


def test_collapsed_vectors_are_reported(monkeypatch):
    monkeypatch.setattr(Scaled, "factor", 0.0)
    with pytest.warns(CollapsedEmbeddingWarning):
        Scaled().fit(synthetic(nodes=140))


def test_transform_uses_the_settings_of_the_fit():
    graph = synthetic(nodes=140)
    fitted = GAE(n_components=4, epochs=1, normalize="none").fit(graph)
    expected = fitted.transform(graph)
    np.testing.assert_array_equal(fitted.set_params(normalize="rows").transform(graph), expected)
    np.testing.assert_array_equal(expected, fitted.vectors_)
