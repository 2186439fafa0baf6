from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from graphprox.nn.sparse import SparsePattern, attend, spmm

SLOPE = 0.2


def make_matrix(rows=7, columns=5, density=0.4, seed=0):
    """Return a sparse matrix with empty rows and columns, if it is large enough."""
    rng = np.random.default_rng(seed)
    dense = rng.normal(size=(rows, columns)) * (rng.random((rows, columns)) < density)
    dense[2::4] = 0
    dense[:, 3::4] = 0
    return sp.csr_array(dense.astype(np.float32))


def make_looped_matrix(nodes=6, density=0.5, seed=0):
    """Return a square matrix with an entry on each place of the diagonal, as attention has."""
    return sp.csr_array(make_matrix(nodes, nodes, density, seed) + sp.eye_array(nodes, dtype=np.float32))


def to_values(matrix):
    return torch.tensor(matrix.data)


def sample(*shape, dtype=torch.float32, seed=1):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def to_portable(pattern):
    """Return the pattern as on devices without fused kernels."""
    return replace(pattern, is_fused=False)


@pytest.fixture(params=[lambda pattern: pattern, to_portable], ids=["fused", "portable"])
def convert(request):
    return request.param


MATRICES = [
    pytest.param(make_matrix(), id="some"),
    pytest.param(make_matrix(density=1), id="most"),
    pytest.param(sp.csr_array(np.ones((3, 4), np.float32)), id="all"),
    pytest.param(sp.csr_array(np.eye(1, dtype=np.float32)), id="one"),
    pytest.param(sp.csr_array((4, 3), dtype=np.float32), id="none"),
]
all_matrices = pytest.mark.parametrize("matrix", MATRICES)


# -- against dense matrices -----------------------------------------------------------------------------------------


@all_matrices
@pytest.mark.parametrize("channels", [1, 3, 64])
def test_products_equal_those_of_the_dense_matrix(matrix, convert, channels):
    pattern = convert(SparsePattern.of(matrix))
    right, left = sample(matrix.shape[1], channels), sample(matrix.shape[0], channels)
    full = matrix.toarray()
    np.testing.assert_allclose(pattern.matmul(to_values(matrix), right), full @ right.numpy(), atol=1e-5)
    np.testing.assert_allclose(pattern.transposed_matmul(to_values(matrix), left), full.T @ left.numpy(), atol=1e-5)


@all_matrices
def test_inner_products_equal_entries_of_the_dense_product(matrix, convert):
    left, right = sample(matrix.shape[0], 6), sample(matrix.shape[1], 6)
    rows, columns = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr)), matrix.indices
    expected = (left @ right.T).numpy()[rows, columns]
    np.testing.assert_allclose(convert(SparsePattern.of(matrix)).inner_products(left, right), expected, atol=1e-5)


@all_matrices
def test_sums_equal_those_of_the_dense_matrix(matrix, convert):
    pattern = convert(SparsePattern.of(matrix))
    np.testing.assert_allclose(pattern.row_sums(to_values(matrix)), matrix.sum(axis=1), atol=1e-6)
    np.testing.assert_allclose(pattern.column_sums(to_values(matrix)), matrix.sum(axis=0), atol=1e-6)


@all_matrices
def test_softmax_is_over_stored_entries(matrix, convert):
    full = torch.tensor(matrix.toarray())
    expected = torch.softmax(torch.where(full != 0, full, -torch.inf), 1)[full != 0]
    torch.testing.assert_close(convert(SparsePattern.of(matrix)).row_softmax(to_values(matrix)), expected)


@all_matrices
def test_values_of_several_channels_are_independent(matrix, convert):
    pattern, values = convert(SparsePattern.of(matrix)), sample(matrix.nnz, 3)
    for function in (pattern.row_sums, pattern.column_sums, pattern.row_softmax):
        separate = torch.stack([function(values[:, i].contiguous()) for i in range(3)], 1)
        torch.testing.assert_close(function(values), separate)


def test_softmax_does_not_overflow(convert):
    pattern = convert(SparsePattern.of(sp.csr_array(np.ones((2, 2), np.float32))))
    actual = pattern.row_softmax(torch.tensor([1e4, 1e4, -3e38, 3e38]))
    assert actual.tolist() == [0.5, 0.5, 0, 1]


def test_inputs_need_not_be_contiguous(convert):
    matrix = make_matrix()
    pattern = convert(SparsePattern.of(matrix))
    values = torch.stack([to_values(matrix), sample(matrix.nnz)], 1)[:, 0]
    wide, high = sample(5, 8)[:, 2:5], sample(4, 5).T
    for dense in (wide, high):
        torch.testing.assert_close(pattern.matmul(values, dense), torch.tensor(matrix.toarray()) @ dense)


def test_inputs_are_not_modified(convert):
    matrix = make_looped_matrix()
    pattern, values, h = convert(SparsePattern.of(matrix)), to_values(matrix), sample(6, 4)
    before = values.clone(), h.clone()
    pattern.row_softmax(values)
    pattern.matmul(values, h)
    attend(pattern, h, sample(4, 2), values[:, None], heads=1, slope=SLOPE)
    assert torch.equal(values, before[0])
    assert torch.equal(h, before[1])


def test_pattern_accepts_read_only_unsorted_and_int64_indices():
    matrix = sp.csr_array(
        (np.array([5, 6, 7], np.float32), np.array([2, 0, 1], np.int64), np.array([0, 2, 3], np.int64)), shape=(2, 3)
    )
    for part in (matrix.data, matrix.indices, matrix.indptr):
        part.flags.writeable = False
    pattern = SparsePattern.of(matrix)
    assert pattern.num_entries == 3
    assert pattern.matmul(to_values(matrix), torch.eye(3)).tolist() == [[6, 0, 5], [0, 7, 0]]
    assert pattern.transposed_matmul(to_values(matrix), torch.eye(2)).tolist() == [[6, 0], [0, 7], [5, 0]]


