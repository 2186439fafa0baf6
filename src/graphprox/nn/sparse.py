"""The few sparse products that everything else is made of, each with its gradient.

A sparse matrix is a `Pattern`, where its entries are, and a vector of values. The products go through
``torch.embedding_bag``, the fastest gather-and-add that torch has on CPUs: a product with a CSR tensor takes longer,
and leaves a slow gradient to autograd.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.autograd import Function
from torch.nn import functional

# Where embedding_bag and sampled products are known to be at hand; elsewhere rows are gathered and added.
FUSED_DEVICES = ("cpu", "cuda")


@dataclass(frozen=True, eq=False)
class Pattern:
    """Where the entries of a sparse matrix are, row by row, and the same of its transpose.

    ``starts`` (rows + 1) and ``columns`` (entries) are CSR's; ``order`` (entries) takes values to the order of the
    transpose.
    """

    shape: tuple[int, int]
    starts: Tensor
    columns: Tensor
    rows: Tensor
    transposed_starts: Tensor
    transposed_columns: Tensor
    order: Tensor
    csr: Tensor | None  # the pattern as torch's own kernels want it, where they are used

    @classmethod
    def of(cls, matrix: sp.csr_array, device: torch.device | str = "cpu") -> Pattern:
        """The pattern of a CSR array; what its values are is for the caller to keep, in the same order."""
        numbered = sp.csr_array((np.arange(matrix.nnz), matrix.indices, matrix.indptr), shape=matrix.shape)
        transposed = numbered.T.tocsr()
        rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))

        def moved(array: NDArray[Any]) -> Tensor:
            return torch.tensor(array, dtype=torch.int32, device=device)

        starts, columns = moved(matrix.indptr), moved(matrix.indices)
        return cls(
            shape=(int(matrix.shape[0]), int(matrix.shape[1])),
            starts=starts,
            columns=columns,
            rows=moved(rows),
            transposed_starts=moved(transposed.indptr),
            transposed_columns=moved(transposed.indices),
            order=moved(transposed.data),
            csr=_csr(starts, columns, matrix.shape) if torch.device(device).type in FUSED_DEVICES else None,
        )

    @property
    def num_entries(self) -> int:
        """The number of entries."""
        return int(self.columns.shape[0])

    # -- products, without gradients -----------------------------------------------------------------------------

    def times(self, values: Tensor, dense: Tensor) -> Tensor:
        """The matrix with ``values`` times a dense one, (rows, width)."""
        if self.csr is None:
            return _gathered(self.rows, self.columns, values, dense, self.shape[0])
        return _bags(self.starts, self.columns, values, dense)

    def transposed_times(self, values: Tensor, dense: Tensor) -> Tensor:
        """The transpose of the matrix with ``values`` times a dense one, (columns, width)."""
        if self.csr is None:
            return _gathered(self.columns, self.rows, values, dense, self.shape[1])
        return _bags(self.transposed_starts, self.transposed_columns, values.index_select(0, self.order), dense)

    def inner_products(self, left: Tensor, right: Tensor) -> Tensor:
        """Row i of ``left`` times row j of ``right`` for each entry (i, j), (entries,)."""
        if self.csr is None:
            return (left[self.rows] * right[self.columns]).sum(1)
        pattern = self.csr if self.csr.dtype == left.dtype else self.csr.to(left.dtype)
        products: Tensor = torch.sparse.sampled_addmm(pattern, left, right.T, beta=0.0).values()
        return products

    def row_sums(self, values: Tensor) -> Tensor:
        """The sum of each row's values, (rows, ...)."""
        if self.csr is None:
            return _added(self.rows, values, self.shape[0])
        return _segment_sums(values, self.starts)

    def column_sums(self, values: Tensor) -> Tensor:
        """The sum of each column's values, (columns, ...)."""
        if self.csr is None:
            return _added(self.columns, values, self.shape[1])
        return _segment_sums(values.index_select(0, self.order), self.transposed_starts)

    def row_softmax(self, values: Tensor) -> Tensor:
        """Values that sum to 1 in each row, as softmax makes them."""
        exponentials = (values - self._row_largest(values).index_select(0, self.rows)).exp_()
        return exponentials.div_(self.row_sums(exponentials).index_select(0, self.rows))

    def _row_largest(self, values: Tensor) -> Tensor:
        """The largest value of each row, (rows, ...); that of a row without entries is never looked up."""
        if self.csr is None:
            lowest = values.new_full((self.shape[0], *values.shape[1:]), float("-inf"))
            places = self.rows.long().view(-1, *[1] * (values.dim() - 1)).expand_as(values)
            return lowest.scatter_reduce_(0, places, values, "amax")
        return torch.segment_reduce(values, "max", offsets=self.starts.long(), initial=float("-inf"))


def _segment_sums(values: Tensor, starts: Tensor) -> Tensor:
    return torch.segment_reduce(values, "sum", offsets=starts.long(), initial=0.0)


def _added(places: Tensor, values: Tensor, length: int) -> Tensor:
    return values.new_zeros(length, *values.shape[1:]).index_add_(0, places, values)


