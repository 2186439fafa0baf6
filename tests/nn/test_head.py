from __future__ import annotations

import pytest
import torch
from torch import nn

from graphprox.nn.head import Linear, ProjectionHead


def make_head(*, num_layers=2, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return ProjectionHead(6, num_layers=num_layers, out_channels=4, generator=generator)


def to_torch(head):
    """Return torch's linear layers with ELU in between and the weights of the head."""
    layers = []
    for each in head.layers:
        out_channels, in_channels = each.weight.shape
        layers += [nn.ELU(), nn.Linear(in_channels, out_channels)]
        layers[-1].load_state_dict(each.state_dict())
    return nn.Sequential(*layers[1:])


@pytest.mark.parametrize("num_layers", [1, 2, 3])
def test_head_equals_layers_of_torch(num_layers):
    ours = make_head(num_layers=num_layers)
    theirs = to_torch(ours)
    one, other = (torch.randn(9, 6, generator=torch.Generator().manual_seed(1)).requires_grad_() for _ in range(2))
    actual, expected = ours(one), theirs(other)
    torch.testing.assert_close(actual, expected)
    actual.square().sum().backward()
    expected.square().sum().backward()
    torch.testing.assert_close(one.grad, other.grad)
    for mine, torchs in zip(ours.parameters(), theirs.parameters(), strict=True):
        torch.testing.assert_close(mine.grad, torchs.grad)


def test_head_without_layers_returns_its_input():
    h = torch.randn(5, 6)
    assert make_head(num_layers=0)(h) is h
    assert not [*make_head(num_layers=0).parameters()]


@pytest.mark.parametrize("num_layers", [1, 2, 3])
def test_input_is_not_modified(num_layers):
    h = -torch.ones(5, 6)
    make_head(num_layers=num_layers)(h)
    assert torch.equal(h, -torch.ones(5, 6))


def test_linear_is_initialized_within_the_limits_of_torch():
    ours = Linear(400, 50, generator=torch.Generator().manual_seed(0))
    with torch.random.fork_rng():
        theirs = nn.Linear(400, 50)
    for mine, torchs in zip(ours.parameters(), theirs.parameters(), strict=True):
        assert mine.shape == torchs.shape
        assert 0.9 / 20 < mine.abs().max() <= 1 / 20
        assert mine.std().item() == pytest.approx(torchs.std().item(), rel=0.3)


def test_initialization_depends_on_the_given_generator_only():
    with torch.random.fork_rng():
        torch.manual_seed(1)
        state = torch.get_rng_state()
        one = make_head()
        assert torch.equal(torch.get_rng_state(), state)
        torch.manual_seed(2)
        other = make_head()
    assert all(map(torch.equal, one.parameters(), other.parameters()))
    assert not torch.equal(one.layers[0].weight, make_head(seed=1).layers[0].weight)