# -- gradients ------------------------------------------------------------------------------------------------------


@all_matrices
def test_gradient_of_spmm_is_correct(matrix, convert):
    pattern, values = convert(SparsePattern.of(matrix)), to_values(matrix).double()
    dense = sample(matrix.shape[1], 3, dtype=torch.float64).requires_grad_()
    assert torch.autograd.gradcheck(lambda dense: spmm(pattern, values, dense), dense)


@pytest.mark.parametrize("heads", [1, 2])
@pytest.mark.parametrize("biased", [False, True])
@pytest.mark.parametrize(
    "matrix", [make_looped_matrix(), make_matrix(6, 6), sp.csr_array((6, 6))], ids=["loops", "empty rows", "none"]
)
def test_gradient_of_attention_is_correct(matrix, convert, heads, biased):
    pattern = convert(SparsePattern.of(matrix))
    h = sample(6, 3 * heads, dtype=torch.float64).requires_grad_()
    scorer = sample(3 * heads, 2 * heads, dtype=torch.float64, seed=2).requires_grad_()
    bias = sample(matrix.nnz, heads, dtype=torch.float64, seed=3).requires_grad_() if biased else None
    for factors in (None, sample(matrix.nnz, heads, dtype=torch.float64, seed=4).relu()):
        assert torch.autograd.gradcheck(
            lambda *given, factors=factors: attend(pattern, *given, heads=heads, slope=SLOPE, factors=factors),
            (h, scorer, bias),
        )


def dense_attention(matrix, h, scorer, bias, heads, factors):
    """Compute attention by its definition over all pairs of nodes."""
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
def test_attention_equals_its_dense_definition(nodes, density, heads, biased, dropping, seed):
    """Compare values and gradients; rows of zeros have logits at the kink of leaky ReLU."""
    matrix = make_looped_matrix(nodes, density, seed)
    h, scorer = sample(nodes, 4 * heads, seed=seed), sample(4 * heads, 2 * heads, seed=seed + 1)
    h[::3] = 0
    bias = sample(matrix.nnz, heads, seed=seed + 2) if biased else None
    upstream = sample(nodes, 4 * heads, seed=seed + 3)
    factors = sample(matrix.nnz, heads, seed=seed + 4).relu() if dropping else None
    fused = SparsePattern.of(matrix)

    def outcome(attention):
        leaves = [None if each is None else each.clone().requires_grad_() for each in (h, scorer, bias)]
        actual = attention(*leaves)
        actual.backward(upstream)
        return [actual.detach(), *(each.grad for each in leaves if each is not None)]

    expected = outcome(lambda h, scorer, bias: dense_attention(matrix, h, scorer, bias, heads, factors))
    for pattern in (fused, to_portable(fused)):
        actual = outcome(
            lambda *leaves, pattern=pattern: attend(pattern, *leaves, heads=heads, slope=SLOPE, factors=factors)
        )
        for ours, theirs in zip(actual, expected, strict=True):
            torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)


@given(st.integers(1, 9), st.integers(1, 9), st.sampled_from([0, 0.3, 1]), st.integers(0, 99))
@settings(max_examples=60)
def test_fused_and_portable_products_agree(rows, columns, density, seed):
    matrix = make_matrix(rows, columns, density, seed)
    outcomes = []
    for pattern in (SparsePattern.of(matrix), to_portable(SparsePattern.of(matrix))):
        dense = sample(columns, 5, seed=seed).requires_grad_()
        actual = spmm(pattern, to_values(matrix), dense)
        actual.backward(sample(rows, 5, seed=seed + 1))
        outcomes.append((actual.detach(), dense.grad))
    torch.testing.assert_close(*outcomes, rtol=1e-5, atol=1e-6)


def test_empty_rows_are_zero_and_have_no_gradient(convert):
    matrix = make_matrix(6, 6)  # row 2 is empty
    h = sample(6, 3).requires_grad_()
    actual = attend(convert(SparsePattern.of(matrix)), h, sample(3, 2), None, heads=1, slope=SLOPE)
    assert not actual[2].any()
    actual[2].sum().backward()
    assert not h.grad.any()


@pytest.mark.parametrize("heads", [1, 2])
def test_upstream_gradient_may_be_an_expanded_tensor(convert, heads):
    matrix = make_looped_matrix()
    pattern, values, scorer = convert(SparsePattern.of(matrix)), to_values(matrix), sample(4, 2 * heads)
    for function in (
        lambda h: spmm(pattern, values, h),
        lambda h: attend(pattern, h, scorer, None, heads=heads, slope=SLOPE),
    ):
        one, other = (sample(6, 4).requires_grad_() for _ in range(2))
        function(one).sum().backward()
        function(other).backward(torch.ones(6, 4))
        torch.testing.assert_close(one.grad, other.grad)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_kernels_do_not_warn(convert, dtype):
    # torch emits some warnings once per process, and another test may have triggered them.
    torch.set_warn_always(True)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            # Emitted for the first CSR tensor, and suppressed there.
            warnings.filterwarnings("ignore", "Sparse CSR tensor support is in beta")
            pattern = convert(SparsePattern.of(make_looped_matrix()))
            bias = sample(pattern.num_entries, 2, dtype=dtype)
            h, scorer = sample(6, 4, dtype=dtype).requires_grad_(), sample(4, 4, dtype=dtype).requires_grad_()
            attend(pattern, h, scorer, bias, heads=2, slope=SLOPE).square().sum().backward()
    finally:
        torch.set_warn_always(False)
    assert [str(each.message) for each in caught] == []
