"""Laws that every objective obeys."""

from __future__ import annotations

import pytest
import torch

from graphprox import FTGCL, Recipe, synthetic
from graphprox.nn.objectives.base import OBJECTIVES


def outputs(nodes=12, channels=5):
    generator = torch.Generator().manual_seed(0)
    return [torch.randn(nodes, channels, generator=generator, dtype=torch.float64) for _ in range(2)]


def loss(name, a, b):
    return OBJECTIVES[name](a, b, OBJECTIVES[name].options())


@pytest.mark.parametrize("name", OBJECTIVES)
def test_loss_is_a_finite_number(name):
    value = loss(name, *outputs())
    assert value.shape == ()
    assert value.isfinite()


@pytest.mark.parametrize("name", OBJECTIVES)
def test_gradient_agrees_with_finite_differences(name):
    a, b = (x.requires_grad_() for x in outputs(nodes=6, channels=4))
    assert torch.autograd.gradcheck(lambda a, b: loss(name, a, b), (a, b), atol=1e-6)


@pytest.mark.parametrize("name", OBJECTIVES)
def test_loss_does_not_change_when_nodes_are_permuted(name):
    a, b = outputs()
    order = torch.randperm(len(a), generator=torch.Generator().manual_seed(1))
    assert torch.allclose(loss(name, a, b), loss(name, a[order], b[order]))


@pytest.mark.parametrize("name", OBJECTIVES)
def test_equal_outputs_have_a_lower_loss_than_unrelated_ones(name):
    a, b = outputs(nodes=50)
    assert loss(name, a, a) < loss(name, a, b)


@pytest.mark.parametrize("name", OBJECTIVES)
def test_family_trains_by_the_objective(name):
    method = FTGCL(epochs=3, n_components=8, overrides={"objective.name": name}, cache=False)
    losses = method.fit(synthetic(nodes=140)).loss_curve_
    assert method.recipe_.objective.name == name
    assert len(losses) == 3
    assert Recipe.from_toml(method.recipe_.to_toml()) == method.recipe_
