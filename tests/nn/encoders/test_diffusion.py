"""The diffusion encoder against its parts: an MLP and one diffusion."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from graphprox.nn.encoders import ENCODERS
from graphprox.nn.features import FeatureMatrix
from graphprox.nn.propagation import diffuse

EDGES = np.array([[0, 1, 2, 3, 0], [1, 2, 3, 4, 2]])


def make_encoder(name, **options):
    encoder = ENCODERS[name]
    options = encoder.Options(n_components=6, hidden_channels=8, **options)
    return encoder(5, options, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("options", [{"alpha": 0.3, "hops": 4}, {"kernel": "heat", "time": 2.0, "hops": 7}])
def test_encoder_diffuses_the_output_of_an_mlp(options):
    encoder, mlp = make_encoder("diffusion", **options), make_encoder("mlp")
    mlp.load_state_dict(encoder.state_dict())
    features = FeatureMatrix.of(np.random.default_rng(0).random((6, 5), np.float32))
    edges = encoder.prepare_edges(EDGES, None, num_nodes=6)
    expected = diffuse(edges, mlp(mlp.project(features), edges), encoder.options.coefficients())
    torch.testing.assert_close(encoder(encoder.project(features), edges), expected)


@pytest.mark.parametrize("hops", [1, 2, 3])
def test_features_reach_as_many_edges_as_there_are_hops(hops):
    encoder = make_encoder("diffusion", hops=hops, activation="elu")
    path = np.array([[0, 1, 2, 3], [1, 2, 3, 4]])
    edges = encoder.prepare_edges(path, None, num_nodes=5)
    x = np.eye(5, dtype=np.float32)
    changed = x.copy()
    changed[0, 0] = 2
    one, other = (encoder(encoder.project(FeatureMatrix.of(each)), edges) for each in (x, changed))
    assert (one != other).any(1).tolist() == [node <= hops for node in range(5)]
