"""Laws of all built-in objectives.

Covers graphprox.nn.objectives._contrast.
"""

from __future__ import annotations

import math
from functools import partial
from itertools import product

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from graphprox.errors import ParameterError
from graphprox.nn.objectives import OBJECTIVES
from graphprox.nn.objectives.channel import channel_contrast
from graphprox.nn.objectives.node import node_contrast

VARIANTS = [
    *(partial(channel_contrast, positives_in_denominator=positives) for positives in (False, True)),
    *(
        partial(node_contrast, block_size=2, positives_in_denominator=positives, intra_view=intra_view)
        for positives, intra_view in product([False, True], repeat=2)
    ),
]
all_variants = pytest.mark.parametrize("objective", VARIANTS)
sizes = st.integers(2, 9)
seeds = st.integers(0, 2**32)


@all_variants
@pytest.mark.parametrize("constant", [0, 1])
def test_one_view_may_be_constant(sample_views, objective, constant):
    pair = sample_views(5, 4)
    expected = torch.autograd.grad(objective(*pair, temperature=0.3), pair)[1 - constant]
    views = [view.detach() if each == constant else view for each, view in enumerate(pair)]
    (actual,) = torch.autograd.grad(objective(*views, temperature=0.3), pair[1 - constant])
    torch.testing.assert_close(actual, expected)


@all_variants
@given(num_nodes=sizes, channels=sizes, seed=seeds, temperature=st.floats(0.05, 2))
def test_loss_is_symmetric_in_the_views(sample_views, assert_same, objective, num_nodes, channels, seed, temperature):
    a, b = sample_views(num_nodes, channels, seed)
    assert_same(objective(a, b, temperature=temperature), objective(b, a, temperature=temperature), a, b)


@all_variants
def test_views_in_the_opposite_order_have_a_higher_loss(sample_views, objective):
    a, b = sample_views(20, 8)
    assert objective(a, b, temperature=0.2) < objective(a, b.flip(0).flip(1), temperature=0.2)


# -- small numbers and low temperatures -----------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@all_variants
def test_small_values_give_finite_gradients(sample_views, assert_finite, dtype, objective):
    for power in (*range(50), 100, 150, 170, 300, 320):
        a, b = (view.detach() for view in sample_views(6, 4, dtype=dtype))
        a[:, 0], a[0] = a[:, 0] * 10.0**-power, a[0] * 10.0**-power
        b[:, 0] *= 10.0**-power
        a.requires_grad_(), b.requires_grad_()
        assert_finite(objective(a, b, temperature=0.05), a, b)


@all_variants
@pytest.mark.parametrize("temperature", [0.05, 0.01, 0.001, 1e-6])
def test_precision_does_not_degrade_at_low_temperatures(sample_views, assert_finite, objective, temperature):
    exact = sample_views(40, 30)
    single = [view.detach().float().requires_grad_() for view in exact]
    loss = objective(*single, temperature=temperature)
    # The rounding errors of the similarities themselves grow with 1 / temperature.
    assert loss.item() == pytest.approx(objective(*exact, temperature=temperature).item(), abs=1e-6 / temperature)
    assert_finite(loss, *single)


@all_variants
def test_nan_propagates_to_the_loss(sample_views, objective):
    a, b = (view.detach() for view in sample_views(5, 4))
    a[2, 1] = math.nan
    assert objective(a, b, temperature=0.2).isnan()


# -- validation -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("objective", [channel_contrast, node_contrast])
class TestValidation:
    @pytest.mark.parametrize("temperature", [0, 0.0, -0.2, math.inf, math.nan, "0.2", None])
    def test_temperature_must_be_positive(self, sample_views, objective, temperature):
        with pytest.raises(ParameterError, match="temperature must be a positive, finite number; got"):
            objective(*sample_views(5, 4), temperature=temperature)

    @pytest.mark.parametrize(
        ("shape", "other"), [((5, 4), (5, 3)), ((5, 4), (6, 4)), ((5,), (5,)), ((2, 5, 4), (2, 5, 4))]
    )
    def test_views_must_be_matrices_of_the_same_shape(self, objective, shape, other):
        with pytest.raises(ParameterError, match="two views must be matrices of the same shape"):
            objective(torch.ones(shape), torch.ones(other), temperature=0.2)

    @pytest.mark.parametrize("types", [(torch.float32, torch.float64), (torch.int64, torch.int64)])
    def test_views_must_have_the_same_floating_point_type(self, objective, types):
        with pytest.raises(ParameterError, match=r"two views must have the same floating-point type; got torch\."):
            objective(*(torch.ones(5, 4, dtype=each) for each in types), temperature=0.2)


@pytest.mark.parametrize(
    ("objective", "shape", "kind"), [(channel_contrast, (5, 1), "channel"), (node_contrast, (1, 5), "node")]
)
def test_contrast_without_negatives_is_rejected(sample_views, objective, shape, kind):
    a, b = sample_views(*shape)
    with pytest.raises(ParameterError, match=f"{kind} contrast needs at least two {kind}s"):
        objective(a, b, temperature=0.2, positives_in_denominator=False)
    assert objective(a, b, temperature=0.2, positives_in_denominator=True).item() == pytest.approx(0)


@pytest.mark.parametrize(
    ("objective", "shape", "kind"), [(channel_contrast, (5, 0), "channel"), (node_contrast, (0, 5), "node")]
)
def test_empty_views_are_rejected(sample_views, objective, shape, kind):
    with pytest.raises(ParameterError, match=f"{kind} contrast needs at least one {kind}; got none"):
        objective(*sample_views(*shape), temperature=0.2, positives_in_denominator=True)


@pytest.mark.parametrize("name", ["channel", "node"])
def test_smallest_number_of_channels_is_accepted(sample_views, name):
    objective = OBJECTIVES[name]
    views = sample_views(5, objective.options.min_channels)
    assert objective(*views, objective.options()).isfinite()
