"""Objectives: how little two views of a graph agree, channel by channel or node by node.

Both ask one thing of each vector of one view: to be more like its counterpart in the other view than like the rest. The
vectors are columns for :func:`channel_contrast` and rows for :func:`node_contrast`; likeness is the cosine, divided by
the temperature. A vector of zeros is like nothing: its cosines are 0, and so are their gradients.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations_with_replacement, product
from numbers import Real
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from graphprox.errors import ParameterError

# Squares of this many rows at a time stay in the processor's cache, which is much faster for many rows.
ROWS_AT_ONCE = 1024

# -- channels -------------------------------------------------------------------------------------------------------


class ChannelStatistics(NamedTuple):
    """All that the channel loss needs to know of two views, whatever the number of nodes.

    Each is a sum over nodes, so the statistics of disjoint parts of a graph add up to those of the whole, and the exact
    loss and gradient follow from parts that never stand in memory together. :func:`channel_statistics` makes it.

    >>> a, b = torch.eye(3), torch.ones(3, 3)
    >>> whole = channel_statistics(a[:1], b[:1]) + channel_statistics(a[1:], b[1:])
    >>> torch.equal(whole.products, a.T @ b)
    True
    """

    products: Tensor  # aᵀb, (channels, channels)
    squares_a: Tensor  # squared norm of each column of a, (channels,)
    squares_b: Tensor  # squared norm of each column of b, (channels,)

    # A sum in place of tuple's concatenation, because sums of parts are what these three are for.
    def __add__(self, other: ChannelStatistics) -> ChannelStatistics:  # type: ignore[override]
        if self.products.shape != other.products.shape:
            raise ParameterError(
                "statistics to be added must be of as many channels; "
                f"got {len(self.products)} and {len(other.products)} channels"
            )
        return ChannelStatistics(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))


def channel_statistics(a: Tensor, b: Tensor) -> ChannelStatistics:
    """Products and squared norms of the columns of two views, (nodes, channels) each; see :class:`ChannelStatistics`.

    >>> statistics = channel_statistics(torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0, 4.0]]))
    >>> statistics.products.tolist(), statistics.squares_a.tolist(), statistics.squares_b.tolist()
    ([[3.0, 4.0], [6.0, 8.0]], [1.0, 4.0], [9.0, 16.0])
    """
    _check_views(a, b)
    return ChannelStatistics(*_Statistics.apply(a, b))  # type: ignore[no-untyped-call]


def channel_loss(
    statistics: ChannelStatistics, *, temperature: float, positives_in_denominator: bool = False
) -> Tensor:
    """The loss of :func:`channel_contrast`, from the statistics of the whole graph alone.

    >>> statistics = channel_statistics(torch.eye(3), torch.eye(3))
    >>> round(channel_loss(statistics, temperature=0.5).item(), 4)  # 2 × (log 2 - 1 / 0.5)
    -2.6137
    """
    _check_temperature(temperature)
    _check_count("channel", len(statistics.products), positives_in_denominator=positives_in_denominator)
    scale_a, scale_b = (_inverse_norms(squares) for squares in statistics[1:])
    similarities = statistics.products * (scale_a / temperature)[:, None] * scale_b
    compared = similarities if positives_in_denominator else similarities.clone().fill_diagonal_(-math.inf)
    return (compared.logsumexp(1) + compared.logsumexp(0) - 2 * similarities.diagonal()).mean()


def channel_contrast(a: Tensor, b: Tensor, *, temperature: float, positives_in_denominator: bool = False) -> Tensor:
    """Each channel of one view against all channels of the other: the paper's loss, a number.

    ``a`` and ``b`` are (nodes, channels). For a channel i, both -log(exp s_ii / Σ_j≠i exp s_ij) and the same with s_ji
    count, where s is the cosine of two columns over the temperature; their sum is averaged over channels. The paper
    leaves the positive pair s_ii out of the denominator, so that the loss may be negative; with
    ``positives_in_denominator`` it is in, as in InfoNCE.

    The cost is that of three products of nodes × channels × channels, forward and backward together.

    >>> a, b = torch.tensor([[1.0, 0.0], [0.0, 1.0]]), torch.tensor([[2.0, 0.0], [0.0, 3.0]])
    >>> channel_contrast(a, b, temperature=0.5).item()  # each positive has cosine 1, its only negative 0
    -4.0
    >>> round(channel_contrast(a, b, temperature=0.5, positives_in_denominator=True).item(), 4)
    0.2539
    """
    return channel_loss(
        channel_statistics(a, b), temperature=temperature, positives_in_denominator=positives_in_denominator
    )


class _Statistics(torch.autograd.Function):
    """The three sums over nodes; by hand, as autograd makes six copies of a view where one, its gradient, will do."""

    @staticmethod
    def forward(ctx: Any, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        ctx.save_for_backward(a, b)
        return a.T @ b, _column_squares(a), _column_squares(b)

    @staticmethod
    def backward(ctx: Any, products: Tensor, squares_a: Tensor, squares_b: Tensor) -> tuple[Tensor | None, ...]:
        a, b = ctx.saved_tensors
        needs_a, needs_b = ctx.needs_input_grad
        return (
            (a * (2 * squares_a)).addmm_(b, products.T) if needs_a else None,
            (b * (2 * squares_b)).addmm_(a, products) if needs_b else None,
        )


def _column_squares(x: Tensor) -> Tensor:
    # Multiply and sum: vector_norm and einsum go down the columns one by one, many times slower and less exact.
    return torch.stack([(part * part).sum(0) for part in torch.split(x, ROWS_AT_ONCE)]).sum(0)


# -- nodes ----------------------------------------------------------------------------------------------------------


def node_contrast(
    a: Tensor,
    b: Tensor,
    *,
    temperature: float,
    positives_in_denominator: bool = True,
    intra_view: bool = False,
    block: int = 1024,
) -> Tensor:
    """Each node of one view against all nodes of the other, and with ``intra_view`` of its own: a number.

    ``a`` and ``b`` are (nodes, channels). Without ``intra_view`` it is :func:`channel_contrast` of the transposes. With
    it, the denominator of a node holds also its cosines with the other nodes of its own view. GRACE's loss is
    half of that: it takes the mean of the two directions where this, as the paper's Eq. 2, takes their sum.

    Similarities are made in blocks of ``block`` × ``block``, once forward and once more backward, so that memory grows
    with the number of nodes; time grows with its square.

    >>> a, b = torch.tensor([[1.0, 0.0], [0.0, 1.0]]), torch.tensor([[2.0, 0.0], [0.0, 3.0]])
    >>> round(node_contrast(a, b, temperature=0.5).item(), 4)
    0.2539
    >>> round(node_contrast(a, b, temperature=0.5, intra_view=True).item(), 4)
    0.4791
    """
    _check_views(a, b)
    _check_temperature(temperature)
    _check_count("node", len(a), positives_in_denominator=positives_in_denominator)
    if not isinstance(block, int) or isinstance(block, bool) or block < 1:
        raise ParameterError(f"block must be a whole number from 1, the side of a block of similarities; got {block!r}")
    pairs = _Pairs(
        len(a),
        block=block,
        intra_view=intra_view,
        positives=positives_in_denominator,
        # Twice this is still no overflow, nor its negative an underflow, even if as many terms are added.
        small_exponents=1 / temperature <= math.log(torch.finfo(a.dtype).max) / 2,
    )
    # Either side takes the root of the temperature, so that a product of two rows is a similarity as it stands.
    rows_a, rows_b = (_rows_of_length(temperature**-0.5, x) for x in (a, b))
    denominators: Tensor = _LogDenominators.apply(torch.cat([rows_a, rows_b]), pairs)  # type: ignore[no-untyped-call]
    return (denominators - 2 * (rows_a * rows_b).sum()) / len(a)


def _rows_of_length(length: float, x: Tensor) -> Tensor:
    return x * (length * _inverse_norms((x * x).sum(1)))[:, None]


class _Tile(NamedTuple):
    """A block of the matrix of similarities of all rows, those of the first view followed by those of the second."""

    rows: slice
    columns: slice
    without_diagonal: bool  # whether the diagonal holds pairs that are in no denominator

    @property
    def is_own_mirror(self) -> bool:
        """Whether it lies on the diagonal of the matrix, where columns say again what rows say."""
        return self.rows == self.columns


@dataclass(frozen=True)
class _Pairs:
    """Which pairs of rows are in a denominator, and how they are cut into tiles."""

    nodes: int
    block: int
    intra_view: bool
    positives: bool
    small_exponents: bool  # whether a similarity can be exponentiated as it is

    def tiles(self) -> Iterator[_Tile]:
        """Tiles that hold each pair of the symmetric matrix once, in one order or in the other."""
        first, second = (self._cut(start) for start in (0, self.nodes))
        pairs = combinations_with_replacement(first + second, 2) if self.intra_view else product(first, second)
        for rows, columns in pairs:
            are_counterparts = columns.start - rows.start == self.nodes
            yield _Tile(rows, columns, rows == columns or (are_counterparts and not self.positives))

    def _cut(self, start: int) -> list[slice]:
        stop = start + self.nodes
        return [slice(low, min(low + self.block, stop)) for low in range(start, stop, self.block)]


class _LogDenominators(torch.autograd.Function):
    """The logarithms of all rows' denominators, added up; of the similarities, only a logarithm per row is kept."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, pairs: _Pairs) -> Tensor:
        logs = rows.new_full((len(rows),), -math.inf)
        tile_space = _space(rows, pairs)
        for tile in pairs.tiles():
            of_rows, of_columns = _log_sums(_similarities(rows, tile, tile_space), pairs)
            logs[tile.rows] = torch.logaddexp(logs[tile.rows], of_rows)
            if not tile.is_own_mirror:
                logs[tile.columns] = torch.logaddexp(logs[tile.columns], of_columns)
        ctx.save_for_backward(rows, logs)
        ctx.pairs = pairs
        return logs.sum()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor, None]:
        rows, logs = ctx.saved_tensors
        gradient = torch.zeros_like(rows)
        tile_space = _space(rows, ctx.pairs)
        for tile in ctx.pairs.tiles():
            shares = _shares(_similarities(rows, tile, tile_space), tile, logs, ctx.pairs)
            gradient[tile.rows].addmm_(shares, rows[tile.columns])
            if not tile.is_own_mirror:
                gradient[tile.columns].addmm_(shares.T, rows[tile.rows])
        return gradient.mul_(upstream), None


