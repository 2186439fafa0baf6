"""Projection head between the encoder and the objective; it is discarded after training."""

from __future__ import annotations

import torch
from torch import Generator, Tensor, nn
from torch.nn import functional


class Linear(nn.Module):
    """Linear layer initialized like ``torch.nn.Linear``, but from a given generator.

    Parameters
    ----------
    in_channels : int
    out_channels : int
    generator : torch.Generator
        Source of the initial weights.
    """

    def __init__(self, in_channels: int, out_channels: int, *, generator: Generator) -> None:
        super().__init__()
        limit = in_channels**-0.5
        self.weight = nn.Parameter((2 * torch.rand(out_channels, in_channels, generator=generator) - 1) * limit)
        self.bias = nn.Parameter((2 * torch.rand(out_channels, generator=generator) - 1) * limit)

    def forward(self, h: Tensor) -> Tensor:
        """Map ``h`` of shape (num_nodes, in_channels) to (num_nodes, out_channels)."""
        return functional.linear(h, self.weight, self.bias)


class ProjectionHead(nn.Module):
    """Linear layers with ELU in between.

    Parameters
    ----------
    in_channels : int
        Number of channels of the embedding.
    num_layers : int
        Number of layers; with 0 the head returns its input.
    out_channels : int
        Number of channels of each layer.
    generator : torch.Generator
        Source of the initial weights.

    Examples
    --------
    >>> head = ProjectionHead(8, num_layers=2, out_channels=4, generator=torch.Generator().manual_seed(0))
    >>> head(torch.ones(3, 8)).shape
    torch.Size([3, 4])
    """

    def __init__(self, in_channels: int, *, num_layers: int, out_channels: int, generator: Generator) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            Linear(out_channels if layer else in_channels, out_channels, generator=generator)
            for layer in range(num_layers)
        )

    def forward(self, h: Tensor) -> Tensor:
        """Map ``h`` of shape (num_nodes, in_channels) to (num_nodes, out_channels)."""
        for i, layer in enumerate(self.layers):
            h = layer(functional.elu_(h) if i else h)
        return h
