"""Node contrast: each node of a view against the nodes of the other view, and optionally of the same view."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations_with_replacement, product
from typing import Any, Literal, NamedTuple

import torch
from pydantic import StrictBool
from torch import Tensor
from torch.autograd.function import once_differentiable

from graphprox._utils.checks import check_positive
from graphprox._utils.options_model import PositiveFloat
from graphprox.nn.objectives._contrast import check_count, check_temperature, check_views, inverse_norms
from graphprox.nn.objectives.base import ObjectiveOptions, register_objective


class NodeOptions(ObjectiveOptions):
    """Options of the node contrast.

    Parameters
    ----------
    temperature : float, default=0.5
        Cosines are divided by it.
    positives_in_denominator : bool, default=False
        Whether the denominator contains the positive pair, as in InfoNCE.
    intra_view : bool, default=False
        Whether the other nodes of the same view are negatives too, as in GRACE.

    Examples
    --------
    >>> NodeOptions(intra_view=True).temperature
    0.5
    """

    name: Literal["node"] = "node"
    temperature: PositiveFloat = 0.5
    positives_in_denominator: StrictBool = False
    intra_view: StrictBool = False


@register_objective("node", options=NodeOptions)
def node_contrast(
    a: Tensor,
    b: Tensor,
    *,
    temperature: float = 0.5,
    positives_in_denominator: bool = False,
    intra_view: bool = False,
    block_size: int = 1024,
) -> Tensor:
    """Contrast each node of a view with all nodes of the other, and optionally of the same view.

    Without ``intra_view`` it equals the channel contrast of the transposed views. With ``intra_view`` and
    ``positives_in_denominator`` it is twice the loss of GRACE, which averages the two directions that are summed here.
    The cosine of a row of zeros is 0, with gradient 0.

    Similarities are computed in blocks, once forward and once backward, so memory is linear in the number of nodes;
    time is quadratic.

    Parameters
    ----------
    a, b : Tensor of shape (num_nodes, channels)
        Projections of two views of the same nodes.
    temperature : float, default=0.5
        Cosines are divided by it.
    positives_in_denominator : bool, default=False
        Whether the denominator contains the positive pair, as in InfoNCE.
    intra_view : bool, default=False
        Whether the denominator also contains the other nodes of the same view.
    block_size : int, default=1024
        Number of rows and columns of a block of similarities.

    Returns
    -------
    Tensor of shape ()

    Examples
    --------
    >>> a, b = torch.tensor([[1.0, 0.0], [0.0, 1.0]]), torch.tensor([[2.0, 0.0], [0.0, 3.0]])
    >>> round(node_contrast(a, b, temperature=0.5, positives_in_denominator=True).item(), 4)
    0.2539
    >>> round(node_contrast(a, b, temperature=0.5, positives_in_denominator=True, intra_view=True).item(), 4)
    0.4791
    """
    check_views(a, b)
    check_temperature(temperature)
    check_count("node", len(a), positives_in_denominator=positives_in_denominator)
    check_positive(block_size=block_size)
    pairs = _Pairs(
        len(a),
        block_size=int(block_size),
        intra_view=intra_view,
        positives=positives_in_denominator,
        # The other half of the exponents is reserved for the sum over pairs, which neither overflows nor underflows.
        has_small_exponents=1 / temperature <= math.log(torch.finfo(a.dtype).max) / 2,
    )
    # Both sides are divided by the root of the temperature, so that the product of two rows is their similarity.
    rows_a, rows_b = (_scale_rows(x, temperature**-0.5) for x in (a, b))
    denominators: Tensor = _LogDenominators.apply(torch.cat([rows_a, rows_b]), pairs)  # type: ignore[no-untyped-call]
    return (denominators - 2 * (rows_a * rows_b).sum()) / len(a)


def _scale_rows(x: Tensor, norm: float) -> Tensor:
    """Scale rows to a norm; rows of zeros stay zero."""
    return x * (norm * inverse_norms((x * x).sum(1)))[:, None]


class _Tile(NamedTuple):
    """Block of the similarity matrix of all rows, those of the first view followed by those of the second."""

    rows: slice
    columns: slice
    without_diagonal: bool  # whether the pairs on its diagonal are in no denominator

    @property
    def is_symmetric(self) -> bool:
        """Whether it is on the diagonal of the matrix, so that its columns repeat its rows."""
        return self.rows == self.columns


@dataclass(frozen=True)
class _Pairs:
    """Pairs of rows that are in a denominator, divided into tiles."""

    num_nodes: int
    block_size: int
    intra_view: bool
    positives: bool
    has_small_exponents: bool  # whether similarities can be exponentiated without subtracting a maximum

    def tiles(self) -> Iterator[_Tile]:
        """Yield tiles that cover each pair of the symmetric matrix once, in one order or the other."""
        first, second = (self._split(start) for start in (0, self.num_nodes))
        pairs = combinations_with_replacement(first + second, 2) if self.intra_view else product(first, second)
        for rows, columns in pairs:
            has_positives = columns.start - rows.start == self.num_nodes
            yield _Tile(rows, columns, rows == columns or (has_positives and not self.positives))

    def _split(self, start: int) -> list[slice]:
        stop = start + self.num_nodes
        return [slice(low, min(low + self.block_size, stop)) for low in range(start, stop, self.block_size)]


class _LogDenominators(torch.autograd.Function):
    """Sum of the logarithms of the denominators of all rows; only one logarithm per row is stored for backward."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, pairs: _Pairs) -> Tensor:
        logs = rows.new_full((len(rows),), -math.inf)
        buffer = _allocate_tile(rows, pairs)
        for tile in pairs.tiles():
            row_logs, column_logs = _log_sums(_compute_similarities(rows, tile, buffer), pairs)
            logs[tile.rows] = torch.logaddexp(logs[tile.rows], row_logs)
            if not tile.is_symmetric:
                logs[tile.columns] = torch.logaddexp(logs[tile.columns], column_logs)
        ctx.save_for_backward(rows, logs)
        ctx.pairs = pairs
        return logs.sum()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor, None]:
        rows, logs = ctx.saved_tensors
        gradient = torch.zeros_like(rows)
        buffer = _allocate_tile(rows, ctx.pairs)
        for tile in ctx.pairs.tiles():
            shares = _compute_shares(_compute_similarities(rows, tile, buffer), tile, logs, ctx.pairs)
            gradient[tile.rows].addmm_(shares, rows[tile.columns])
            if not tile.is_symmetric:
                gradient[tile.columns].addmm_(shares.T, rows[tile.rows])
        return gradient.mul_(upstream), None


