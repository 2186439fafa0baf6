from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from graphprox.nn.sparse import Pattern, attend, product

SLOPE = 0.2


def sparse(rows=7, columns=5, share=0.4, seed=0):
    """A matrix of some entries, and of empty rows and columns where it has enough of them."""
    rng = np.random.default_rng(seed)
    dense = rng.normal(size=(rows, columns)) * (rng.random((rows, columns)) < share)
    dense[2::4] = 0
    dense[:, 3::4] = 0
    return sp.csr_array(dense.astype(np.float32))


def square(nodes=6, share=0.5, seed=0):
    """As `sparse`, but with a self-loop each, as attention has them."""
    return sp.csr_array(sparse(nodes, nodes, share, seed) + sp.eye_array(nodes, dtype=np.float32))


def values_of(matrix):
    return torch.tensor(matrix.data)


def drawn(*shape, dtype=torch.float32, seed=1):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def portable(pattern):
    """The pattern as it is on devices without the fused kernels."""
    return replace(pattern, csr=None)


@pytest.fixture(params=[lambda pattern: pattern, portable], ids=["fused", "portable"])
def way(request):
    return request.param


MATRICES = [
    pytest.param(sparse(), id="some"),
    pytest.param(sparse(share=1), id="most"),
    pytest.param(sp.csr_array(np.ones((3, 4), np.float32)), id="all"),
    pytest.param(sp.csr_array(np.eye(1, dtype=np.float32)), id="one"),
    pytest.param(sp.csr_array((4, 3), dtype=np.float32), id="none"),
]
every_matrix = pytest.mark.parametrize("matrix", MATRICES)


# -- against dense matrices -----------------------------------------------------------------------------------------


@every_matrix
@pytest.mark.parametrize("width", [1, 3, 64])
def test_products_are_those_of_the_dense_matrix(matrix, way, width):
    pattern = way(Pattern.of(matrix))
    right, left = drawn(matrix.shape[1], width), drawn(matrix.shape[0], width)
    full = matrix.toarray()
    np.testing.assert_allclose(pattern.times(values_of(matrix), right), full @ right.numpy(), atol=1e-5)
    np.testing.assert_allclose(pattern.transposed_times(values_of(matrix), left), full.T @ left.numpy(), atol=1e-5)


@every_matrix
def test_inner_products_are_the_entries_of_a_dense_product(matrix, way):
    left, right = drawn(matrix.shape[0], 6), drawn(matrix.shape[1], 6)
    rows, columns = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr)), matrix.indices
    expected = (left @ right.T).numpy()[rows, columns]
    np.testing.assert_allclose(way(Pattern.of(matrix)).inner_products(left, right), expected, atol=1e-5)


@every_matrix
def test_sums_are_those_of_the_dense_matrix(matrix, way):
    pattern = way(Pattern.of(matrix))
    np.testing.assert_allclose(pattern.row_sums(values_of(matrix)), matrix.sum(axis=1), atol=1e-6)
    np.testing.assert_allclose(pattern.column_sums(values_of(matrix)), matrix.sum(axis=0), atol=1e-6)


@every_matrix
def test_softmax_is_that_of_the_filled_entries(matrix, way):
    full = torch.tensor(matrix.toarray())
    expected = torch.softmax(torch.where(full != 0, full, -torch.inf), 1)[full != 0]
    torch.testing.assert_close(way(Pattern.of(matrix)).row_softmax(values_of(matrix)), expected)


@every_matrix
def test_several_values_an_entry_are_taken_each_on_its_own(matrix, way):
    pattern, values = way(Pattern.of(matrix)), drawn(matrix.nnz, 3)
    for function in (pattern.row_sums, pattern.column_sums, pattern.row_softmax):
        apart = torch.stack([function(values[:, i].contiguous()) for i in range(3)], 1)
        torch.testing.assert_close(function(values), apart)


def test_softmax_bears_large_values(way):
    pattern = way(Pattern.of(sp.csr_array(np.ones((2, 2), np.float32))))
    made = pattern.row_softmax(torch.tensor([1e4, 1e4, -3e38, 3e38]))
    assert made.tolist() == [0.5, 0.5, 0, 1]


