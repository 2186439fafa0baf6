from __future__ import annotations

import math
from functools import partial, reduce
from itertools import pairwise
from operator import add

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.autograd import gradgradcheck

from graphprox.errors import ParameterError
from graphprox.nn.objectives.channel import ChannelStatistics, channel_contrast, channel_loss, channel_statistics

sizes = st.integers(2, 9)
seeds = st.integers(0, 2**32)


def cosine(x, y):
    norms = math.sqrt(sum(each * each for each in x)) * math.sqrt(sum(each * each for each in y))
    return sum(p * q for p, q in zip(x, y, strict=True)) / norms if norms else 0.0


def equation_2(a, b, temperature, *, positives=False):
    """Compute the paper's Eq. 2 and its mean over channels, term by term."""
    c, c_a = a.T.tolist(), b.T.tolist()
    d = len(c)
    total = 0.0
    for i in range(d):
        others = [j for j in range(d) if positives or j != i]
        positive = math.exp(cosine(c[i], c_a[i]) / temperature)
        total -= math.log(positive / sum(math.exp(cosine(c[i], c_a[j]) / temperature) for j in others))
        total -= math.log(positive / sum(math.exp(cosine(c[j], c_a[i]) / temperature) for j in others))
    return total / d


@given(num_nodes=sizes, channels=sizes, seed=seeds, temperature=st.floats(0.05, 2), positives=st.booleans())
def test_loss_is_equation_2_of_the_paper(sample_views, num_nodes, channels, seed, temperature, positives):
    views = sample_views(num_nodes, channels, seed)
    loss = channel_contrast(*views, temperature=temperature, positives_in_denominator=positives)
    assert loss.item() == pytest.approx(equation_2(*views, temperature, positives=positives), rel=1e-10, abs=1e-10)


def test_loss_can_be_differentiated_twice(sample_views):
    assert gradgradcheck(partial(channel_contrast, temperature=0.3), sample_views(4, 3))


@given(num_nodes=sizes, channels=sizes, seed=seeds, data=st.data())
def test_loss_does_not_depend_on_the_scale_of_channels(sample_views, num_nodes, channels, seed, data):
    a, b = sample_views(num_nodes, channels, seed)
    scales = data.draw(st.lists(st.floats(1e-3, 1e3), min_size=channels, max_size=channels))
    scaled = channel_contrast(a * torch.tensor(scales, dtype=a.dtype), b, temperature=0.2)
    assert scaled.item() == pytest.approx(channel_contrast(a, b, temperature=0.2).item())


# -- statistics -----------------------------------------------------------------------------------------------------


@given(
    num_nodes=sizes,
    channels=sizes,
    seed=seeds,
    parts=st.lists(st.integers(0, 4), min_size=1, max_size=5),
    positives=st.booleans(),
)
def test_statistics_of_parts_give_the_loss_of_the_whole(
    sample_views, assert_same, num_nodes, channels, seed, parts, positives
):
    a, b = sample_views(num_nodes, channels, seed)
    cuts = sorted({0, num_nodes, *(min(sum(parts[:each]), num_nodes) for each in range(len(parts)))})
    statistics = [channel_statistics(a[low:high], b[low:high]) for low, high in pairwise(cuts)]
    options = {"temperature": 0.2, "positives_in_denominator": positives}
    assert_same(channel_loss(reduce(add, statistics), **options), channel_contrast(a, b, **options), a, b)


def test_gradients_can_be_computed_one_part_at_a_time(sample_views):
    a, b = sample_views(10, 4)
    expected = torch.autograd.grad(channel_contrast(a, b, temperature=0.2), (a, b))
    parts = [(a.detach()[part], b.detach()[part]) for part in (slice(0, 3), slice(3, 3), slice(3, 10))]
    # A first pass sums the statistics; a second one propagates their gradient through one part at a time.
    whole = ChannelStatistics(*(each.requires_grad_() for each in reduce(add, (channel_statistics(*p) for p in parts))))
    upstream = torch.autograd.grad(channel_loss(whole, temperature=0.2), whole)
    gradients = []
    for x, y in parts:
        x.requires_grad_(), y.requires_grad_()
        gradients.append(torch.autograd.grad(channel_statistics(x, y), (x, y), upstream))
    for mine, other in zip(zip(*gradients, strict=True), expected, strict=True):
        torch.testing.assert_close(torch.cat(mine), other)


def test_statistics_of_different_channels_cannot_be_added(sample_views):
    with pytest.raises(ParameterError, match="must have the same number of channels; got 4 and 1"):
        channel_statistics(*sample_views(5, 4)) + channel_statistics(*sample_views(5, 1))


# -- zeros ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("temperature", [0.05, 0.5])
@pytest.mark.parametrize("zeros", [([1], []), ([1], [1]), ([0, 2], [1]), ([0, 1, 2, 3], [0, 1, 2, 3])])
def test_zero_channel_has_cosine_zero_and_no_gradient(sample_views, assert_finite, dtype, temperature, zeros):
    a, b = (view.detach() for view in sample_views(6, 4, dtype=dtype))
    for view, channels in zip((a, b), zeros, strict=True):
        view[:, channels] = 0
        view.requires_grad_()
    loss = channel_contrast(a, b, temperature=temperature)
    assert loss.item() == pytest.approx(equation_2(a, b, temperature), rel=1e-5)
    for gradient, channels in zip(assert_finite(loss, a, b), zeros, strict=True):
        assert (gradient[:, channels] == 0).all()


# -- cost -----------------------------------------------------------------------------------------------------------


def test_cost_is_three_products_and_no_copy_of_a_view(sample_views, record):
    a, b = sample_views(5000, 8)
    with record:
        gradients = torch.autograd.grad(channel_contrast(a, b, temperature=0.2), (a, b))
    assert record.products == 3
    views, allocated = ({each.data_ptr() for each in pair} for pair in ((a, b), gradients))
    assert record.find_storages(min_bytes=a.numel() * a.element_size()) - views == allocated
