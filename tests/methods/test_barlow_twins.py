"""Graph Barlow Twins: its loss by definition."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from graphprox.methods.barlow_twins import barlow_twins_loss


def randn(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def standardized_columns(h):
    return [[(value - np.mean(column)) / np.std(column) for value in column] for column in h.numpy().T]


def test_barlow_twins_loss_equals_its_definition():
    a, b = randn(7, 3), randn(7, 3, seed=1)
    za, zb = standardized_columns(a), standardized_columns(b)
    expected = 0.0
    for i in range(3):
        for j in range(3):
            correlation = sum(za[i][n] * zb[j][n] for n in range(7)) / 7
            expected += (1 - correlation) ** 2 if i == j else correlation**2 / 3
    assert barlow_twins_loss(a, b).item() == pytest.approx(expected)
