"""Laws that every objective obeys, with every combination of its switches."""

from __future__ import annotations

from itertools import product

import pytest
import torch

from graphprox import FTGCL, Recipe, synthetic
from graphprox.nn.objectives.base import OBJECTIVES


def variants():
    """Yield the name of each objective with all values of its boolean options."""
    for name, objective in OBJECTIVES.items():
        switches = [each for each, field in objective.options.model_fields.items() if field.annotation is bool]
        for values in product([False, True], repeat=len(switches)):
            options = dict(zip(switches, values, strict=True))
            yield pytest.param(name, options, id="-".join([name, *(each for each, value in options.items() if value)]))


all_variants = pytest.mark.parametrize(("name", "options"), list(variants()))


def outputs(nodes=12, channels=5):
    generator = torch.Generator().manual_seed(0)
    return [torch.randn(nodes, channels, generator=generator, dtype=torch.float64) for _ in range(2)]


def loss(name, options, a, b):
    return OBJECTIVES[name](a, b, OBJECTIVES[name].options(**options))


@all_variants
def test_loss_is_a_finite_number(name, options):
    value = loss(name, options, *outputs())
    assert value.shape == ()
    assert value.isfinite()


@all_variants
def test_gradient_agrees_with_finite_differences(name, options):
    a, b = (x.requires_grad_() for x in outputs(nodes=6, channels=4))
    assert torch.autograd.gradcheck(lambda a, b: loss(name, options, a, b), (a, b), atol=1e-6)


@all_variants
def test_loss_is_invariant_to_the_order_of_nodes(name, options):
    a, b = outputs()
    order = torch.randperm(len(a), generator=torch.Generator().manual_seed(1))
    assert torch.allclose(loss(name, options, a, b), loss(name, options, a[order], b[order]))


@all_variants
def test_equal_outputs_have_a_lower_loss_than_unrelated_ones(name, options):
    a, b = outputs(nodes=50)
    assert loss(name, options, a, a) < loss(name, options, a, b)


@pytest.mark.parametrize("name", OBJECTIVES)
def test_ftgcl_can_be_trained_with_the_objective(name):
    method = FTGCL(epochs=3, n_components=8, overrides={"objective.name": name}, cache=False)
    losses = method.fit(synthetic(nodes=140)).loss_curve_
    assert method.recipe_.objective.name == name
    assert len(losses) == 3
    assert Recipe.from_toml(method.recipe_.to_toml()) == method.recipe_
