from __future__ import annotations

from typing import get_args

import pytest
import torch
from torch import nn

from graphprox.nn.activation import ACTIVATIONS, ActivationName, PReLU


def test_every_activation_name_is_implemented():
    assert set(get_args(ActivationName)) == set(ACTIVATIONS)


def test_prelu_equals_that_of_torch(assert_near):
    ours, theirs = PReLU(3), nn.PReLU(3, init=0.25)
    one, other = (torch.randn(9, 3, generator=torch.Generator().manual_seed(0)).requires_grad_() for _ in range(2))
    actual, expected = ours(one), theirs(other)
    assert torch.equal(actual, expected)
    actual.square().sum().backward()
    expected.square().sum().backward()
    assert_near(one.grad, other.grad)
    assert_near(ours.slope.grad, theirs.weight.grad)


@pytest.mark.parametrize(("name", "module"), [("elu", nn.ELU()), ("relu", nn.ReLU()), ("none", nn.Identity())])
def test_fixed_activations_equal_those_of_torch(name, module):
    h = torch.randn(9, 3)
    activation = ACTIVATIONS[name](3)
    assert torch.equal(activation(h.clone()), module(h))
    assert not [*activation.parameters()]