def test_values_and_rows_that_lie_apart_in_memory_count_as_any(way):
    matrix = sparse()
    pattern = way(Pattern.of(matrix))
    values = torch.stack([values_of(matrix), drawn(matrix.nnz)], 1)[:, 0]
    wide, high = drawn(5, 8)[:, 2:5], drawn(4, 5).T
    for dense in (wide, high):
        torch.testing.assert_close(pattern.times(values, dense), torch.tensor(matrix.toarray()) @ dense)


def test_neither_values_nor_matrices_are_written_to(way):
    matrix = square()
    pattern, values, h = way(Pattern.of(matrix)), values_of(matrix), drawn(6, 4)
    before = values.clone(), h.clone()
    pattern.row_softmax(values)
    pattern.times(values, h)
    attend(pattern, h, drawn(4, 2), values[:, None], heads=1, slope=SLOPE)
    assert torch.equal(values, before[0])
    assert torch.equal(h, before[1])


def test_a_pattern_takes_read_only_arrays_unsorted_columns_and_long_indices():
    matrix = sp.csr_array(
        (np.array([5, 6, 7], np.float32), np.array([2, 0, 1], np.int64), np.array([0, 2, 3], np.int64)), shape=(2, 3)
    )
    for part in (matrix.data, matrix.indices, matrix.indptr):
        part.flags.writeable = False
    pattern = Pattern.of(matrix)
    assert pattern.num_entries == 3
    assert pattern.times(values_of(matrix), torch.eye(3)).tolist() == [[6, 0, 5], [0, 7, 0]]
    assert pattern.transposed_times(values_of(matrix), torch.eye(2)).tolist() == [[6, 0], [0, 7], [5, 0]]


# -- gradients ------------------------------------------------------------------------------------------------------


@every_matrix
def test_the_gradient_of_a_product_is_right(matrix, way):
    pattern, values = way(Pattern.of(matrix)), values_of(matrix).double()
    dense = drawn(matrix.shape[1], 3, dtype=torch.float64).requires_grad_()
    assert torch.autograd.gradcheck(lambda dense: product(pattern, values, dense), dense)


@pytest.mark.parametrize("heads", [1, 2])
@pytest.mark.parametrize("biased", [False, True])
@pytest.mark.parametrize("matrix", [square(), sparse(6, 6), sp.csr_array((6, 6))], ids=["loops", "empty rows", "none"])
def test_the_gradient_of_attention_is_right(matrix, way, heads, biased):
    pattern = way(Pattern.of(matrix))
    h = drawn(6, 3 * heads, dtype=torch.float64).requires_grad_()
    scorer = drawn(3 * heads, 2 * heads, dtype=torch.float64, seed=2).requires_grad_()
    bias = drawn(matrix.nnz, heads, dtype=torch.float64, seed=3).requires_grad_() if biased else None
    for factors in (None, drawn(matrix.nnz, heads, dtype=torch.float64, seed=4).relu()):
        assert torch.autograd.gradcheck(
            lambda *given, factors=factors: attend(pattern, *given, heads=heads, slope=SLOPE, factors=factors),
            (h, scorer, bias),
        )


def dense_attention(matrix, h, scorer, bias, heads, factors):
    """Attention as its definition says it, over all pairs of nodes."""
    filled = torch.tensor(matrix.toarray() != 0)
    outputs = []
    for head, part in enumerate(h.chunk(heads, dim=1)):
        logits = (h @ scorer[:, head])[None, :] + (h @ scorer[:, heads + head])[:, None]
        if bias is not None:
            logits = logits.masked_scatter(filled, logits[filled] + bias[:, head])
        logits = torch.nn.functional.leaky_relu(logits, SLOPE).masked_fill(~filled, -torch.inf)
        weights = torch.softmax(logits, 1).nan_to_num(0)
        if factors is not None:
            weights = weights * torch.zeros_like(weights).masked_scatter(filled, factors[:, head])
        outputs.append(weights @ part)
    return torch.cat(outputs, 1)


