"""The projection head, between the encoder and the loss; it is thrown away after training."""

from __future__ import annotations

import torch
from torch import Generator, Tensor, nn
from torch.nn import functional


class Linear(nn.Module):
    """A matrix and a bias, drawn as torch's Linear draws them, but from a generator that is given."""

    def __init__(self, inputs: int, outputs: int, *, rng: Generator) -> None:
        super().__init__()
        limit = inputs**-0.5
        self.weight = nn.Parameter((2 * torch.rand(outputs, inputs, generator=rng) - 1) * limit)
        self.bias = nn.Parameter((2 * torch.rand(outputs, generator=rng) - 1) * limit)

    def forward(self, h: Tensor) -> Tensor:
        """(nodes, outputs)."""
        return functional.linear(h, self.weight, self.bias)


class Head(nn.Module):
    """Linear layers with ELU between them; none at all hands its input on.

    >>> Head(8, layers=2, width=4, rng=torch.Generator().manual_seed(0))(torch.ones(3, 8)).shape
    torch.Size([3, 4])
    """

    def __init__(self, inputs: int, *, layers: int, width: int, rng: Generator) -> None:
        super().__init__()
        self.layers = nn.ModuleList(Linear(inputs if i == 0 else width, width, rng=rng) for i in range(layers))

    def forward(self, h: Tensor) -> Tensor:
        """(nodes, width), or the input where there is no layer."""
        for i, layer in enumerate(self.layers):
            h = layer(functional.elu_(h) if i else h)
        return h