def _space(rows: Tensor, pairs: _Pairs) -> Tensor:
    # Memory for one tile, used again for each: asking the system for new memory takes longer than filling it.
    return rows.new_empty(min(pairs.block, pairs.nodes) ** 2)


def _similarities(rows: Tensor, tile: _Tile, space: Tensor) -> Tensor:
    """The tile's similarities, (rows, columns), written into ``space``; -inf for a pair that is in no denominator."""
    left, right = rows[tile.rows], rows[tile.columns]
    made = torch.mm(left, right.T, out=space[: len(left) * len(right)].view(len(left), len(right)))
    return made.fill_diagonal_(-math.inf) if tile.without_diagonal else made


def _log_sums(similarities: Tensor, pairs: _Pairs) -> tuple[Tensor, Tensor]:
    """The logarithm of the sum of exponentials along rows and along columns; overwrites what is given."""
    if pairs.small_exponents:
        # One exponential serves both sums; two, with a maximum for each, would take a quarter of the time again.
        similarities.exp_()
        return similarities.sum(1).log(), similarities.sum(0).log()
    return similarities.logsumexp(1), similarities.logsumexp(0)


def _shares(similarities: Tensor, tile: _Tile, logs: Tensor, pairs: _Pairs) -> Tensor:
    """Each pair's share of its row's denominator and of its column's, added; overwrites what is given."""
    row_logs, column_logs = logs[tile.rows, None], logs[tile.columns]
    if pairs.small_exponents:
        return similarities.exp_().mul_((-row_logs).exp() + (-column_logs).exp())
    of_rows = (similarities - row_logs).exp_()
    return of_rows.add_(similarities.sub_(column_logs).exp_())


