"""Augmentation, batch normalization and learning rates of methods that compare augmented copies of a graph."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from sklearn.base import clone
from torch import nn

from graphprox import synthetic
from graphprox.methods._augmentation import (
    Augmenter,
    DebiasedBatchNorm,
    cosine_schedule,
    standardize,
)
from graphprox.methods._neural import GraphTensors
from graphprox.methods.barlow_twins import BarlowTwins
from graphprox.methods.bgrl import BGRL
from graphprox.methods.cca_ssg import CCASSG
from graphprox.methods.graphmae import GraphMAE


def randn(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def test_standardize_equals_its_definition_and_has_its_gradient():
    h = randn(9, 4).requires_grad_()
    made = standardize(h)
    expected = (h - h.mean(0)) / h.std(0, correction=0)
    torch.testing.assert_close(made, expected)
    upstream = randn(9, 4, seed=1)
    ours, theirs = (torch.autograd.grad(each, h, upstream, retain_graph=True)[0] for each in (made, expected))
    torch.testing.assert_close(ours, theirs)
    assert torch.equal(standardize(torch.ones(5, 2)), torch.zeros(5, 2))


def test_batch_norm_in_training_equals_torch():
    ours, theirs = DebiasedBatchNorm(4, momentum=0.3).double(), nn.BatchNorm1d(4, momentum=0.3).double()
    with torch.no_grad():
        for module in (ours, theirs):
            module.weight.copy_(randn(4, seed=2))
            module.bias.copy_(randn(4, seed=3))
    h = randn(7, 4).requires_grad_()
    upstream = randn(7, 4, seed=1)
    for _ in range(2):
        made, expected = ours(h), theirs(h)
        torch.testing.assert_close(made, expected)
    for one, other in zip(
        torch.autograd.grad(made, [h, ours.weight, ours.bias], upstream),
        torch.autograd.grad(expected, [h, theirs.weight, theirs.bias], upstream),
        strict=True,
    ):
        torch.testing.assert_close(one, other)


def test_batch_norm_after_many_steps_equals_torch():
    ours, theirs = DebiasedBatchNorm(4, momentum=0.3).double(), nn.BatchNorm1d(4, momentum=0.3).double()
    for seed in range(100):
        ours(randn(7, 4, seed=seed))
        theirs(randn(7, 4, seed=seed))
    h = randn(7, 4, seed=100)
    torch.testing.assert_close(ours.eval()(h), theirs.eval()(h))


@pytest.mark.parametrize("steps", [1, 2, 30])
def test_batch_norm_after_few_steps_ignores_initial_averages(steps):
    norm = DebiasedBatchNorm(4, eps=0).double()
    h = 1e-3 * randn(7, 4) + 5
    for _ in range(steps):
        norm(h)
    torch.testing.assert_close(norm.eval()(h), (h - h.mean(0)) / h.std(0))


def test_untrained_batch_norm_uses_statistics_of_the_batch():
    h = randn(7, 4)
    norm = DebiasedBatchNorm(4, eps=0).double().eval()
    torch.testing.assert_close(norm(h), standardize(h))
    torch.testing.assert_close(norm(2 * h), standardize(h))  # evaluation does not update the averages


def test_augmenter_drops_edges_and_features_at_their_rates():
    graph = synthetic(nodes=700)
    tensors = GraphTensors.of(graph)
    augmenter = Augmenter(graph, tensors, random_state=0)
    first, second = (augmenter.sample(drop_edge_rate=0.3, drop_feature_rate=0.2) for _ in range(2))
    for each in (first, second):
        assert (each.edges.pattern.num_entries - 700) / graph.num_entries == pytest.approx(0.7, abs=0.05)
        assert float(each.feature_mask.mean()) == pytest.approx(0.8, abs=0.15)
    assert not torch.equal(first.feature_mask, second.feature_mask)
    unchanged = augmenter.sample(drop_edge_rate=0, drop_feature_rate=0)
    assert unchanged.edges is tensors.edges
    assert unchanged.feature_mask.all()


def test_cosine_schedule_is_a_linear_warmup_and_a_cosine():
    rates = [cosine_schedule(epoch, 20, warmup_epochs=5) for epoch in range(20)]
    assert rates[:5] == [0.2, 0.4, 0.6, 0.8, 1.0]
    for epoch in range(5, 20):
        assert rates[epoch] == pytest.approx(0.5 + 0.5 * math.cos(math.pi * (epoch - 5) / 15))
    assert [cosine_schedule(epoch, 3, warmup_epochs=3) for epoch in range(3)] == pytest.approx([1 / 3, 2 / 3, 1])


# -- the methods themselves --------------------------------------------------------------------------------------------

METHODS = {
    "cca-ssg": CCASSG(n_components=16),
    "bgrl": BGRL(n_components=16, hidden_channels=32),
    "barlow-twins": BarlowTwins(n_components=16, hidden_channels=32),
    "graphmae": GraphMAE(n_components=16),
}


@pytest.mark.parametrize("name", METHODS)
def test_nearest_neighbors_in_a_trained_embedding_share_their_class(name):
    graph = synthetic(nodes=140)
    z = clone(METHODS[name]).set_params(epochs=30).fit_transform(graph)
    z = z - z.mean(0)
    z /= np.linalg.norm(z, axis=1, keepdims=True)
    nearest = np.argmax(z @ z.T - 2 * np.eye(140), axis=1)
    assert (graph.y[nearest] == graph.y).mean() > 2 / graph.num_classes


@pytest.mark.parametrize("name", METHODS)
def test_encoder_is_untrained_after_zero_epochs(name):
    vectors = clone(METHODS[name]).set_params(epochs=0).fit_transform(synthetic(nodes=140))
    assert vectors.shape == (140, 16)
    assert np.isfinite(vectors).all()
