"""CCA-SSG: its loss by definition, and its encoder without edges."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from graphprox import Graph, synthetic
from graphprox.methods._neural import to_gcn_edges
from graphprox.methods.cca_ssg import CCASSG, MLPLayers, cca_loss
from graphprox.nn.features import FeatureMatrix


def randn(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def standardized_columns(h):
    return [[(value - np.mean(column)) / np.std(column) for value in column] for column in h.numpy().T]


def test_cca_loss_equals_its_definition():
    a, b = randn(7, 3), randn(7, 3, seed=1)
    ours = cca_loss(a, b, 0.25).item()
    za, zb = ([[value / math.sqrt(7) for value in column] for column in standardized_columns(h)] for h in (a, b))
    distance = sum((za[i][n] - zb[i][n]) ** 2 for i in range(3) for n in range(7))
    correlation = 0.0
    for z in (za, zb):
        for i in range(3):
            for j in range(3):
                correlation += (sum(z[i][n] * z[j][n] for n in range(7)) - (i == j)) ** 2
    assert ours == pytest.approx(distance + 0.25 * correlation)


def test_mlp_encoder_ignores_edges():
    graph = synthetic(nodes=140)
    bare = Graph(x=graph.x, edge_index=np.empty((2, 0), np.int64))
    for encoder, is_same in (("mlp", True), ("gcn", False)):
        method = CCASSG(n_components=8, epochs=2, encoder=encoder)
        assert np.array_equal(method.fit_transform(graph), method.fit_transform(bare)) == is_same


def test_mlp_encoder_ignores_masked_features():
    x = randn(6, 4).float()
    encoder = MLPLayers([4, 5, 3], generator=torch.Generator().manual_seed(0)).eval()
    mask = torch.tensor([1.0, 0.0, 1.0, 0.0])
    edges = to_gcn_edges(Graph(x=x.numpy(), edge_index=[[0], [1]]))
    of = FeatureMatrix.of
    torch.testing.assert_close(
        encoder(of(x.numpy()), edges, mask), encoder(of((x * mask).numpy()), edges), rtol=1e-5, atol=1e-6
    )


@pytest.mark.parametrize("parameters", [{"encoder": "mlp"}, {"num_layers": 1}])
def test_encoders_of_presets_transform_another_graph(parameters):
    method = CCASSG(n_components=8, epochs=2, **parameters).fit(synthetic(nodes=140))
    assert method.transform(synthetic(nodes=210)).shape == (210, 8)
