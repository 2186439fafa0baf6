"""Inner products of pairs of rows with their gradient, by which autoencoders score pairs of nodes.

Torch would gather both rows of each pair, multiply the copies and sum, forward and backward: a million pairs move
gigabytes of memory, which takes most of the time. Compiled code reads each row in place.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor
from torch.autograd import Function

from graphprox._utils.arrays import IntArray
from graphprox._utils.numba_helpers import Float32Array, njit_fast


def pair_products(rows: Tensor, pairs: Tensor) -> Tensor:
    """Return the inner product of the two rows of each pair.

    Parameters
    ----------
    rows : Tensor of shape (num_nodes, channels)
    pairs : Tensor of shape (2, num_pairs)
        Indices of rows.

    Returns
    -------
    Tensor of shape (num_pairs,)
        Differentiable in ``rows``.

    Examples
    --------
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
        _multiply_pairs(rows.detach().contiguous().numpy(), pairs.numpy(), products.numpy())
        return products

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Any, ...]:
        rows, pairs = ctx.saved_tensors
        row_gradient = rows.new_zeros(rows.shape)
        upstream = gradients[0].contiguous()
        _accumulate_gradient(rows.contiguous().numpy(), pairs.numpy(), upstream.numpy(), row_gradient.numpy())
        return row_gradient, None


@njit_fast
def _multiply_pairs(rows: Float32Array, pairs: IntArray, products: Float32Array) -> None:
    for at in range(pairs.shape[1]):
        left, right = rows[pairs[0, at]], rows[pairs[1, at]]
        total = rows.dtype.type(0)
        for d in range(rows.shape[1]):
            total += left[d] * right[d]
        products[at] = total


@njit_fast
def _accumulate_gradient(
    rows: Float32Array, pairs: IntArray, upstream: Float32Array, row_gradient: Float32Array
) -> None:
    """Add to the gradient of each row of a pair the other row, times the gradient of their product."""
    for at in range(pairs.shape[1]):
        i, j, scale = pairs[0, at], pairs[1, at], upstream[at]
        for d in range(rows.shape[1]):
            row_gradient[i, d] += scale * rows[j, d]
        for d in range(rows.shape[1]):  # a separate loop, because both rows of a pair may be the same
            row_gradient[j, d] += scale * rows[i, d]
