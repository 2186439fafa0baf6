"""Diffusion against its definition, PyG's APPNP and finite differences."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from scipy.linalg import expm
from torch_geometric.nn import APPNP

from graphprox import ParameterError
from graphprox.nn.convolution import Edges, in_neighbor_matrix
from graphprox.nn.encoders.gcn import GCNConv
from graphprox.nn.propagation import diffuse, diffuse_array, heat_coefficients, pagerank_coefficients


def make_edges(num_nodes=40, num_edges=150, seed=0, weighted=True):
    """Return the index, the weights and the normalized edges of a directed graph with isolated nodes."""
    rng = np.random.default_rng(seed)
    index = np.unique(rng.integers(0, num_nodes - 3, (2, num_edges)), axis=1)
    weight = rng.uniform(0.1, 2, index.shape[1]).astype(np.float32) if weighted else None
    return index, weight, GCNConv.prepare_edges(in_neighbor_matrix(index, weight, num_nodes))


def to_matrix(edges):
    pattern = edges.pattern
    entries = (edges.values.double().numpy(), pattern.columns.numpy(), pattern.starts.numpy())
    return sp.csr_array(entries, shape=pattern.shape).toarray()


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("alpha", "hops"), [(0.15, 10), (0.5, 3), (0.0, 2)])
def test_pagerank_equals_appnp_of_pyg_in_value_and_gradient(alpha, hops, weighted):
    index, weight, edges = make_edges(weighted=weighted)
    h = torch.randn(40, 7, generator=torch.Generator().manual_seed(0))
    ours, theirs = (h.clone().requires_grad_() for _ in range(2))
    upstream = torch.randn(40, 7, generator=torch.Generator().manual_seed(1))
    z = diffuse(edges, ours, pagerank_coefficients(alpha, hops))
    given = None if weight is None else torch.tensor(weight)
    expected = APPNP(K=hops, alpha=alpha)(theirs, torch.tensor(index), given)
    z.backward(upstream)
    expected.backward(upstream)
    assert torch.allclose(z, expected, atol=1e-6)
    assert torch.allclose(ours.grad, theirs.grad, atol=1e-6)


def test_gradient_agrees_with_finite_differences():
    _, _, edges = make_edges(num_nodes=12, num_edges=40)
    edges = Edges(edges.pattern, edges.values.double())
    h = torch.randn(12, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0), requires_grad=True)
    assert torch.autograd.gradcheck(lambda each: diffuse(edges, each, (0.3, 0.5, -0.2, 0.1)), (h,))


def test_polynomial_equals_its_definition():
    _, _, edges = make_edges()
    matrix, h = to_matrix(edges), np.random.default_rng(1).normal(size=(40, 5))
    coefficients = (0.2, -0.5, 0.1, 0.7)
    expected = sum(each * np.linalg.matrix_power(matrix, power) @ h for power, each in enumerate(coefficients))
    found = diffuse(edges, torch.tensor(h), coefficients)
    assert found.dtype == torch.float64
    assert found.numpy() == pytest.approx(expected, abs=1e-6)


def test_heat_converges_to_the_matrix_exponential():
    _, _, edges = make_edges(weighted=False)
    matrix, h = to_matrix(edges), np.random.default_rng(1).normal(size=(40, 5))
    expected = expm(-2.5 * (np.eye(40) - matrix)) @ h
    assert diffuse(edges, torch.tensor(h), heat_coefficients(2.5, 40)).numpy() == pytest.approx(expected, abs=1e-6)


def test_many_hops_of_pagerank_solve_its_linear_system():
    _, _, edges = make_edges(weighted=False)
    matrix, h = to_matrix(edges), np.random.default_rng(1).normal(size=(40, 5))
    expected = 0.2 * np.linalg.solve(np.eye(40) - 0.8 * matrix, h)
    assert diffuse(edges, torch.tensor(h), pagerank_coefficients(0.2, 300)).numpy() == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    "make", [lambda hops: pagerank_coefficients(0.15, hops), lambda hops: heat_coefficients(3, hops)]
)
@pytest.mark.parametrize("hops", [0, 1, 10, 500])
def test_coefficients_are_a_distribution_over_hops(make, hops):
    found = make(hops)
    assert len(found) == hops + 1
    assert min(found) >= 0
    assert sum(found) == pytest.approx(1)


def test_result_is_the_same_for_any_number_of_threads(monkeypatch):
    _, _, edges = make_edges(num_nodes=400, num_edges=3000)
    h = torch.randn(400, 33, generator=torch.Generator().manual_seed(0))
    results = []
    for threads in (1, 2, 7):
        monkeypatch.setattr("graphprox._utils.numba_helpers.get_num_threads", lambda threads=threads: threads)
        results.append(diffuse(edges, h, pagerank_coefficients(0.15, 10)))
    assert torch.equal(results[0], results[1])
    assert torch.equal(results[0], results[2])


def test_input_is_not_modified_and_columns_may_be_strided():
    _, _, edges = make_edges()
    h = torch.randn(7, 40, generator=torch.Generator().manual_seed(0)).T
    copy = h.clone()
    z = diffuse(edges, h, (0.5, 0.5))
    assert torch.equal(h, copy)
    assert torch.allclose(z, diffuse(edges, h.contiguous(), (0.5, 0.5)))
    assert torch.equal(diffuse(edges, h, (1.0,)), h)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: pagerank_coefficients(1.5, 2), r"^alpha must be between 0 and 1; got 1\.5$"),
        (lambda: heat_coefficients(0, 2), r"^time must be positive and finite; got 0$"),
        (lambda: diffuse(make_edges()[2], torch.ones(40, 1), ()), "^coefficients must contain at least one number; "),
    ],
)
def test_invalid_arguments_are_rejected(call, message):
    with pytest.raises(ParameterError, match=message):
        call()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_diffusion_of_an_array_is_that_of_a_tensor(dtype):
    rng = np.random.default_rng(0)
    matrix = sp.random_array((30, 30), density=0.2, rng=rng, format="csr", dtype=np.float32)
    h = rng.standard_normal((30, 7)).astype(dtype)
    coefficients = pagerank_coefficients(0.2, 4)
    found = diffuse_array(matrix, h, coefficients)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, diffuse(Edges.of(matrix), torch.tensor(h), coefficients).numpy())