def _allocate_tile(rows: Tensor, pairs: _Pairs) -> Tensor:
    # One buffer for all tiles: allocating new memory takes longer than filling it.
    return rows.new_empty(min(pairs.block_size, pairs.num_nodes) ** 2)


def _compute_similarities(rows: Tensor, tile: _Tile, buffer: Tensor) -> Tensor:
    """Write the similarities of a tile into the buffer, -inf for pairs that are in no denominator."""
    left, right = rows[tile.rows], rows[tile.columns]
    similarities = torch.mm(left, right.T, out=buffer[: len(left) * len(right)].view(len(left), len(right)))
    return similarities.fill_diagonal_(-math.inf) if tile.without_diagonal else similarities


def _log_sums(similarities: Tensor, pairs: _Pairs) -> tuple[Tensor, Tensor]:
    """Return the log-sum-exp of rows and of columns; overwrites the similarities."""
    if pairs.has_small_exponents:
        # One exponential serves both sums; two logsumexp, each with a maximum, take a quarter longer.
        similarities.exp_()
        return similarities.sum(1).log(), similarities.sum(0).log()
    return similarities.logsumexp(1), similarities.logsumexp(0)


def _compute_shares(similarities: Tensor, tile: _Tile, logs: Tensor, pairs: _Pairs) -> Tensor:
    """Return the share of each pair in the denominators of its row and its column; overwrites the similarities."""
    row_logs, column_logs = logs[tile.rows, None], logs[tile.columns]
    if pairs.has_small_exponents:
        return similarities.exp_().mul_((-row_logs).exp() + (-column_logs).exp())
    row_shares = (similarities - row_logs).exp_()
    return row_shares.add_(similarities.sub_(column_logs).exp_())
