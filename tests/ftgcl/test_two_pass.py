"""The two-pass step on functions of rows, against autograd on all rows together."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from graphprox.ftgcl.two_pass import backward_in_chunks, split_rows
from graphprox.nn.objectives import OBJECTIVES

CHANNEL = OBJECTIVES["channel"]
OPTIONS = CHANNEL.options(temperature=0.2)
TOLERANCES = {torch.float32: 1e-5, torch.float64: 1e-12}
both_types = pytest.mark.parametrize("dtype", TOLERANCES)


def relative_error(found, expected):
    return ((found - expected).norm() / expected.norm()).item()


def make_problem(num_nodes, dtype, num_pairs):
    """Return features of some views, weights, and the function of rows that encodes each pair."""
    generator = torch.Generator().manual_seed(num_nodes)
    x = [torch.randn(num_nodes, 5, generator=generator, dtype=dtype) for _ in range(num_pairs + 1)]
    weight = torch.randn(5, 4, generator=generator, dtype=dtype).requires_grad_()
    slope = torch.tensor(0.3, dtype=dtype, requires_grad=True)

    def encode(rows):
        encoded = [torch.prelu(each[rows] @ weight, slope) for each in x]
        return [(encoded[0], other) for other in encoded[1:]]  # the first is shared by all pairs

    return encode, (weight, slope)


def full_batch(encode, weights, num_nodes):
    loss = torch.stack([CHANNEL(a, b, OPTIONS) for a, b in encode(slice(0, num_nodes))]).sum()
    return loss.detach(), torch.autograd.grad(loss, weights)


def in_chunks(encode, weights, chunks, **options):
    for weight in weights:
        weight.grad = None
    loss = backward_in_chunks(encode, chunks, CHANNEL, OPTIONS, **options)
    return loss, [weight.grad for weight in weights]


@both_types
@given(num_nodes=st.integers(3, 60), size=st.integers(1, 61), num_pairs=st.integers(1, 3))
def test_gradient_is_that_of_all_rows_together(dtype, num_nodes, size, num_pairs):
    encode, weights = make_problem(num_nodes, dtype, num_pairs)
    loss, gradients = in_chunks(encode, weights, split_rows(slice(0, num_nodes), size))
    expected_loss, expected = full_batch(encode, weights, num_nodes)
    assert loss.item() == pytest.approx(expected_loss.item(), abs=10 * TOLERANCES[dtype])
    scale = max(gradient.norm() for gradient in expected)
    for found, gradient in zip(gradients, expected, strict=True):
        assert (found - gradient).norm() <= TOLERANCES[dtype] * scale


def test_gradient_is_added_to_that_of_the_weights():
    encode, weights = make_problem(20, torch.float64, 1)
    _, once = in_chunks(encode, weights, split_rows(slice(0, 20), 6))
    once = [gradient.clone() for gradient in once]
    backward_in_chunks(encode, split_rows(slice(0, 20), 6), CHANNEL, OPTIONS)
    for weight, gradient in zip(weights, once, strict=True):
        torch.testing.assert_close(weight.grad, 2 * gradient)


def test_one_chunk_is_encoded_once_and_others_twice():
    encode, weights = make_problem(20, torch.float32, 1)
    calls = []

    def count(rows):
        calls.append((rows.start, torch.is_grad_enabled()))
        return encode(rows)

    in_chunks(count, weights, [slice(0, 20)])
    assert calls == [(0, True)]
    calls.clear()
    in_chunks(count, weights, [slice(0, 10), slice(10, 20)])
    assert calls == [(0, False), (10, False), (0, True), (10, True)]


@both_types
def test_many_chunks_lose_no_precision(dtype):
    encode, weights = make_problem(4000, dtype, 1)
    _, gradients = in_chunks(encode, weights, split_rows(slice(0, 4000), 3))
    _, expected = full_batch(encode, weights, 4000)
    assert all(relative_error(*pair) < TOLERANCES[dtype] for pair in zip(gradients, expected, strict=True))


@pytest.mark.parametrize("sizes", [(12, 8), (20, 0), (0, 20)])
def test_parts_with_reduced_sums_add_up_to_the_gradient_of_the_whole(sizes):
    encode, weights = make_problem(20, torch.float64, 2)
    bounds = [slice(0, sizes[0]), slice(sizes[0], 20)]
    messages = []
    for own in bounds:  # what each of two processes sends
        in_chunks(encode, weights, split_rows(own, 5), reduce=lambda message: messages.append(message.clone()))
    parts = []
    for own in bounds:
        loss, gradients = in_chunks(
            encode, weights, split_rows(own, 5), reduce=lambda message: message.copy_(sum(messages))
        )
        parts.append([gradient.clone() for gradient in gradients])
    expected_loss, expected = full_batch(encode, weights, 20)
    assert len(messages) == 2
    assert messages[0].shape == (2 * (4 * 4 + 2 * 4),)  # one message for both pairs
    assert loss.item() == pytest.approx(expected_loss.item(), abs=1e-11)
    for mine, other, gradient in zip(*parts, expected, strict=True):
        assert relative_error(mine + other, gradient) < 1e-12


def test_objective_that_is_no_function_of_sums_is_rejected():
    with pytest.raises(TypeError, match="node is not a function of sums over nodes"):
        backward_in_chunks(lambda _: [], [slice(0, 1)], OBJECTIVES["node"], OBJECTIVES["node"].options())


@given(start=st.integers(0, 50), total=st.integers(0, 200), size=st.integers(1, 60))
def test_chunks_cover_all_rows_once_and_are_of_nearly_the_same_size(start, total, size):
    chunks = split_rows(slice(start, start + total), size)
    assert [row for chunk in chunks for row in range(chunk.start, chunk.stop)] == list(range(start, start + total))
    sizes = {chunk.stop - chunk.start for chunk in chunks}
    assert max(sizes) <= size
    assert max(sizes) - min(sizes) <= 1
