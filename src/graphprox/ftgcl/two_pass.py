"""The exact gradient of a loss over all nodes, of which a chunk at a time is encoded.

The loss is a function of sums over nodes, whose size does not depend on the number of nodes. So

1. a first pass encodes each chunk of nodes, without a graph for autograd, and adds up the sums;
2. the loss and its gradient with respect to the sums are computed once;
3. a second pass encodes each chunk again, and backpropagates that gradient, a constant by now, into the weights.

The result is the gradient of the full batch, summed in another order. Several processes, each with other rows, add up
the sums after the first pass and the gradients of the weights after the second.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

import torch
from torch import Tensor

from graphprox.nn.objectives.base import Objective, ObjectiveOptions

Views = Sequence[tuple[Tensor, Tensor]]  # two encoded views for each of the pairs that are contrasted
Statistics = tuple[Tensor, ...]
Reduce = Callable[[Tensor], Any]  # sums a tensor over processes, in place


def backward_in_chunks(
    encode: Callable[[slice], Views],
    chunks: Sequence[slice],
    objective: Objective,
    options: ObjectiveOptions,
    *,
    reduce: Reduce | None = None,
) -> Tensor:
    """Add the gradient of a loss to that of the weights, and return the loss.

    Parameters
    ----------
    encode : callable
        Encodes a chunk: returns these rows of two views for each pair that is contrasted, the same each time.
    chunks : sequence of slice
        Rows of each chunk; together they are all rows of this process, each once.
    objective : Objective
        One that has ``sums``.
    options : ObjectiveOptions
    reduce : callable, optional
        Sums a tensor over processes, each of which has other rows. The gradient that is added is that of its own rows.

    Returns
    -------
    Tensor of shape ()
        The sum of the losses of all pairs, without a gradient.

    Examples
    --------
    >>> from graphprox.nn.objectives import OBJECTIVES
    >>> channel = OBJECTIVES["channel"]
    >>> x, weight = torch.eye(4, 2), torch.tensor([[1.0, 2.0], [0.0, 1.0]], requires_grad=True)
    >>> chunks = [slice(0, 1), slice(1, 4)]
    >>> loss = backward_in_chunks(lambda rows: [(x[rows] @ weight, x[rows])], chunks, channel, channel.options())
    >>> expected = channel(x @ weight, x, channel.options())
    >>> torch.allclose(loss, expected), torch.allclose(weight.grad, torch.autograd.grad(expected, weight)[0])
    (True, True)
    """
    if objective.sums is None:
        raise TypeError(f"{objective.name} is not a function of sums over nodes")
    compute = objective.sums.statistics

    def statistics_of(chunk: slice) -> list[Statistics]:
        return [compute(a, b) for a, b in encode(chunk)]

    # A single chunk is not encoded again: its graph is kept in between, as that of the full batch would be.
    kept = statistics_of(chunks[0]) if len(chunks) == 1 else None
    totals = _detach(kept) if kept is not None else _add_up(statistics_of, chunks)
    if reduce is not None:
        totals = _reduce_together(totals, reduce)
    loss, upstream = _differentiate(totals, objective, options)
    for chunk in chunks:
        parts = statistics_of(chunk) if kept is None else kept
        torch.autograd.backward(list(chain(*parts)), upstream)
    return loss


def split_rows(rows: slice, size: int) -> list[slice]:
    """Split a range of rows into chunks of nearly the same size.

    Parameters
    ----------
    rows : slice
    size : int
        Largest number of rows of a chunk.

    Returns
    -------
    list of slice
        At least one.

    Examples
    --------
    >>> split_rows(slice(10, 17), 3)
    [slice(10, 12, None), slice(12, 14, None), slice(14, 17, None)]
    """
    total = rows.stop - rows.start
    count = max(1, -(-total // size))
    return [slice(rows.start + total * i // count, rows.start + total * (i + 1) // count) for i in range(count)]


@torch.no_grad()
def _add_up(statistics_of: Callable[[slice], list[Statistics]], chunks: Sequence[slice]) -> list[Statistics]:
    """Return the sums over all chunks. They are added in double precision, where the device has it."""
    totals: list[Statistics] = []
    for chunk in chunks:
        parts = statistics_of(chunk)
        wide = [_map(part, lambda each: each if each.device.type == "mps" else each.double()) for part in parts]
        totals = [_map_two(*both, torch.add) for both in zip(totals, wide, strict=True)] if totals else wide
    return [_map_two(*both, lambda total, part: total.to(part.dtype)) for both in zip(totals, parts, strict=True)]


def _reduce_together(totals: list[Statistics], reduce: Reduce) -> list[Statistics]:
    """Sum the statistics of all pairs over processes, in one message."""
    tensors = list(chain(*totals))
    message = torch.cat([each.reshape(-1) for each in tensors])
    reduce(message)
    sums = iter(torch.split(message, [each.numel() for each in tensors]))
    return [_map(each, lambda tensor: next(sums).reshape(tensor.shape)) for each in totals]


def _differentiate(
    totals: list[Statistics], objective: Objective, options: ObjectiveOptions
) -> tuple[Tensor, tuple[Tensor, ...]]:
    leaves = [_map(each, lambda tensor: tensor.clone().requires_grad_()) for each in totals]
    loss = torch.stack([objective.loss_of(each, options) for each in leaves]).sum()
    return loss.detach(), torch.autograd.grad(loss, list(chain(*leaves)))


def _detach(statistics: list[Statistics]) -> list[Statistics]:
    return [_map(each, Tensor.detach) for each in statistics]


def _map(statistics: Statistics, function: Callable[[Tensor], Tensor]) -> Statistics:
    """Apply a function to each tensor; a named tuple stays one."""
    make: Callable[[Any], Statistics] = getattr(statistics, "_make", tuple)
    return make(function(each) for each in statistics)


def _map_two(one: Statistics, other: Statistics, function: Callable[[Tensor, Tensor], Tensor]) -> Statistics:
    others = iter(other)
    return _map(one, lambda each: function(each, next(others)))
