"""Encoder: convolutions one after another, shared by a graph and its views."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any, cast

import torch
from torch import Generator, Tensor, nn
from torch.autograd import Function
from torch.nn import functional

from graphprox.arrays import FloatArray, IntArray
from graphprox.nn.convolutions import CONVOLUTIONS, GAT, Convolution, Edges, glorot, in_neighbours
from graphprox.nn.features import FeatureMatrix


class _PReLU(Function):
    """With a gradient that takes a fraction of the time of torch's own."""

    @staticmethod
    def forward(ctx: Any, h: Tensor, slope: Tensor) -> Tensor:
        ctx.save_for_backward(h, slope)
        return functional.prelu(h, slope)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor]:
        (upstream,), (h, slope) = gradients, ctx.saved_tensors
        factor = (h > 0).to(h.dtype).mul_(1 - slope).add_(slope)  # 1, or the slope; torch.where takes longer
        return factor.mul_(upstream), h.clamp(max=0).mul_(upstream).sum(0)


class PReLU(nn.Module):
    """A slope for negative values of each channel, learned."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.slope = nn.Parameter(torch.full((channels,), 0.25))

    def forward(self, h: Tensor) -> Tensor:
        """Negative values times their channel's slope."""
        result: Tensor = _PReLU.apply(h, self.slope)  # type: ignore[no-untyped-call]
        return result


class Plain(nn.Module):
    """An activation without parameters; in place, since nothing else needs what it changes."""

    def __init__(self, function: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.function = function

    def forward(self, h: Tensor) -> Tensor:
        """The function's value."""
        return self.function(h)


def _same(h: Tensor) -> Tensor:
    return h


ACTIVATIONS: dict[str, Callable[[int], nn.Module]] = {
    "prelu": PReLU,
    "elu": lambda _: Plain(functional.elu_),
    "relu": lambda _: Plain(functional.relu_),
    "none": lambda _: Plain(_same),
}


class Encoder(nn.Module):
    """From features and edges to an embedding, (nodes, :attr:`width`).

    Layers of one kind of convolution, each followed by the activation. With ``residual`` the input of a layer is added
    to what it makes of it; ``jumping`` hands out the last layer's output, or all of them side by side (``"concat"``),
    or the largest of each channel (``"max"``).

    >>> import numpy as np
    >>> encoder = Encoder(4, kind="sage", width=8, rng=torch.Generator().manual_seed(0))
    >>> features = FeatureMatrix.of(np.ones((3, 4), np.float32))
    >>> edges = encoder.edges(np.array([[0, 1], [1, 2]]), None, num_nodes=3)
    >>> encoder(encoder.project(features), edges).shape
    torch.Size([3, 8])
    """

    def __init__(
        self,
        features: int,
        *,
        kind: str = "gat",
        width: int = 256,
        hidden: int | None = None,
        layers: int = 2,
        heads: int = 1,
        activation: str = "prelu",
        residual: bool = False,
        jumping: str = "last",
        weighted: bool = False,
        rng: Generator,
    ) -> None:
        super().__init__()
        widths = [features, *[hidden or width] * (layers - 1), width]
        self.jumping = jumping
        self.width = sum(widths[1:]) if jumping == "concat" else width
        self.convolutions = nn.ModuleList(
            _convolution(kind, *ends, heads=heads, weighted=weighted, rng=rng) for ends in pairwise(widths)
        )
        self.activations = nn.ModuleList(ACTIVATIONS[activation](each) for each in widths[1:])
        self.residual = residual
        self.shortcuts = nn.ModuleList(Shortcut(*ends, rng=rng) for ends in pairwise(widths[1:]) if residual)

    def edges(
        self,
        edge_index: IntArray,
        edge_weight: FloatArray | None,
        *,
        num_nodes: int,
        device: torch.device | str = "cpu",
    ) -> Edges:
        """Edges as this encoder wants them; worth keeping where they are used again."""
        return self._first.edges(in_neighbours(edge_index, edge_weight, num_nodes), device)

    def project(self, features: FeatureMatrix, kept: Tensor | None = None) -> Tensor:
        """The first layer's half without edges: the same for a graph and its views, so that it is computed once.

        ``kept`` (features,) is 1 for the features to see and 0 for those to hide.
        """
        if kept is None:
            return self._first.project(features.times)
        # Hiding columns of X is hiding rows of the weight, which is smaller and never sparse.
        return self._first.project(lambda weight: features.times(weight * kept[:, None]))

    @property
    def _first(self) -> Convolution:
        return cast("Convolution", self.convolutions[0])

    def forward(self, projected: Tensor, edges: Edges) -> Tensor:
        """The embedding, from what :meth:`project` made."""
        outputs: list[Tensor] = []
        convolutions = cast("Iterable[Convolution]", self.convolutions)
        for layer, (convolution, activation) in enumerate(zip(convolutions, self.activations, strict=True)):
            before = outputs[-1] if outputs else None
            h = convolution.propagate(projected if before is None else convolution.project(before.mm), edges)
            if self.residual and before is not None:
                h = h + self.shortcuts[layer - 1](before)
            outputs.append(activation(h))
        if self.jumping == "last":
            return outputs[-1]
        return torch.cat(outputs, 1) if self.jumping == "concat" else torch.stack(outputs).amax(0)


class Shortcut(nn.Module):
    """What a residual layer adds: its input, through a matrix where the widths differ."""

    def __init__(self, inputs: int, outputs: int, *, rng: Generator) -> None:
        super().__init__()
        self.weight = None if inputs == outputs else glorot(inputs, outputs, rng=rng)

    def forward(self, h: Tensor) -> Tensor:
        """The input in the width of the output."""
        return h if self.weight is None else h @ self.weight


def _convolution(kind: str, inputs: int, outputs: int, *, heads: int, weighted: bool, rng: Generator) -> Convolution:
    if kind == "gat":
        return GAT(inputs, outputs, rng=rng, heads=heads, weighted=weighted)
    return CONVOLUTIONS[kind](inputs, outputs, rng=rng)
