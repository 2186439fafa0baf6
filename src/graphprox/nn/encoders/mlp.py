"""MLP: linear layers that ignore the edges, as a baseline for encoders that use them."""

from __future__ import annotations

from typing import ClassVar, Literal

from torch import Tensor

from graphprox.nn.convolution import Convolution, Edges
from graphprox.nn.encoders.base import ConvolutionEncoder, EncoderOptions, register_encoder


class LinearConv(Convolution):
    """Linear layer with the interface of a convolution; edges are ignored."""

    def propagate(self, projected: Tensor, edges: Edges) -> Tensor:  # noqa: ARG002
        """Return the projection plus a bias, of shape (num_nodes, out_channels)."""
        return projected + self.bias


class MLPOptions(EncoderOptions):
    """Options of the MLP encoder.

    Examples
    --------
    >>> MLPOptions(n_components=32).hidden_channels is None
    True
    """

    name: Literal["mlp"] = "mlp"


@register_encoder("mlp")
class MLPEncoder(ConvolutionEncoder):
    """Stack of :class:`LinearConv` layers."""

    Options = MLPOptions
    convolution: ClassVar[type[Convolution]] = LinearConv
    completes_rows = True  # it needs no others
