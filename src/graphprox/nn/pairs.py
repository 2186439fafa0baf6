"""Inner products of pairs of rows, with their gradient: what an autoencoder of edges scores pairs of nodes by.

Torch would gather both rows of every pair, multiply the two copies and add up, and go the same way back: for a million
pairs some gigabytes are written and read, in which most of the time goes. Compiled, each row is read where it lies.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor
from torch.autograd import Function

from graphprox.arrays import IntArray
from graphprox.proximity.compiled import Float32Array, fast


def pair_products(rows: Tensor, pairs: Tensor) -> Tensor:
    """The inner product of the two rows of each pair, (pairs,); ``rows`` is (nodes, width), ``pairs`` (2, pairs).

    >>> import torch
    >>> pair_products(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([[0, 1], [1, 1]])).tolist()
    [11.0, 25.0]
    """
    products: Tensor = _PairProducts.apply(rows, pairs)  # type: ignore[no-untyped-call]
    return products


class _PairProducts(Function):
    @staticmethod
    def forward(ctx: Any, rows: Tensor, pairs: Tensor) -> Tensor:
        ctx.save_for_backward(rows, pairs)
        products = rows.new_empty(pairs.shape[1])
        _multiply(rows.detach().contiguous().numpy(), pairs.numpy(), products.numpy())
        return products

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Any, ...]:
        rows, pairs = ctx.saved_tensors
        to_rows = rows.new_zeros(rows.shape)
        _multiply_back(rows.contiguous().numpy(), pairs.numpy(), gradients[0].contiguous().numpy(), to_rows.numpy())
        return to_rows, None


@fast
def _multiply(rows: Float32Array, pairs: IntArray, products: Float32Array) -> None:
    for at in range(pairs.shape[1]):
        left, right = rows[pairs[0, at]], rows[pairs[1, at]]
        total = rows.dtype.type(0)
        for d in range(rows.shape[1]):
            total += left[d] * right[d]
        products[at] = total


@fast
def _multiply_back(rows: Float32Array, pairs: IntArray, gradient: Float32Array, to_rows: Float32Array) -> None:
    """Add to the gradient of each row of a pair the other one, times the gradient of their product."""
    for at in range(pairs.shape[1]):
        i, j, times = pairs[0, at], pairs[1, at], gradient[at]
        for d in range(rows.shape[1]):
            to_rows[i, d] += times * rows[j, d]
        for d in range(rows.shape[1]):  # a loop of its own, as both rows may be one
            to_rows[j, d] += times * rows[i, d]
