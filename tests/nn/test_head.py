from __future__ import annotations

import pytest
import torch
from torch import nn

from graphprox.nn.head import Head, Linear


def head_of(inputs=6, *, layers=2, width=4, seed=0):
    return Head(inputs, layers=layers, width=width, rng=torch.Generator().manual_seed(seed))


def torchs(head):
    """Torch's own layers with ELU between them, and the head's weights."""
    layers = []
    for each in head.layers:
        outputs, inputs = each.weight.shape
        layers += [nn.ELU(), nn.Linear(inputs, outputs)]
        layers[-1].load_state_dict(each.state_dict())
    return nn.Sequential(*layers[1:])


@pytest.mark.parametrize("layers", [1, 2, 3])
def test_values_and_gradients_are_those_of_torchs_layers(layers):
    ours = head_of(layers=layers)
    theirs = torchs(ours)
    one, other = (torch.randn(9, 6, generator=torch.Generator().manual_seed(1)).requires_grad_() for _ in range(2))
    made, expected = ours(one), theirs(other)
    torch.testing.assert_close(made, expected)
    made.square().sum().backward()
    expected.square().sum().backward()
    torch.testing.assert_close(one.grad, other.grad)
    for mine, torchs_own in zip(ours.parameters(), theirs.parameters(), strict=True):
        torch.testing.assert_close(mine.grad, torchs_own.grad)


def test_a_head_without_layers_hands_its_input_on():
    h = torch.randn(5, 6)
    assert head_of(layers=0)(h) is h
    assert not [*head_of(layers=0).parameters()]


@pytest.mark.parametrize("layers", [1, 2, 3])
def test_the_input_is_not_written_to(layers):
    h = -torch.ones(5, 6)
    head_of(layers=layers)(h)
    assert torch.equal(h, -torch.ones(5, 6))


def test_weights_are_drawn_within_torchs_limits():
    ours = Linear(400, 50, rng=torch.Generator().manual_seed(0))
    with torch.random.fork_rng():
        theirs = nn.Linear(400, 50)
    for mine, torchs_own in zip(ours.parameters(), theirs.parameters(), strict=True):
        assert mine.shape == torchs_own.shape
        assert 0.9 / 20 < mine.abs().max() <= 1 / 20
        assert mine.std().item() == pytest.approx(torchs_own.std().item(), rel=0.3)


def test_the_same_seed_draws_the_same_weights_whatever_torchs_own_generator():
    with torch.random.fork_rng():
        torch.manual_seed(1)
        state = torch.get_rng_state()
        one = head_of()
        assert torch.equal(torch.get_rng_state(), state)
        torch.manual_seed(2)
        other = head_of()
    assert all(map(torch.equal, one.parameters(), other.parameters()))
    assert not torch.equal(one.layers[0].weight, head_of(seed=1).layers[0].weight)
