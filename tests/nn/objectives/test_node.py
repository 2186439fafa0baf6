from __future__ import annotations

import math
import subprocess
import sys
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from graphprox.errors import ParameterError
from graphprox.nn.objectives.channel import channel_contrast
from graphprox.nn.objectives.node import node_contrast

VARIANTS = [
    {"positives_in_denominator": positives, "intra_view": intra_view}
    for positives, intra_view in product([False, True], repeat=2)
]
all_variants = pytest.mark.parametrize("options", VARIANTS)
sizes = st.integers(2, 9)
seeds = st.integers(0, 2**32)
temperatures = st.floats(0.05, 2)
block_sizes = st.integers(1, 10)


def cosine(x, y):
    norms = math.sqrt(sum(each * each for each in x)) * math.sqrt(sum(each * each for each in y))
    return sum(p * q for p, q in zip(x, y, strict=True)) / norms if norms else 0.0


def grace(a, b, temperature, *, positives=True):
    """Compute the loss of GRACE term by term: the mean of both directions and over nodes."""

    def one_direction(own, other, i):
        nodes = range(len(own))
        inter = [math.exp(cosine(own[i], other[k]) / temperature) for k in nodes]
        intra = [math.exp(cosine(own[i], own[k]) / temperature) for k in nodes]
        denominator = sum(inter[k] for k in nodes if positives or k != i) + sum(intra[k] for k in nodes if k != i)
        return -math.log(inter[i] / denominator)

    u, v = a.tolist(), b.tolist()
    return sum(one_direction(u, v, i) + one_direction(v, u, i) for i in range(len(u))) / (2 * len(u))


def dense_node_contrast(a, b, *, temperature, positives_in_denominator, intra_view):
    """Compute the node contrast from the whole similarity matrix with autograd."""
    n = len(a)
    rows = torch.nn.functional.normalize(torch.cat([a, b]))
    similarities = rows @ rows.T / temperature
    own, counterpart = torch.eye(2 * n, dtype=torch.bool), torch.eye(2 * n, dtype=torch.bool).roll(n, 0)
    same_view = torch.block_diag(torch.ones(n, n), torch.ones(n, n)).bool()
    excluded = own | (same_view & (not intra_view)) | (counterpart & (not positives_in_denominator))
    logs = similarities.masked_fill(excluded, -math.inf).logsumexp(1)
    return (logs - similarities[counterpart]).sum() / n


@given(
    num_nodes=sizes,
    channels=sizes,
    seed=seeds,
    temperature=temperatures,
    positives=st.booleans(),
    block_size=block_sizes,
)
def test_loss_is_twice_that_of_grace(sample_views, num_nodes, channels, seed, temperature, positives, block_size):
    views = sample_views(num_nodes, channels, seed)
    options = {"positives_in_denominator": positives, "intra_view": True, "block_size": block_size}
    loss = node_contrast(*views, temperature=temperature, **options)
    assert loss.item() == pytest.approx(2 * grace(*views, temperature, positives=positives), rel=1e-10, abs=1e-10)


@given(
    num_nodes=sizes,
    channels=sizes,
    seed=seeds,
    temperature=temperatures,
    positives=st.booleans(),
    block_size=block_sizes,
)
def test_loss_is_channel_contrast_of_the_transposes(
    sample_views, assert_same, num_nodes, channels, seed, temperature, positives, block_size
):
    a, b = sample_views(num_nodes, channels, seed)
    options = {"temperature": temperature, "positives_in_denominator": positives}
    nodes = node_contrast(a, b, block_size=block_size, **options)
    assert_same(nodes, channel_contrast(a.T, b.T, **options), a, b)


@all_variants
@pytest.mark.parametrize("block_size", [1, 5, 8, 17, np.int64(17), 100])
@pytest.mark.parametrize("temperature", [0.5, 0.05, 0.001])
def test_loss_does_not_depend_on_the_block_size(sample_views, assert_same, options, block_size, temperature):
    a, b = sample_views(17, 6)
    loss = node_contrast(a, b, temperature=temperature, block_size=block_size, **options)
    assert_same(loss, dense_node_contrast(a, b, temperature=temperature, **options), a, b)


@given(num_nodes=sizes, channels=sizes, seed=seeds, data=st.data())
def test_loss_does_not_depend_on_the_scale_of_nodes(sample_views, num_nodes, channels, seed, data):
    a, b = sample_views(num_nodes, channels, seed)
    scales = data.draw(st.lists(st.floats(1e-3, 1e3), min_size=num_nodes, max_size=num_nodes))
    options = {"temperature": 0.2, "positives_in_denominator": True, "intra_view": True}
    scaled = node_contrast(a, b * torch.tensor(scales, dtype=a.dtype)[:, None], **options)
    assert scaled.item() == pytest.approx(node_contrast(a, b, **options).item())


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("temperature", [0.05, 0.005])
@all_variants
def test_zero_node_has_cosine_zero_and_no_gradient(sample_views, assert_finite, dtype, temperature, options):
    a, b = (view.detach() for view in sample_views(6, 4, dtype=dtype))
    a[[1, 2]] = b[[1, 4]] = 0
    a.requires_grad_(), b.requires_grad_()
    loss = node_contrast(a, b, temperature=temperature, block_size=4, **options)
    assert loss.item() == pytest.approx(dense_node_contrast(a, b, temperature=temperature, **options).item(), rel=1e-4)
    gradient_a, gradient_b = assert_finite(loss, a, b)
    assert (gradient_a[[1, 2]] == 0).all()
    assert (gradient_b[[1, 4]] == 0).all()


@pytest.mark.parametrize("block_size", [0, -1, 2.0, True, "8"])
def test_block_size_must_be_a_positive_integer(sample_views, block_size):
    with pytest.raises(ParameterError, match="block_size must be a positive integer; got"):
        node_contrast(*sample_views(5, 4), temperature=0.2, block_size=block_size)


# -- cost -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("intra_view", [False, True])
def test_each_block_is_computed_once_forward_and_once_backward(sample_views, record, intra_view):
    a, b = sample_views(60, 4)
    with record:
        node_contrast(a, b, temperature=0.2, intra_view=intra_view, block_size=10).backward()
    tiles, on_the_diagonal = (12 * 13 // 2, 12) if intra_view else (36, 0)
    assert record.products == 2 * tiles + 2 * tiles - on_the_diagonal
    assert not record.find_storages(min_bytes=60 * 60 * a.element_size())


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is only available on Linux")
def test_memory_is_not_quadratic_in_the_number_of_nodes():
    code = """
import re, torch
from pathlib import Path
from graphprox.nn.objectives.node import node_contrast

def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) * 1024

def contrast(num_nodes):
    a, b = torch.randn(2, num_nodes, 16).requires_grad_()
    node_contrast(a, b, temperature=0.2).backward()

contrast(2000)
before = peak()
contrast(12_000)
print(peak() - before)
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(result.stdout) < 12_000**2 * 4 / 10
