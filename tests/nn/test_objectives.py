"""Contrast of channels and of nodes: against the formulas written out, and by the laws that they keep."""

from __future__ import annotations

import math
import subprocess
import sys
from functools import partial, reduce
from itertools import pairwise, product
from operator import add
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.autograd import gradcheck, gradgradcheck
from torch.utils._python_dispatch import TorchDispatchMode

from graphprox import ParameterError
from graphprox.nn.objectives import (
    OBJECTIVES,
    ChannelStatistics,
    channel_contrast,
    channel_loss,
    channel_statistics,
    node_contrast,
)

BOTH = [False, True]
NODE_VARIANTS = [
    {"positives_in_denominator": positives, "intra_view": intra_view} for positives, intra_view in product(BOTH, BOTH)
]
VARIANTS = [
    *(partial(channel_contrast, positives_in_denominator=positives) for positives in BOTH),
    *(partial(node_contrast, block=2, **options) for options in NODE_VARIANTS),
]


def drawn(nodes: int, channels: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> tuple[Tensor, Tensor]:
    """Two views that have something in common."""
    rng = torch.Generator().manual_seed(seed)
    a, noise = torch.randn(2, nodes, channels, generator=rng, dtype=torch.float64)
    return tuple(view.to(dtype).requires_grad_() for view in (a, a + noise))


@st.composite
def pairs(draw, *, least: int = 2) -> tuple[Tensor, Tensor]:
    size = st.integers(least, 9)
    return drawn(draw(size), draw(size), draw(st.integers(0, 2**32)))


temperatures = st.floats(0.05, 2)


def gradients(loss: Tensor, *views: Tensor) -> tuple[Tensor, ...]:
    return torch.autograd.grad(loss, views)


def assert_same(ours, theirs, a: Tensor, b: Tensor) -> None:
    """The same value and the same gradients, to the last digits but a few."""
    assert ours.item() == pytest.approx(theirs.item(), rel=1e-10, abs=1e-10)
    for mine, other in zip(gradients(ours, a, b), gradients(theirs, a, b), strict=True):
        torch.testing.assert_close(mine, other, rtol=1e-8, atol=1e-10)


# -- the formulas, written out ----------------------------------------------------------------------------------------


def cosine(x: list[float], y: list[float]) -> float:
    lengths = math.sqrt(sum(each * each for each in x)) * math.sqrt(sum(each * each for each in y))
    return sum(p * q for p, q in zip(x, y, strict=True)) / lengths if lengths else 0.0


def equation_2(a: Tensor, b: Tensor, temperature: float, *, positives: bool = False) -> float:
    """The paper's Eq. 2 and its mean over channels, term by term."""
    c, c_a = a.T.tolist(), b.T.tolist()
    d = len(c)
    total = 0.0
    for i in range(d):
        others = [j for j in range(d) if positives or j != i]
        positive = math.exp(cosine(c[i], c_a[i]) / temperature)
        total -= math.log(positive / sum(math.exp(cosine(c[i], c_a[j]) / temperature) for j in others))
        total -= math.log(positive / sum(math.exp(cosine(c[j], c_a[i]) / temperature) for j in others))
    return total / d


def grace(a: Tensor, b: Tensor, temperature: float, *, positives: bool = True) -> float:
    """GRACE's loss: each node against the other view and its own, the mean of both directions and over nodes."""

    def one_direction(own: list[list[float]], other: list[list[float]], i: int) -> float:
        nodes = range(len(own))
        inter = [math.exp(cosine(own[i], other[k]) / temperature) for k in nodes]
        intra = [math.exp(cosine(own[i], own[k]) / temperature) for k in nodes]
        denominator = sum(inter[k] for k in nodes if positives or k != i) + sum(intra[k] for k in nodes if k != i)
        return -math.log(inter[i] / denominator)

    u, v = a.tolist(), b.tolist()
    return sum(one_direction(u, v, i) + one_direction(v, u, i) for i in range(len(u))) / (2 * len(u))


def dense(a: Tensor, b: Tensor, *, temperature: float, positives_in_denominator: bool, intra_view: bool) -> Tensor:
    """Node contrast from the whole matrix, differentiated by torch."""
    n = len(a)
    rows = torch.nn.functional.normalize(torch.cat([a, b]))
    similarities = rows @ rows.T / temperature
    own, counterpart = torch.eye(2 * n, dtype=torch.bool), torch.eye(2 * n, dtype=torch.bool).roll(n, 0)
    same_view = torch.block_diag(torch.ones(n, n), torch.ones(n, n)).bool()
    left_out = own | (same_view & (not intra_view)) | (counterpart & (not positives_in_denominator))
    logs = similarities.masked_fill(left_out, -math.inf).logsumexp(1)
    return (logs - similarities[counterpart]).sum() / n


@given(pair=pairs(), temperature=temperatures, positives=st.booleans())
def test_channel_contrast_is_equation_2(pair, temperature, positives):
    loss = channel_contrast(*pair, temperature=temperature, positives_in_denominator=positives)
    assert loss.item() == pytest.approx(equation_2(*pair, temperature, positives=positives), rel=1e-10, abs=1e-10)


def test_the_paper_leaves_the_positive_pair_out_of_the_denominator():
    assert channel_contrast(*drawn(7, 5), temperature=0.2) == channel_contrast(
        *drawn(7, 5), temperature=0.2, positives_in_denominator=False
    )


@given(pair=pairs(), temperature=temperatures, positives=st.booleans(), block=st.integers(1, 10))
def test_node_contrast_is_twice_graces_loss(pair, temperature, positives, block):
    loss = node_contrast(
        *pair, temperature=temperature, positives_in_denominator=positives, intra_view=True, block=block
    )
    assert loss.item() == pytest.approx(2 * grace(*pair, temperature, positives=positives), rel=1e-10, abs=1e-10)


@given(pair=pairs(), temperature=temperatures, positives=st.booleans(), block=st.integers(1, 10))
def test_node_contrast_is_channel_contrast_of_the_transposes(pair, temperature, positives, block):
    a, b = pair
    of_nodes = node_contrast(a, b, temperature=temperature, positives_in_denominator=positives, block=block)
    of_channels = channel_contrast(a.T, b.T, temperature=temperature, positives_in_denominator=positives)
    assert_same(of_nodes, of_channels, a, b)


@pytest.mark.parametrize("options", NODE_VARIANTS)
@pytest.mark.parametrize("block", [1, 5, 8, 17, 100])
@pytest.mark.parametrize("temperature", [0.5, 0.05, 0.001])
def test_blocks_change_neither_value_nor_gradient(options, block, temperature):
    a, b = drawn(17, 6)
    ours = node_contrast(a, b, temperature=temperature, block=block, **options)
    assert_same(ours, dense(a, b, temperature=temperature, **options), a, b)


@pytest.mark.parametrize("objective", VARIANTS)
def test_gradients_are_those_of_finite_differences(objective):
    assert gradcheck(partial(objective, temperature=0.3), drawn(5, 4))


@pytest.mark.parametrize("objective", VARIANTS)
@pytest.mark.parametrize("fixed", [0, 1])
def test_one_view_may_be_fixed(objective, fixed):
    pair = drawn(5, 4)
    expected = gradients(objective(*pair, temperature=0.3), *pair)[1 - fixed]
    views = [view.detach() if each == fixed else view for each, view in enumerate(pair)]
    torch.testing.assert_close(gradients(objective(*views, temperature=0.3), pair[1 - fixed])[0], expected)


def test_channel_contrast_can_be_differentiated_twice():
    assert gradgradcheck(partial(channel_contrast, temperature=0.3), drawn(4, 3))


# -- laws -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("objective", VARIANTS)
@given(pair=pairs(), temperature=temperatures)
def test_both_views_count_alike(objective, pair, temperature):
    a, b = pair
    assert_same(objective(a, b, temperature=temperature), objective(b, a, temperature=temperature), a, b)


@pytest.mark.parametrize("objective", VARIANTS)
@given(pair=pairs(), data=st.data())
def test_the_order_of_nodes_and_of_channels_does_not_matter(objective, pair, data):
    a, b = pair
    nodes, channels = (data.draw(st.permutations(range(size))) for size in a.shape)
    turned = objective(a[nodes][:, channels], b[nodes][:, channels], temperature=0.2)
    assert_same(turned, objective(a, b, temperature=0.2), a, b)


@given(pair=pairs(), data=st.data())
def test_the_length_of_what_is_compared_does_not_matter(pair, data):
    a, b = pair
    lengths = st.floats(1e-3, 1e3)
    by_node, by_channel = (
        torch.tensor(data.draw(st.lists(lengths, min_size=size, max_size=size)), dtype=a.dtype) for size in a.shape
    )
    scaled = channel_contrast(a * by_channel, b, temperature=0.2)
    assert scaled.item() == pytest.approx(channel_contrast(a, b, temperature=0.2).item())
    scaled = node_contrast(a, b * by_node[:, None], temperature=0.2, intra_view=True)
    assert scaled.item() == pytest.approx(node_contrast(a, b, temperature=0.2, intra_view=True).item())


@pytest.mark.parametrize("objective", VARIANTS)
def test_views_that_agree_have_a_lower_loss_than_views_that_do_not(objective):
    a, b = drawn(20, 8)
    assert objective(a, a, temperature=0.2) < objective(a, b, temperature=0.2)
    assert objective(a, b, temperature=0.2) < objective(a, b.flip(0).flip(1), temperature=0.2)


@given(pair=pairs(), sizes=st.lists(st.integers(0, 4), min_size=1, max_size=5), positives=st.booleans())
def test_statistics_of_parts_give_the_loss_and_gradient_of_the_whole(pair, sizes, positives):
    a, b = pair
    cuts = sorted({0, len(a), *(min(sum(sizes[:each]), len(a)) for each in range(len(sizes)))})
    parts = [channel_statistics(a[low:high], b[low:high]) for low, high in pairwise(cuts)]
    options = {"temperature": 0.2, "positives_in_denominator": positives}
    assert_same(channel_loss(reduce(add, parts), **options), channel_contrast(a, b, **options), a, b)


def test_parts_need_never_stand_in_memory_together():
    a, b = drawn(10, 4)
    expected = gradients(channel_contrast(a, b, temperature=0.2), a, b)
    views = [(a.detach()[part], b.detach()[part]) for part in (slice(0, 3), slice(3, 3), slice(3, 10))]
    # A first pass adds up what the loss needs; a second sends its gradient back through one part at a time.
    whole = ChannelStatistics(*(each.requires_grad_() for each in reduce(add, (channel_statistics(*v) for v in views))))
    upstream = gradients(channel_loss(whole, temperature=0.2), *whole)
    found = []
    for x, y in views:
        x.requires_grad_(), y.requires_grad_()
        found.append(torch.autograd.grad(channel_statistics(x, y), (x, y), upstream))
    for mine, other in zip(zip(*found, strict=True), expected, strict=True):
        torch.testing.assert_close(torch.cat(mine), other)


# -- zeros, small numbers and low temperatures ------------------------------------------------------------------------

ALL_FINITE = pytest.mark.parametrize("dtype", [torch.float32, torch.float64])


def assert_finite(loss: Tensor, *views: Tensor) -> tuple[Tensor, ...]:
    found = gradients(loss, *views)
    assert loss.isfinite()
    assert all(each.isfinite().all() for each in found)
    return found


@ALL_FINITE
@pytest.mark.parametrize("temperature", [0.05, 0.5])
@pytest.mark.parametrize("dead", [([1], []), ([1], [1]), ([0, 2], [1]), ([0, 1, 2, 3], [0, 1, 2, 3])])
def test_a_dead_channel_has_cosine_zero_and_no_gradient(dtype, temperature, dead):
    a, b = (view.detach() for view in drawn(6, 4, dtype=dtype))
    for view, channels in zip((a, b), dead, strict=True):
        view[:, channels] = 0
        view.requires_grad_()
    loss = channel_contrast(a, b, temperature=temperature)
    assert loss.item() == pytest.approx(equation_2(a, b, temperature), rel=1e-5)
    for gradient, channels in zip(assert_finite(loss, a, b), dead, strict=True):
        assert (gradient[:, channels] == 0).all()


@ALL_FINITE
@pytest.mark.parametrize("temperature", [0.05, 0.005])
@pytest.mark.parametrize("options", NODE_VARIANTS)
def test_a_dead_node_has_cosine_zero_and_no_gradient(dtype, temperature, options):
    a, b = (view.detach() for view in drawn(6, 4, dtype=dtype))
    a[[1, 2]] = b[[1, 4]] = 0
    a.requires_grad_(), b.requires_grad_()
    loss = node_contrast(a, b, temperature=temperature, block=4, **options)
    assert loss.item() == pytest.approx(dense(a, b, temperature=temperature, **options).item(), rel=1e-4)
    of_a, of_b = assert_finite(loss, a, b)
    assert (of_a[[1, 2]] == 0).all()
    assert (of_b[[1, 4]] == 0).all()


@ALL_FINITE
@pytest.mark.parametrize("objective", VARIANTS)
def test_however_small_a_number_all_is_finite(dtype, objective):
    for power in (*range(50), 100, 150, 170, 300, 320):
        a, b = (view.detach() for view in drawn(6, 4, dtype=dtype))
        a[:, 0], a[0] = a[:, 0] * 10.0**-power, a[0] * 10.0**-power
        b[:, 0] *= 10.0**-power
        a.requires_grad_(), b.requires_grad_()
        assert_finite(objective(a, b, temperature=0.05), a, b)


@pytest.mark.parametrize("objective", VARIANTS)
@pytest.mark.parametrize("temperature", [0.05, 0.01, 0.001, 1e-6])
def test_a_low_temperature_costs_no_digits_but_those_of_the_similarities(objective, temperature):
    exact = drawn(40, 30)
    single = [view.detach().float().requires_grad_() for view in exact]
    loss = objective(*single, temperature=temperature)
    assert loss.item() == pytest.approx(objective(*exact, temperature=temperature).item(), abs=1e-6 / temperature)
    assert_finite(loss, *single)


@pytest.mark.parametrize("objective", VARIANTS)
def test_what_is_no_number_stays_visible(objective):
    a, b = (view.detach() for view in drawn(5, 4))
    a[2, 1] = math.nan
    assert objective(a, b, temperature=0.2).isnan()


# -- cost -------------------------------------------------------------------------------------------------------------


class Watch(TorchDispatchMode):
    """Counts matrix products, and keeps every tensor that is made."""

    def __init__(self) -> None:
        super().__init__()
        self.products, self.made = 0, []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        self.products += "mm" in func.__name__
        self.made += [each for each in torch.utils._pytree.tree_leaves(result) if isinstance(each, Tensor)]
        return result

    def storages(self, *, at_least: int) -> set[int]:
        """Where the distinct tensors lie that hold so many bytes or more."""
        stored = (each.untyped_storage() for each in self.made)
        return {storage.data_ptr() for storage in stored if storage.nbytes() >= at_least}


def test_channel_contrast_makes_three_products_and_no_copy_of_a_view():
    a, b = drawn(5000, 8)
    with Watch() as watch:
        found = gradients(channel_contrast(a, b, temperature=0.2), a, b)
    assert watch.products == 3
    views, made = ({each.data_ptr() for each in pair} for pair in ((a, b), found))
    assert watch.storages(at_least=a.numel() * a.element_size()) - views == made


@pytest.mark.parametrize("intra_view", BOTH)
def test_node_contrast_makes_each_block_once_forward_and_once_backward(intra_view):
    a, b = drawn(60, 4)
    with Watch() as watch:
        node_contrast(a, b, temperature=0.2, intra_view=intra_view, block=10).backward()
    tiles, on_the_diagonal = (12 * 13 // 2, 12) if intra_view else (36, 0)
    assert watch.products == 2 * tiles + 2 * tiles - on_the_diagonal
    assert not watch.storages(at_least=60 * 60 * a.element_size())


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="only Linux tells the peak of one process")
def test_the_square_of_the_number_of_nodes_never_stands_in_memory():
    code = """
import re, torch
from pathlib import Path
from graphprox.nn.objectives import node_contrast

def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) * 1024

def contrast(nodes):
    a, b = torch.randn(2, nodes, 16).requires_grad_()
    node_contrast(a, b, temperature=0.2).backward()

contrast(2000)
before = peak()
contrast(12_000)
print(peak() - before)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 12_000**2 * 4 / 10


# -- rules ------------------------------------------------------------------------------------------------------------


def test_the_table_names_both_objectives():
    assert {"channel": channel_contrast, "node": node_contrast} == OBJECTIVES


@pytest.mark.parametrize("objective", OBJECTIVES.values())
class TestEveryObjective:
    @pytest.mark.parametrize("temperature", [0, 0.0, -0.2, math.inf, math.nan, "0.2", None])
    def test_wants_a_positive_temperature(self, objective, temperature):
        with pytest.raises(ParameterError, match="temperature must be a positive, finite number; got"):
            objective(*drawn(5, 4), temperature=temperature)

    @pytest.mark.parametrize(
        ("shape", "other"), [((5, 4), (5, 3)), ((5, 4), (6, 4)), ((5,), (5,)), ((2, 5, 4), (2, 5, 4))]
    )
    def test_wants_two_matrices_of_one_shape(self, objective, shape, other):
        with pytest.raises(ParameterError, match="two views must be matrices of one shape"):
            objective(torch.ones(shape), torch.ones(other), temperature=0.2)

    @pytest.mark.parametrize("types", [(torch.float32, torch.float64), (torch.int64, torch.int64)])
    def test_wants_one_floating_point_type(self, objective, types):
        with pytest.raises(ParameterError, match=r"two views must be of one floating-point type; got torch\."):
            objective(*(torch.ones(5, 4, dtype=each) for each in types), temperature=0.2)


@pytest.mark.parametrize(
    ("contrast", "shape", "what"), [(channel_contrast, (5, 1), "channel"), (node_contrast, (1, 5), "node")]
)
def test_one_alone_has_nothing_to_differ_from(contrast, shape, what):
    a, b = drawn(*shape)
    with pytest.raises(ParameterError, match=f"{what} contrast needs at least two {what}s"):
        contrast(a, b, temperature=0.2, positives_in_denominator=False)
    assert contrast(a, b, temperature=0.2, positives_in_denominator=True).item() == pytest.approx(0)


@pytest.mark.parametrize(
    ("contrast", "shape", "what"), [(channel_contrast, (5, 0), "channel"), (node_contrast, (0, 5), "node")]
)
def test_none_at_all_is_an_error(contrast, shape, what):
    with pytest.raises(ParameterError, match=f"{what} contrast needs at least one {what}; got none"):
        contrast(*drawn(*shape), temperature=0.2, positives_in_denominator=True)


@pytest.mark.parametrize("block", [0, -1, 2.0, True, "8"])
def test_a_block_has_a_side(block):
    with pytest.raises(ParameterError, match="block must be a whole number from 1"):
        node_contrast(*drawn(5, 4), temperature=0.2, block=block)


def test_statistics_of_different_channels_do_not_add_up():
    with pytest.raises(ParameterError, match="as many channels; got 4 and 1 channels"):
        channel_statistics(*drawn(5, 4)) + channel_statistics(*drawn(5, 1))
