"""Operations of all processes with a gradient.

A sum over all processes is followed by the same computation in each of them, so each has the whole gradient of the sum
already: the backward pass of :func:`all_reduce_sum` is the identity. The gradients of parameters are added up
afterwards, as each process has the contribution of its own rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function

from graphprox.distributed.processes import Processes


# torch.distributed.nn.functional.all_reduce would add up the gradients, which are equal, once more.
class _AllReduce(Function):
    @staticmethod
    def forward(ctx: Any, processes: Processes, tensor: Tensor) -> Tensor:  # noqa: ARG004
        return processes.sum_(tensor.detach().clone())

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Any, ...]:  # noqa: ARG004
        return None, gradients[0]


class _Exchange(Function):
    @staticmethod
    def forward(ctx: Any, processes: Processes, rows: Tensor, sent: Sequence[int], received: Sequence[int]) -> Tensor:
        ctx.processes, ctx.sent, ctx.received = processes, sent, received
        return processes.exchange(rows.detach(), sent, received)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Any, ...]:
        return None, ctx.processes.exchange(gradients[0], ctx.received, ctx.sent), None, None


def all_reduce_sum(processes: Processes, tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Add up tensors over all processes, in one operation.

    Parameters
    ----------
    processes : Processes
    tensors : sequence of Tensor
        Of the same type and device, and of the same shapes in all processes.

    Returns
    -------
    tuple of Tensor
        The same bytes in all processes. The gradient of each is passed on as it is.
    """
    flat: Tensor = _AllReduce.apply(  # type: ignore[no-untyped-call]
        processes, torch.cat([each.reshape(-1) for each in tensors])
    )
    parts = torch.split(flat, [each.numel() for each in tensors])
    return tuple(part.view_as(each) for part, each in zip(parts, tensors, strict=True))


def exchange_rows(processes: Processes, rows: Tensor, sent: Sequence[int], received: Sequence[int]) -> Tensor:
    """Exchange rows with all processes, as :meth:`Processes.exchange`; their gradients return the same way.

    Parameters
    ----------
    processes : Processes
    rows : Tensor of shape (sum of sent, channels)
    sent, received : sequence of int
        Number of rows to and from each process.

    Returns
    -------
    Tensor of shape (sum of received, channels)
    """
    result: Tensor = _Exchange.apply(processes, rows, sent, received)  # type: ignore[no-untyped-call]
    return result