@given(
    st.integers(1, 9),
    st.sampled_from([0.1, 0.5, 1]),
    st.sampled_from([1, 2, 3]),
    st.booleans(),
    st.booleans(),
    st.integers(0, 99),
)
@settings(max_examples=60)
def test_attention_is_as_defined_fused_or_not(nodes, share, heads, biased, dropping, seed):
    """Values and gradients; some nodes are all zeros, where the logits meet the kink of leaky ReLU."""
    matrix = square(nodes, share, seed)
    h, scorer = drawn(nodes, 4 * heads, seed=seed), drawn(4 * heads, 2 * heads, seed=seed + 1)
    h[::3] = 0
    bias = drawn(matrix.nnz, heads, seed=seed + 2) if biased else None
    upstream = drawn(nodes, 4 * heads, seed=seed + 3)
    factors = drawn(matrix.nnz, heads, seed=seed + 4).relu() if dropping else None
    fused = Pattern.of(matrix)

    def outcome(attention):
        leaves = [None if each is None else each.clone().requires_grad_() for each in (h, scorer, bias)]
        made = attention(*leaves)
        made.backward(upstream)
        return [made.detach(), *(each.grad for each in leaves if each is not None)]

    expected = outcome(lambda h, scorer, bias: dense_attention(matrix, h, scorer, bias, heads, factors))
    for pattern in (fused, portable(fused)):
        made = outcome(
            lambda *leaves, pattern=pattern: attend(pattern, *leaves, heads=heads, slope=SLOPE, factors=factors)
        )
        for ours, theirs in zip(made, expected, strict=True):
            torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)


@given(st.integers(1, 9), st.integers(1, 9), st.sampled_from([0, 0.3, 1]), st.integers(0, 99))
@settings(max_examples=60)
def test_a_product_is_the_same_fused_or_not(rows, columns, share, seed):
    matrix = sparse(rows, columns, share, seed)
    outcomes = []
    for pattern in (Pattern.of(matrix), portable(Pattern.of(matrix))):
        dense = drawn(columns, 5, seed=seed).requires_grad_()
        made = product(pattern, values_of(matrix), dense)
        made.backward(drawn(rows, 5, seed=seed + 1))
        outcomes.append((made.detach(), dense.grad))
    torch.testing.assert_close(*outcomes, rtol=1e-5, atol=1e-6)


def test_a_row_without_entries_is_zero_and_sends_no_gradient(way):
    matrix = sparse(6, 6)  # row 2 is empty
    h = drawn(6, 3).requires_grad_()
    made = attend(way(Pattern.of(matrix)), h, drawn(3, 2), None, heads=1, slope=SLOPE)
    assert not made[2].any()
    made[2].sum().backward()
    assert not h.grad.any()


@pytest.mark.parametrize("heads", [1, 2])
def test_a_gradient_that_is_one_number_everywhere_counts_as_any(way, heads):
    """What a sum sends back is an expanded tensor, all of whose entries are one place in memory."""
    matrix = square()
    pattern, values, scorer = way(Pattern.of(matrix)), values_of(matrix), drawn(4, 2 * heads)
    for function in (
        lambda h: product(pattern, values, h),
        lambda h: attend(pattern, h, scorer, None, heads=heads, slope=SLOPE),
    ):
        one, other = (drawn(6, 4).requires_grad_() for _ in range(2))
        function(one).sum().backward()
        function(other).backward(torch.ones(6, 4))
        torch.testing.assert_close(one.grad, other.grad)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_no_kernel_warns(way, dtype):
    # torch gives some of its warnings once in a process, and another test may have had them.
    torch.set_warn_always(True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            # This one is given when the first CSR tensor is made, and swallowed there.
            warnings.filterwarnings("ignore", "Sparse CSR tensor support is in beta")
            pattern = way(Pattern.of(square()))
            bias = drawn(pattern.num_entries, 2, dtype=dtype)
            h, scorer = drawn(6, 4, dtype=dtype).requires_grad_(), drawn(4, 4, dtype=dtype).requires_grad_()
            attend(pattern, h, scorer, bias, heads=2, slope=SLOPE).square().sum().backward()
    finally:
        torch.set_warn_always(False)
