"""BGRL: its loss by definition, and its target encoder."""

from __future__ import annotations

import copy
import math

import numpy as np
import pytest
import torch

from graphprox import synthetic
from graphprox.methods._neural import GCNLayers
from graphprox.methods.bgrl import BGRL, bootstrap_loss, update_moving_average


def randn(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def test_bootstrap_loss_equals_its_definition():
    prediction, target = randn(5, 3).numpy(), randn(5, 3, seed=1).numpy()
    cosines = [
        sum(u * v for u, v in zip(p, q, strict=True)) / math.sqrt(sum(u * u for u in p) * sum(v * v for v in q))
        for p, q in zip(prediction, target, strict=True)
    ]
    assert bootstrap_loss(torch.tensor(prediction), torch.tensor(target)).item() == pytest.approx(1 - sum(cosines) / 5)


def test_target_encoder_is_a_moving_average():
    average, encoder = (GCNLayers([4, 3, 2], generator=torch.Generator().manual_seed(seed)) for seed in (0, 1))
    before = copy.deepcopy(average)
    update_moving_average(average, encoder, 0.9)
    for mean, old, current in zip(average.parameters(), before.parameters(), encoder.parameters(), strict=True):
        torch.testing.assert_close(mean, 0.9 * old + 0.1 * current)
    update_moving_average(average, encoder, 0.0)
    for mean, current in zip(average.parameters(), encoder.parameters(), strict=True):
        assert torch.equal(mean, current)


def test_momentum_rises_to_one():
    method = BGRL(momentum=0.9, epochs=10)
    momenta = [method._momentum(epoch) for epoch in range(10)]
    expected = [1 - 0.1 * (math.cos(math.pi * epoch / 10) + 1) / 2 for epoch in range(10)]
    assert momenta == pytest.approx(expected)
    assert momenta == sorted(momenta)


def test_momentum_of_the_target_encoder_changes_the_embedding():
    graph = synthetic(nodes=140)
    first, second = (
        BGRL(n_components=8, hidden_channels=16, epochs=3, momentum=momentum).fit_transform(graph)
        for momentum in (0.0, 1.0)
    )
    assert not np.array_equal(first, second)
