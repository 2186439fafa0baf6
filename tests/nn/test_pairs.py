from __future__ import annotations

import numpy as np
import pytest
import torch

from graphprox.nn.pairs import _multiply, _multiply_back, pair_products


def drawn(nodes: int, width: int, pairs: int, *, dtype: torch.dtype = torch.float32) -> tuple[torch.Tensor, ...]:
    rng = torch.Generator().manual_seed(0)
    rows = torch.randn(nodes, width, generator=rng, dtype=dtype)
    return rows.requires_grad_(), torch.randint(nodes, (2, pairs), generator=rng)


@pytest.mark.parametrize(("nodes", "width", "pairs"), [(1, 1, 3), (7, 5, 40), (300, 64, 5000), (4, 3, 0)])
def test_products_and_gradients_are_those_of_gathered_rows(nodes: int, width: int, pairs: int) -> None:
    rows, chosen = drawn(nodes, width, pairs)
    weights = torch.linspace(-1, 1, pairs)
    gathered = (rows[chosen[0]] * rows[chosen[1]]).sum(1)
    (expected,) = torch.autograd.grad((gathered * weights).sum(), rows)
    products = pair_products(rows, chosen)
    (found,) = torch.autograd.grad((products * weights).sum(), rows)
    assert torch.allclose(products, gathered, rtol=1e-5, atol=1e-5)
    assert torch.allclose(found, expected, rtol=1e-5, atol=1e-4)


def test_gradient_is_that_of_finite_differences() -> None:
    rows, chosen = drawn(5, 3, 12, dtype=torch.float64)
    assert (chosen[0] == chosen[1]).any()  # a row with itself, too
    assert torch.autograd.gradcheck(lambda given: pair_products(given, chosen), rows)


def test_rows_may_lie_apart() -> None:
    rows, chosen = drawn(6, 4, 9)
    apart = rows.detach().T.contiguous().T
    assert not apart.is_contiguous()
    assert torch.equal(pair_products(apart, chosen), pair_products(rows, chosen))


def test_what_is_not_finite_is_seen() -> None:
    rows = torch.tensor([[1.0, float("nan")], [1.0, float("inf")], [1.0, 1.0]])
    products = pair_products(rows, torch.tensor([[0, 1, 2], [2, 2, 2]]))
    assert torch.isnan(products[0])
    assert torch.isinf(products[1])
    assert products[2] == 2


def test_compiled_code_stays_within_its_arrays() -> None:
    rows, chosen = drawn(5, 3, 12)
    given, pairs, gradient = rows.detach().numpy(), chosen.numpy(), np.ones(12, np.float32)
    products, to_rows = np.empty(12, np.float32), np.zeros((5, 3), np.float32)
    _multiply.py_func(given, pairs, products)  # type: ignore[attr-defined]
    _multiply_back.py_func(given, pairs, gradient, to_rows)  # type: ignore[attr-defined]
    assert np.allclose(products, pair_products(rows, chosen).detach().numpy(), atol=1e-6)
    (expected,) = torch.autograd.grad(pair_products(rows, chosen).sum(), rows)
    assert np.allclose(to_rows, expected.numpy(), atol=1e-5)