# -- the table ------------------------------------------------------------------------------------------------------

OBJECTIVES: dict[str, Callable[..., Tensor]] = {"channel": channel_contrast, "node": node_contrast}

# -- what both share ------------------------------------------------------------------------------------------------


def _inverse_norms(squares: Tensor) -> Tensor:
    """1 / norm for each squared norm; 0, with gradient 0, for a vector of zeros or next to zeros."""
    # Squares below this have lost digits to underflow, and their reciprocal in the gradient might overflow.
    info = torch.finfo(squares.dtype)
    alive = squares > info.tiny / info.eps
    # Not rsqrt, whose gradient holds a third power; and no dead norm reaches the root, whose slope there is infinite.
    return torch.where(alive, squares, 1).sqrt().reciprocal() * alive


def _check_views(a: Tensor, b: Tensor) -> None:
    if a.ndim != 2 or a.shape != b.shape:
        raise ParameterError(
            "two views must be matrices of one shape, (nodes, channels); "
            f"got {tuple(a.shape)} and {tuple(b.shape)}: was each made from all nodes?"
        )
    if a.dtype != b.dtype or not a.is_floating_point():
        raise ParameterError(f"two views must be of one floating-point type; got {a.dtype} and {b.dtype}")


def _check_temperature(temperature: object) -> None:
    if not isinstance(temperature, Real) or not 0 < float(temperature) < math.inf:
        raise ParameterError(f"temperature must be a positive, finite number; got {temperature!r}")


def _check_count(what: str, count: int, *, positives_in_denominator: bool) -> None:
    if count == 0:
        raise ParameterError(f"{what} contrast needs at least one {what}; got none")
    if count == 1 and not positives_in_denominator:
        raise ParameterError(
            f"{what} contrast needs at least two {what}s, or its denominator is empty; "
            "got one: set positives_in_denominator"
        )
