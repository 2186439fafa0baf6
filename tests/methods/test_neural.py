"""Training loop and vectors of methods with weights."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch import nn

from graphprox import TrainingError
from graphprox.methods._neural import minimize, to_vectors


@pytest.mark.parametrize("decoupled", [True, False])
def test_minimize_with_a_schedule_equals_torch(decoupled):
    ours, theirs = (nn.Linear(3, 1) for _ in range(2))
    theirs.load_state_dict(ours.state_dict())
    x = torch.randn(5, 3, generator=torch.Generator().manual_seed(0))
    kind = torch.optim.AdamW if decoupled else torch.optim.Adam
    optimizer = kind(theirs.parameters(), lr=0.1, weight_decay=0.1)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 1 / (1 + epoch))
    expected = []
    for _ in range(4):
        optimizer.zero_grad()
        loss = theirs(x).square().mean()
        loss.backward()
        optimizer.step()
        schedule.step()
        expected.append(loss.item())
    made = minimize(
        ours,
        lambda: ours(x).square().mean(),
        epochs=4,
        learning_rate=lambda epoch: 0.1 / (1 + epoch),
        weight_decay=0.1,
        decoupled=decoupled,
    )
    assert made == pytest.approx(expected)
    torch.testing.assert_close(ours.weight, theirs.weight)
    assert not ours.training


def test_loss_that_is_not_finite_raises():
    module = nn.Linear(1, 1)
    with pytest.raises(TrainingError, match="the loss must be finite; it became nan in epoch 0: lower learning_rate"):
        minimize(module, lambda: module.weight.sum() * math.nan, epochs=1, learning_rate=0.1)


def test_vectors_must_be_finite():
    assert to_vectors(torch.ones(4, 2, requires_grad=True)).dtype == np.float32
    with pytest.raises(TrainingError, match="an embedding must be finite"):
        to_vectors(torch.full((4, 2), math.nan))
