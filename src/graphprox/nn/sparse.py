"""Sparse kernels with gradients, on which all convolutions build.

A sparse matrix is a `SparsePattern`, the positions of its entries, and a vector of values. Products use
``torch.embedding_bag``, the fastest gather-and-sum of torch on CPUs: products with CSR tensors are slower, and autograd
gives them a slow gradient.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial, reduce
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.autograd import Function
from torch.nn import functional

from graphprox.nn.part import WHOLE, Part

# Devices that support embedding_bag and sampled products; on others rows are gathered and summed.
FUSED_DEVICES = ("cpu", "cuda")


def row_indices(matrix: sp.csr_array) -> NDArray[Any]:
    """Return the row of each stored entry of a sparse matrix, an ndarray of shape (nnz,)."""
    return np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))


@dataclass(frozen=True, eq=False)
class SparsePattern:
    """Positions of the entries of a sparse matrix in CSR format; those of its transpose are computed when needed.

    Parameters
    ----------
    shape : tuple of int
        (num_rows, num_columns).
    starts : Tensor of shape (num_rows + 1,)
        First entry of each row.
    columns : Tensor of shape (num_entries,)
        Column of each entry.
    is_fused : bool, default=True
        Whether the device has fused kernels.
    """

    shape: tuple[int, int]
    starts: Tensor
    columns: Tensor
    is_fused: bool = True

    @classmethod
    def of(cls, matrix: sp.csr_array, device: torch.device | str = "cpu") -> SparsePattern:
        """Create the pattern of a sparse matrix.

        Parameters
        ----------
        matrix : csr_array of shape (num_rows, num_columns)
            Its values are ignored; the caller stores them, in the same order.
        device : device or str, default="cpu"

        Returns
        -------
        SparsePattern
        """
        starts, columns = (_to_int32(each, device) for each in (matrix.indptr, matrix.indices))
        shape = int(matrix.shape[0]), int(matrix.shape[1])
        return cls(shape, starts, columns, is_fused=torch.device(device).type in FUSED_DEVICES)

    @cached_property
    def rows(self) -> Tensor:
        """Row of each entry."""
        lengths = self.starts.diff().long()
        return torch.repeat_interleave(torch.arange(self.shape[0], dtype=torch.int32, device=lengths.device), lengths)

    @cached_property
    def _transposed(self) -> tuple[Tensor, Tensor, Tensor]:
        """First entry of each row of the transpose, columns of its entries, and their places in this pattern."""
        starts, columns = self.starts.cpu().numpy(), self.columns.cpu().numpy()
        numbered = sp.csr_array((np.arange(len(columns), dtype=np.int32), columns, starts), shape=self.shape)
        transposed = numbered.T.tocsr()
        parts = transposed.indptr, transposed.indices, transposed.data
        first, second, third = (torch.tensor(each, dtype=torch.int32, device=self.columns.device) for each in parts)
        return first, second, third

    @property
    def transposed_starts(self) -> Tensor:
        """First entry of each row of the transpose, of shape (num_columns + 1,)."""
        return self._transposed[0]

    @property
    def transposed_columns(self) -> Tensor:
        """Column of each entry of the transpose."""
        return self._transposed[1]

    @property
    def order(self) -> Tensor:
        """Permutation of the entries into the order of the transpose."""
        return self._transposed[2]

    @cached_property
    def csr(self) -> Tensor | None:
        """The pattern as a CSR tensor of zeros, on devices with fused kernels."""
        return _to_csr(self.starts, self.columns, self.shape) if self.is_fused else None

    @property
    def num_entries(self) -> int:
        """Number of entries."""
        return int(self.columns.shape[0])

    # -- kernels without gradients ----------------------------------------------------------------------------------

    def matmul(self, values: Tensor, dense: Tensor) -> Tensor:
        """Multiply the matrix with ``values`` by a dense one.

        Parameters
        ----------
        values : Tensor of shape (num_entries,)
        dense : Tensor of shape (num_columns, channels)

        Returns
        -------
        Tensor of shape (num_rows, channels)
        """
        if not self.is_fused:
            return _gather_and_sum(self.rows, self.columns, values, dense, self.shape[0])
        return _sum_bags(self.starts, self.columns, values, dense)

    def transposed_matmul(self, values: Tensor, dense: Tensor) -> Tensor:
        """Multiply the transpose of the matrix with ``values`` by a dense one.

        Parameters
        ----------
        values : Tensor of shape (num_entries,)
        dense : Tensor of shape (num_rows, channels)

        Returns
        -------
        Tensor of shape (num_columns, channels)
        """
        if not self.is_fused:
            return _gather_and_sum(self.columns, self.rows, values, dense, self.shape[1])
        return _sum_bags(self.transposed_starts, self.transposed_columns, values.index_select(0, self.order), dense)

    def inner_products(self, left: Tensor, right: Tensor) -> Tensor:
        """Return the inner product of row i of ``left`` and row j of ``right`` for each entry (i, j).

        Parameters
        ----------
        left : Tensor of shape (num_rows, channels)
        right : Tensor of shape (num_columns, channels)

        Returns
        -------
        Tensor of shape (num_entries,)
        """
        if self.csr is None:
            return (left[self.rows] * right[self.columns]).sum(1)
        pattern = self.csr if self.csr.dtype == left.dtype else self.csr.to(left.dtype)
        products: Tensor = torch.sparse.sampled_addmm(pattern, left, right.T, beta=0.0).values()
        return products

    def row_sums(self, values: Tensor) -> Tensor:
        """Sum ``values`` of shape (num_entries, ...) over each row, giving (num_rows, ...)."""
        if not self.is_fused:
            return _scatter_add(self.rows, values, self.shape[0])
        return _segment_sums(values, self.starts)

    def column_sums(self, values: Tensor) -> Tensor:
        """Sum ``values`` of shape (num_entries, ...) over each column, giving (num_columns, ...)."""
        if not self.is_fused:
            return _scatter_add(self.columns, values, self.shape[1])
        return _segment_sums(values.index_select(0, self.order), self.transposed_starts)

    def row_softmax(self, values: Tensor) -> Tensor:
        """Return the softmax of ``values`` of shape (num_entries, ...) over the entries of each row."""
        exponentials = (values - self._row_max(values).index_select(0, self.rows)).exp_()
        return exponentials.div_(self.row_sums(exponentials).index_select(0, self.rows))

    def _row_max(self, values: Tensor) -> Tensor:
        """Return the maximum of each row, -inf for rows without entries."""
        if not self.is_fused:
            lowest = values.new_full((self.shape[0], *values.shape[1:]), float("-inf"))
            places = self.rows.long().view(-1, *[1] * (values.dim() - 1)).expand_as(values)
            return lowest.scatter_reduce_(0, places, values, "amax")
        return torch.segment_reduce(values, "max", offsets=self.starts.long(), initial=float("-inf"))


def _to_int32(array: NDArray[Any], device: torch.device | str) -> Tensor:
    """Return an array as a tensor, on a CPU without a copy if it is one of int32 already."""
    return torch.from_numpy(array.astype(np.int32, copy=not array.flags.writeable)).to(device)


def _segment_sums(values: Tensor, starts: Tensor) -> Tensor:
    return torch.segment_reduce(values, "sum", offsets=starts.long(), initial=0.0)


def _scatter_add(places: Tensor, values: Tensor, length: int) -> Tensor:
    return values.new_zeros(length, *values.shape[1:]).index_add_(0, places, values)


def _sum_bags(starts: Tensor, columns: Tensor, values: Tensor, dense: Tensor) -> Tensor:
    # Values that are not contiguous, such as those of one of several heads, would take twice as long.
    return functional.embedding_bag(
        columns, dense, starts, mode="sum", per_sample_weights=values.contiguous(), include_last_offset=True
    )


def _gather_and_sum(rows: Tensor, columns: Tensor, values: Tensor, dense: Tensor, num_rows: int) -> Tensor:
    return _scatter_add(rows, values[:, None] * dense[columns], num_rows)


def _to_csr(starts: Tensor, columns: Tensor, shape: tuple[int, ...]) -> Tensor:
    zeros = torch.zeros(len(columns), device=columns.device)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch warns once that CSR tensors are in beta
        return torch.sparse_csr_tensor(starts, columns, zeros, size=tuple(shape), check_invariants=False)


# -- kernels with gradients -----------------------------------------------------------------------------------------


class _SparseMatMul(Function):
    @staticmethod
    def forward(ctx: Any, pattern: SparsePattern, values: Tensor, dense: Tensor, part: Part) -> Tensor:
        ctx.pattern, ctx.values, ctx.part = pattern, values, part
        return part.map_columns(lambda columns: pattern.matmul(values, part.complete(columns)), dense)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Any, ...]:
        pattern, values, part = ctx.pattern, ctx.values, ctx.part

        def multiply(columns: Tensor) -> Tensor:
            collected: Tensor = part.collect(pattern.transposed_matmul(values, columns))
            return collected

        return None, None, part.map_columns(multiply, gradients[0].contiguous()), None


def spmm(pattern: SparsePattern, values: Tensor, dense: Tensor, part: Part = WHOLE) -> Tensor:
    """Multiply a sparse matrix by a dense one.

    Parameters
    ----------
    pattern : SparsePattern
        Positions of the entries of the sparse matrix.
    values : Tensor of shape (num_entries,)
        Its values, which get no gradient.
    dense : Tensor of shape (num_columns, channels)
        The rows of the part, which are completed.
    part : Part, default=WHOLE

    Returns
    -------
    Tensor of shape (num_rows, channels)
        Differentiable in ``dense``.

    Examples
    --------
    >>> matrix = sp.csr_array(np.array([[0.0, 2.0], [3.0, 0.0]], np.float32))
    >>> spmm(SparsePattern.of(matrix), torch.tensor(matrix.data), torch.tensor([[1.0], [10.0]])).tolist()
    [[20.0], [3.0]]
    """
    result: Tensor = _SparseMatMul.apply(pattern, values, dense, part)  # type: ignore[no-untyped-call]
    return result


class _Attention(Function):
    """Softmax over the entries of a row of leaky_relu(source score + target score + bias), and the weighted mean."""

    @staticmethod
    def forward(
        ctx: Any,
        pattern: SparsePattern,
        slope: float,
        h: Tensor,
        scorer: Tensor,
        bias: Tensor | None,
        heads: int,
        factors: Tensor | None,
        part: Part,
    ) -> Tensor:
        scores = functional.linear(h, scorer.T.contiguous())  # (num_rows, 2 * heads): as source, then as target
        logits = part.complete(scores[:, :heads]).index_select(0, pattern.columns)
        logits += scores[:, heads:].index_select(0, pattern.rows)
        if bias is not None:
            logits += bias
        negative = logits <= 0  # at 0, leaky_relu of torch has the slope of the negative side
        attention = pattern.row_softmax(torch.where(negative, slope * logits, logits))
        weights = attention if factors is None else attention * factors
        ctx.pattern, ctx.slope, ctx.heads, ctx.has_bias, ctx.part = pattern, slope, heads, bias is not None, part
        ctx.save_for_backward(h, scorer, attention, negative, weights)

        def average(columns: Tensor, head: int) -> Tensor:
            return pattern.matmul(weights[:, head], part.complete(columns))

        return _map_heads(h, heads, lambda own, head: part.map_columns(partial(average, head=head), own))

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Any, ...]:
        pattern, heads, part = ctx.pattern, ctx.heads, ctx.part
        h, scorer, attention, negative, weights = ctx.saved_tensors
        upstream = gradients[0].contiguous()
        parts = zip(_split_heads(upstream, heads), _split_heads(h, heads), strict=True)
        products = torch.stack([_inner_products(pattern, gradient, own, part) for gradient, own in parts], 1)
        # Softmax: the gradient of an entry, minus the mean over its row weighted by attention.
        products *= weights
        logit_gradient = products - attention * pattern.row_sums(products).index_select(0, pattern.rows)
        logit_gradient = torch.where(negative, ctx.slope * logit_gradient, logit_gradient)
        source_gradient = part.collect(pattern.column_sums(logit_gradient))
        score_gradient = torch.cat([source_gradient, pattern.row_sums(logit_gradient)], 1)

        def distribute(columns: Tensor, head: int) -> Tensor:
            collected: Tensor = part.collect(pattern.transposed_matmul(weights[:, head], columns))
            return collected

        h_gradient = _map_heads(
            upstream, heads, lambda gradient, head: part.map_columns(partial(distribute, head=head), gradient)
        )
        h_gradient.addmm_(score_gradient, scorer.T)
        scorer_gradient = (score_gradient.T @ h).T  # the transposed product is much slower
        return None, None, h_gradient, scorer_gradient, logit_gradient if ctx.has_bias else None, None, None, None


def _inner_products(pattern: SparsePattern, left: Tensor, right: Tensor, part: Part) -> Tensor:
    """Return the inner products of rows with completed rows, of which some columns at a time are fetched."""
    width = part.max_columns or left.shape[1]
    blocks = zip(torch.split(left, width, 1), torch.split(right, width, 1), strict=True)
    products = (pattern.inner_products(each.contiguous(), part.complete(other.contiguous())) for each, other in blocks)
    return reduce(Tensor.add_, products)


def attend(
    pattern: SparsePattern,
    h: Tensor,
    scorer: Tensor,
    bias: Tensor | None = None,
    *,
    heads: int,
    slope: float,
    factors: Tensor | None = None,
    part: Part = WHOLE,
) -> Tensor:
    """Average in-neighbors weighted by attention, without a message per edge.

    Parameters
    ----------
    pattern : SparsePattern
        Row i holds the in-neighbors of node i of the part, among its completed rows.
    h : Tensor of shape (num_rows, heads * head_channels)
        Projected features.
    scorer : Tensor of shape (heads * head_channels, 2 * heads)
        Maps ``h`` to the scores of a node as the source and as the target of an edge.
    bias : Tensor of shape (num_entries, heads), optional
        Added to the logits of the edges.
    heads : int
    slope : float
        Negative slope of the leaky ReLU of the logits.
    factors : Tensor of shape (num_entries, heads), optional
        Constants, such as those of dropout, by which weights are multiplied after the softmax.
    part : Part, default=WHOLE
        The nodes that rows stand for.

    Returns
    -------
    Tensor of shape (num_rows, heads * head_channels)
        Differentiable in ``h``, ``scorer`` and ``bias``.
    """
    result: Tensor = _Attention.apply(  # type: ignore[no-untyped-call]
        pattern, slope, h, scorer, bias, heads, factors, part
    )
    return result


def _split_heads(matrix: Tensor, heads: int) -> tuple[Tensor, ...]:
    """Return the columns of each head as a contiguous matrix."""
    return (matrix,) if heads == 1 else tuple(part.contiguous() for part in matrix.chunk(heads, dim=1))


def _map_heads(matrix: Tensor, heads: int, function: Callable[[Tensor, int], Tensor]) -> Tensor:
    """Apply a function to the columns of each head and concatenate the results."""
    outputs = [function(part, head) for head, part in enumerate(_split_heads(matrix, heads))]
    return outputs[0] if heads == 1 else torch.cat(outputs, 1)
