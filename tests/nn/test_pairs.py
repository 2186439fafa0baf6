from __future__ import annotations

import numpy as np
import pytest
import torch

from graphprox.nn.pairs import _accumulate_gradient, _multiply_pairs, pair_products


def sample(nodes: int, channels: int, pairs: int, *, dtype: torch.dtype = torch.float32) -> tuple[torch.Tensor, ...]:
    generator = torch.Generator().manual_seed(0)
    rows = torch.randn(nodes, channels, generator=generator, dtype=dtype)
    return rows.requires_grad_(), torch.randint(nodes, (2, pairs), generator=generator)


@pytest.mark.parametrize(("nodes", "channels", "pairs"), [(1, 1, 3), (7, 5, 40), (300, 64, 5000), (4, 3, 0)])
def test_products_and_gradients_equal_those_of_gathered_rows(nodes: int, channels: int, pairs: int) -> None:
    rows, chosen = sample(nodes, channels, pairs)
    weights = torch.linspace(-1, 1, pairs)
    gathered = (rows[chosen[0]] * rows[chosen[1]]).sum(1)
    (expected,) = torch.autograd.grad((gathered * weights).sum(), rows)
    products = pair_products(rows, chosen)
    (found,) = torch.autograd.grad((products * weights).sum(), rows)
    assert torch.allclose(products, gathered, rtol=1e-5, atol=1e-5)
    assert torch.allclose(found, expected, rtol=1e-5, atol=1e-4)


def test_gradient_equals_finite_differences() -> None:
    rows, chosen = sample(5, 3, 12, dtype=torch.float64)
    assert (chosen[0] == chosen[1]).any()  # including a row with itself
    assert torch.autograd.gradcheck(lambda given: pair_products(given, chosen), rows)


def test_rows_need_not_be_contiguous() -> None:
    rows, chosen = sample(6, 4, 9)
    strided = rows.detach().T.contiguous().T
    assert not strided.is_contiguous()
    assert torch.equal(pair_products(strided, chosen), pair_products(rows, chosen))


def test_non_finite_values_propagate() -> None:
    rows = torch.tensor([[1.0, float("nan")], [1.0, float("inf")], [1.0, 1.0]])
    products = pair_products(rows, torch.tensor([[0, 1, 2], [2, 2, 2]]))
    assert torch.isnan(products[0])
    assert torch.isinf(products[1])
    assert products[2] == 2


def test_kernels_stay_within_their_arrays() -> None:
    rows, chosen = sample(5, 3, 12)
    given, pairs, gradient = rows.detach().numpy(), chosen.numpy(), np.ones(12, np.float32)
    products, row_gradient = np.empty(12, np.float32), np.zeros((5, 3), np.float32)
    _multiply_pairs.py_func(given, pairs, products)  # type: ignore[attr-defined]
    _accumulate_gradient.py_func(given, pairs, gradient, row_gradient)  # type: ignore[attr-defined]
    assert np.allclose(products, pair_products(rows, chosen).detach().numpy(), atol=1e-6)
    (expected,) = torch.autograd.grad(pair_products(rows, chosen).sum(), rows)
    assert np.allclose(row_gradient, expected.numpy(), atol=1e-5)
