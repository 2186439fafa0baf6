"""Propagated features: equal to propagating in every epoch, and used only where they are cheaper."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from graphprox.nn.convolution import in_neighbor_matrix
from graphprox.nn.encoders import ENCODERS
from graphprox.nn.encoders.gcn import GCNConv
from graphprox.nn.features import FeatureMatrix
from graphprox.nn.propagated_features import (
    HOP_OPERATION,
    SPARSE_OPERATION,
    estimate_costs,
    propagate_columns,
    propagate_features,
)

NUM_NODES = 300
KERNELS = {
    "pagerank": {"kernel": "pagerank", "alpha": 0.2, "hops": 6},
    "heat": {"kernel": "heat", "time": 2.0, "hops": 7},
}


def make_encoder(in_channels, **options):
    options = {"n_components": 12, "num_layers": 1, "activation": "none", **options}
    encoder = ENCODERS["diffusion"]
    made = encoder(in_channels, encoder.Options(**options), generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        made.convolutions[0].bias.copy_(torch.randn(made.convolutions[0].bias.shape))  # initially zero
    return made


def make_edges(encoder, *, weighted, directed, degree=4):
    rng = np.random.default_rng(0)
    index = np.unique(rng.integers(0, NUM_NODES, (2, degree * NUM_NODES)), axis=1)
    if not directed:
        index = np.unique(np.concatenate([index, index[::-1]], axis=1), axis=1)
    weight = rng.uniform(0.1, 5, index.shape[1]).astype(np.float32) if weighted else None
    return encoder.prepare_edges(index, weight, num_nodes=NUM_NODES)


def make_features(kind):
    rng = np.random.default_rng(1)
    x = rng.normal(size=(NUM_NODES, 32)).astype(np.float32)
    return FeatureMatrix.of(x if kind == "dense" else sp.csr_array(x * (rng.random(x.shape) < 0.03)))


def gradients(encoder, embedded):
    encoder.zero_grad()
    embedded.backward(torch.randn(embedded.shape, generator=torch.Generator().manual_seed(2)))
    return {name: weight.grad.clone() for name, weight in encoder.named_parameters()}


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize(("weighted", "directed"), [(False, False), (True, False), (False, True), (True, True)])
@pytest.mark.parametrize("kernel", KERNELS)
def test_embedding_and_gradients_equal_those_without_propagated_features(kernel, weighted, directed, kind, masked):
    encoder, features = make_encoder(32, **KERNELS[kernel]), make_features(kind)
    edges = make_edges(encoder, weighted=weighted, directed=directed)
    kept = (torch.arange(32) % 3 > 0).float() if masked else None
    propagated = propagate_features(features, edges, encoder.coefficients)
    actual, expected = encoder.encode_propagated(propagated, kept), encoder(encoder.project(features, kept), edges)
    torch.testing.assert_close(actual, expected, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(
        gradients(encoder, actual), gradients(encoder, expected), rtol=1e-4, atol=1e-4
    )  # sums over all nodes


def test_bias_is_diffused_too():
    encoder, features = make_encoder(32), make_features("dense")
    edges = make_edges(encoder, weighted=True, directed=True)
    propagated = propagate_features(features, edges, encoder.coefficients)
    assert not torch.allclose(propagated.ones, torch.ones(NUM_NODES, 1), atol=1e-2)


@pytest.mark.parametrize("options", [{"num_layers": 2}, {"activation": "relu"}])
def test_encoder_that_is_not_linear_propagates_in_every_epoch(options):
    encoder = make_encoder(32, **options)
    edges = make_edges(encoder, weighted=False, directed=False)
    assert encoder.propagate_features(make_features("dense"), edges, uses=1000) is None


@pytest.mark.parametrize("name", sorted(set(ENCODERS) - {"diffusion"}))
def test_other_encoders_propagate_in_every_epoch(name):
    cls = ENCODERS[name]
    options = cls.Options(n_components=8, num_layers=1, activation="none")
    encoder = cls(32, options, generator=torch.Generator().manual_seed(0))
    edges = make_edges(encoder, weighted=False, directed=False)
    features = make_features("dense")
    assert encoder.propagate_features(features, edges, uses=1000) is None
    if cls.feature_diffusion(options) is not None:  # it works on rows of features, which need not be propagated
        return
    with pytest.raises(NotImplementedError, match="in advance"):
        encoder.encode_propagated(propagate_features(features, edges, (1.0,)))


# -- costs ----------------------------------------------------------------------------------------------------------


def make_ring(num_nodes):
    nodes = np.arange(num_nodes)
    index = np.stack(
        [np.concatenate([nodes, (nodes + 1) % num_nodes]), np.concatenate([(nodes + 1) % num_nodes, nodes])]
    )
    return GCNConv.prepare_edges(in_neighbor_matrix(index, None, num_nodes))


def bag_of_words(num_nodes, num_features):
    return FeatureMatrix.of(
        sp.csr_array(sp.random_array((num_nodes, num_features), density=0.005, dtype=np.float32, rng=0))
    )


def test_few_dense_features_are_propagated():
    features = FeatureMatrix.of(np.ones((1000, 32), np.float32))
    costs = estimate_costs(features, make_ring(1000), hops=10, channels=512, uses=20, sharing=2)
    assert 5 * costs.propagated < costs.projected


def test_many_words_are_not_propagated():
    costs = estimate_costs(bag_of_words(1000, 8000), make_ring(1000), hops=10, channels=512, uses=1000)
    assert costs.propagated > 4 * costs.projected


def test_encoder_decides_by_the_costs():
    ring = make_ring(1000)
    assert make_encoder(32).propagate_features(FeatureMatrix.of(np.ones((1000, 32), np.float32)), ring, uses=20)
    assert make_encoder(8000).propagate_features(bag_of_words(1000, 8000), ring, uses=20) is None


def test_costs_count_multiplications_and_additions():
    features = FeatureMatrix.of(np.ones((100, 8), np.float32))
    edges = make_ring(100)  # 300 entries, with self-loops
    costs = estimate_costs(features, edges, hops=5, channels=16, uses=4, sharing=2)
    product, hop = 2 * 100 * 8 * 16, 2 * 300 * HOP_OPERATION
    assert costs.propagated == 2 * product + 5 * hop * 8 / 4
    assert costs.projected == 2 * (product / 2 + 5 * hop * 16)
    words = bag_of_words(100, 400)
    sparse = estimate_costs(words, edges, hops=5, channels=16, uses=4)
    assert sparse.projected == 2 * (2 * words.pattern.num_entries * 16 * SPARSE_OPERATION + 5 * hop * 16)


def test_more_uses_make_propagated_features_cheaper():
    features, ring = FeatureMatrix.of(np.ones((100, 64), np.float32)), make_ring(100)
    costs = [estimate_costs(features, ring, hops=10, channels=8, uses=uses).propagated for uses in (1, 5, 100)]
    assert costs == sorted(costs, reverse=True)


# -- blocks of columns ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("normalize", ["rows", "none"])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("width", [1, 5, 32, 33, 100])
def test_columns_in_blocks_are_those_of_the_whole_features(kind, normalize, width, monkeypatch):
    monkeypatch.setattr("graphprox.nn.propagated_features.ROWS_PER_BLOCK", 17)
    monkeypatch.setattr("graphprox.nn.features.ROWS_PER_BLOCK", 19)
    rng = np.random.default_rng(0)
    x = rng.standard_normal((50, 32)).astype(np.float32) * (rng.random((50, 32)) < 0.3)
    x[3] = 0
    given = sp.csr_array(x) if kind == "sparse" else x
    blocks = list(propagate_columns(given, np.flipud, normalize=normalize, width=width))
    assert [block.shape[1] for block in blocks] == [min(width, 33 - low) for low in range(0, 33, width)]
    found = np.concatenate(blocks, axis=1)
    expected = FeatureMatrix.of(given, normalize=normalize).to_dense().numpy()
    np.testing.assert_array_equal(found[:, :-1], np.flipud(expected))
    assert (found[:, -1] == 1).all()