def _bags(starts: Tensor, columns: Tensor, values: Tensor, dense: Tensor) -> Tensor:
    # Values that lie apart, one head's of several, would take twice as long.
    return functional.embedding_bag(
        columns, dense, starts, mode="sum", per_sample_weights=values.contiguous(), include_last_offset=True
    )


def _gathered(rows: Tensor, columns: Tensor, values: Tensor, dense: Tensor, height: int) -> Tensor:
    return _added(rows, values[:, None] * dense[columns], height)


def _csr(starts: Tensor, columns: Tensor, shape: tuple[int, ...]) -> Tensor:
    zeros = torch.zeros(len(columns), device=columns.device)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch calls its CSR tensors a beta, once
        return torch.sparse_csr_tensor(starts, columns, zeros, size=tuple(shape), check_invariants=False)


# -- products with gradients --------------------------------------------------------------------------------------


class _Product(Function):
    @staticmethod
    def forward(ctx: Any, pattern: Pattern, values: Tensor, dense: Tensor) -> Tensor:
        ctx.pattern, ctx.values = pattern, values
        return pattern.times(values, dense)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Any, ...]:
        return None, None, ctx.pattern.transposed_times(ctx.values, gradients[0].contiguous())


def product(pattern: Pattern, values: Tensor, dense: Tensor) -> Tensor:
    """A sparse matrix of constant ``values`` times a dense one; the gradient goes to the dense one."""
    result: Tensor = _Product.apply(pattern, values, dense)  # type: ignore[no-untyped-call]
    return result


class _Attention(Function):
    """Softmax over each row's entries of leaky_relu(score of the column + score of the row + bias of the entry)."""

    @staticmethod
    def forward(
        ctx: Any,
        pattern: Pattern,
        slope: float,
        h: Tensor,
        scorer: Tensor,
        bias: Tensor | None,
        heads: int,
        factors: Tensor | None,
    ) -> Tensor:
        scores = functional.linear(h, scorer.T.contiguous())  # (nodes, 2 heads): as a source, as a target
        logits = scores[:, :heads].index_select(0, pattern.columns)
        logits += scores[:, heads:].index_select(0, pattern.rows)
        if bias is not None:
            logits += bias
        negative = logits <= 0  # at 0, torch's leaky_relu takes the slope of the negative side
        attention = pattern.row_softmax(torch.where(negative, slope * logits, logits))
        weights = attention if factors is None else attention * factors
        ctx.pattern, ctx.slope, ctx.heads, ctx.biased = pattern, slope, heads, bias is not None
        ctx.save_for_backward(h, scorer, attention, negative, weights)
        return _by_head(h, heads, lambda part, head: pattern.times(weights[:, head], part))

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Any, ...]:
        pattern, heads = ctx.pattern, ctx.heads
        h, scorer, attention, negative, weights = ctx.saved_tensors
        upstream = gradients[0].contiguous()
        wanted = torch.stack(
            [
                pattern.inner_products(g, part)
                for g, part in zip(_parts(upstream, heads), _parts(h, heads), strict=True)
            ],
            1,
        )
        # Through the softmax: what an entry gains, the others of its row lose.
        wanted *= weights
        to_logits = wanted - attention * pattern.row_sums(wanted).index_select(0, pattern.rows)
        to_logits = torch.where(negative, ctx.slope * to_logits, to_logits)
        to_scores = torch.cat([pattern.column_sums(to_logits), pattern.row_sums(to_logits)], 1)
        to_h = _by_head(upstream, heads, lambda part, head: pattern.transposed_times(weights[:, head], part))
        to_h.addmm_(to_scores, scorer.T)
        to_scorer = (to_scores.T @ h).T  # a tall thin product takes far longer the other way round
        return None, None, to_h, to_scorer, to_logits if ctx.biased else None, None, None


def attend(
    pattern: Pattern,
    h: Tensor,
    scorer: Tensor,
    bias: Tensor | None = None,
    *,
    heads: int,
    slope: float,
    factors: Tensor | None = None,
) -> Tensor:
    """Each node's mean of its in-neighbours, weighed by attention, (nodes, heads * width).

    ``h`` (nodes, heads * width) is what is averaged, ``scorer`` (heads * width, 2 heads) scores a node as source and as
    target of an edge, ``bias`` (entries, heads) belongs to the edges. ``factors`` (entries, heads), constants such as
    dropout draws, multiply the weights after the softmax.
    """
    result: Tensor = _Attention.apply(  # type: ignore[no-untyped-call]
        pattern, slope, h, scorer, bias, heads, factors
    )
    return result


def _parts(matrix: Tensor, heads: int) -> tuple[Tensor, ...]:
    """The columns of each head, each a matrix of its own."""
    return (matrix,) if heads == 1 else tuple(part.contiguous() for part in matrix.chunk(heads, dim=1))


def _by_head(matrix: Tensor, heads: int, aggregate: Any) -> Tensor:
    outputs = [aggregate(part, head) for head, part in enumerate(_parts(matrix, heads))]
    return outputs[0] if heads == 1 else torch.cat(outputs, 1)
