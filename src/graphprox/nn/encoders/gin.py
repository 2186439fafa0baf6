"""GIN: the sum of the neighbors and the node itself, followed by an MLP of two layers."""

from __future__ import annotations

from typing import ClassVar, Literal

import torch
from torch import Generator, Tensor, nn

from graphprox.nn.convolution import Convolution, Edges, glorot
from graphprox.nn.encoders.base import ConvolutionEncoder, EncoderOptions, register_encoder


class GINConv(Convolution):
    """Graph isomorphism convolution of Xu et al. (ICLR 2019), equal to PyG's ``GINConv`` of a two-layer MLP.

    Parameters
    ----------
    in_channels : int
    out_channels : int
        Number of hidden and of output channels of the MLP.
    generator : torch.Generator
        Source of the initial weights.
    """

    def __init__(self, in_channels: int, out_channels: int, *, generator: Generator) -> None:
        super().__init__(in_channels, out_channels, generator=generator)
        self.second = glorot(out_channels, out_channels, generator=generator)
        self.second_bias = nn.Parameter(torch.zeros(out_channels))

    def propagate(self, projected: Tensor, edges: Edges) -> Tensor:
        """Return the MLP of the sum, of shape (num_nodes, out_channels)."""
        # The first linear layer of the MLP is the projection: it commutes with the sum.
        neighbors = edges.matmul(projected)
        total = neighbors.add_(projected).add_(self.bias)
        return torch.addmm(self.second_bias, torch.relu_(total), self.second)


class GINOptions(EncoderOptions):
    """Options of the GIN encoder.

    Examples
    --------
    >>> GINOptions(activation="relu").residual
    False
    """

    name: Literal["gin"] = "gin"


@register_encoder("gin")
class GINEncoder(ConvolutionEncoder):
    """Stack of :class:`GINConv` layers."""

    Options = GINOptions
    convolution: ClassVar[type[Convolution]] = GINConv
    completes_rows = True
