"""Channel contrast: each channel of a view against the channels of the other view."""

from __future__ import annotations

import math
from typing import Any, ClassVar, Literal, NamedTuple

import torch
from pydantic import StrictBool
from torch import Tensor

from graphprox._utils.options_model import PositiveFloat
from graphprox.errors import ParameterError
from graphprox.nn.objectives._contrast import check_count, check_temperature, check_views, inverse_norms
from graphprox.nn.objectives.base import ObjectiveOptions, SumsOverNodes, register_objective

# Squares of this many rows at a time stay in the cache of the processor, which is much faster for many rows.
ROWS_PER_BLOCK = 1024


class ChannelOptions(ObjectiveOptions):
    """Options of the channel contrast.

    Parameters
    ----------
    temperature : float, default=0.5
        Cosines are divided by it.
    positives_in_denominator : bool, default=False
        Whether the denominator contains the positive pair, as in InfoNCE. In the paper it does not.

    Examples
    --------
    >>> ChannelOptions(temperature=0)
    Traceback (most recent call last):
    graphprox.errors.ParameterError: objective.temperature must be a positive, finite number; got 0
    """

    min_channels: ClassVar[int] = 2

    name: Literal["channel"] = "channel"
    temperature: PositiveFloat = 0.5
    positives_in_denominator: StrictBool = False


class ChannelStatistics(NamedTuple):
    """Statistics of two views from which the channel contrast follows, of a size independent of the number of nodes.

    All are sums over nodes: the statistics of disjoint parts of a graph add up to those of the whole, so the exact loss
    and gradient can be computed from parts that are never in memory together.

    Attributes
    ----------
    products : Tensor of shape (channels, channels)
        aᵀb.
    squares_a, squares_b : Tensor of shape (channels,)
        Squared norms of the columns of a and of b.

    Examples
    --------
    >>> a, b = torch.eye(3), torch.ones(3, 3)
    >>> whole = channel_statistics(a[:1], b[:1]) + channel_statistics(a[1:], b[1:])
    >>> torch.equal(whole.products, a.T @ b)
    True
    """

    products: Tensor
    squares_a: Tensor
    squares_b: Tensor

    # A sum instead of the concatenation of tuples: adding parts is what the statistics are for.
    def __add__(self, other: ChannelStatistics) -> ChannelStatistics:  # type: ignore[override]
        if self.products.shape != other.products.shape:
            raise ParameterError(
                "statistics that are added must have the same number of channels; "
                f"got {len(self.products)} and {len(other.products)}"
            )
        return ChannelStatistics(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))


def channel_statistics(a: Tensor, b: Tensor) -> ChannelStatistics:
    """Compute the statistics of two views.

    Parameters
    ----------
    a, b : Tensor of shape (num_nodes, channels)

    Returns
    -------
    ChannelStatistics

    Examples
    --------
    >>> statistics = channel_statistics(torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0, 4.0]]))
    >>> statistics.products.tolist(), statistics.squares_a.tolist(), statistics.squares_b.tolist()
    ([[3.0, 4.0], [6.0, 8.0]], [1.0, 4.0], [9.0, 16.0])
    """
    check_views(a, b)
    return ChannelStatistics(*_Statistics.apply(a, b))  # type: ignore[no-untyped-call]


def channel_loss(
    statistics: ChannelStatistics, *, temperature: float = 0.5, positives_in_denominator: bool = False
) -> Tensor:
    """Compute the loss of :func:`channel_contrast` from the statistics of the whole graph.

    Parameters
    ----------
    statistics : ChannelStatistics
    temperature : float, default=0.5
    positives_in_denominator : bool, default=False

    Returns
    -------
    Tensor of shape ()

    Examples
    --------
    >>> statistics = channel_statistics(torch.eye(3), torch.eye(3))
    >>> round(channel_loss(statistics, temperature=0.5).item(), 4)  # 2 × (log 2 - 1 / 0.5)
    -2.6137
    """
    check_temperature(temperature)
    products, *squares = statistics
    check_count("channel", len(products), positives_in_denominator=positives_in_denominator)
    scale_a, scale_b = map(inverse_norms, squares)
    similarities = products * (scale_a / temperature)[:, None] * scale_b
    compared = similarities if positives_in_denominator else similarities.clone().fill_diagonal_(-math.inf)
    return (compared.logsumexp(1) + compared.logsumexp(0) - 2 * similarities.diagonal()).mean()


@register_objective("channel", options=ChannelOptions, sums=SumsOverNodes(channel_statistics, channel_loss))
def channel_contrast(
    a: Tensor, b: Tensor, *, temperature: float = 0.5, positives_in_denominator: bool = False
) -> Tensor:
    """Contrast each channel of a view with all channels of the other, as in the paper (Eq. 2).

    The loss of channel i is -log(exp s_ii / Σ_j≠i exp s_ij) plus the same with s_ji, where s is the cosine of two
    columns divided by the temperature; it is averaged over channels. The cosine of a column of zeros is 0, with
    gradient 0. Forward and backward take three products of num_nodes × channels × channels together.

    Parameters
    ----------
    a, b : Tensor of shape (num_nodes, channels)
        Projections of two views of the same nodes.
    temperature : float, default=0.5
        Cosines are divided by it.
    positives_in_denominator : bool, default=False
        Whether the denominator contains the positive pair s_ii, as in InfoNCE. Without it the loss may be negative.

    Returns
    -------
    Tensor of shape ()

    Examples
    --------
    >>> a, b = torch.tensor([[1.0, 0.0], [0.0, 1.0]]), torch.tensor([[2.0, 0.0], [0.0, 3.0]])
    >>> channel_contrast(a, b, temperature=0.5).item()  # the cosine of positive pairs is 1, of negative ones 0
    -4.0
    >>> round(channel_contrast(a, b, temperature=0.5, positives_in_denominator=True).item(), 4)
    0.2539
    """
    return channel_loss(
        channel_statistics(a, b), temperature=temperature, positives_in_denominator=positives_in_denominator
    )


class _Statistics(torch.autograd.Function):
    """The three sums over nodes, with a backward pass that allocates one view per gradient; autograd makes six."""

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
    # Multiply and sum: vector_norm and einsum process the columns one by one, many times slower and less exact.
    return torch.stack([(part * part).sum(0) for part in torch.split(x, ROWS_PER_BLOCK)]).sum(0)
