"""MLP: linear layers that ignore the edges, as a baseline for encoders that use them."""

from __future__ import annotations

from typing import ClassVar, Literal, cast

from torch import Tensor

from graphprox.nn.convolution import Convolution, Edges
from graphprox.nn.encoders.base import ConvolutionEncoder, EncoderOptions, register_encoder
from graphprox.nn.propagated_features import PropagatedFeatures


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

    @classmethod
    def feature_diffusion(cls, options: EncoderOptions) -> tuple[float, ...]:  # noqa: ARG003
        """Return that of no hops; see :meth:`Encoder.feature_diffusion`."""
        return (1.0,)

    def encode_propagated(self, propagated: PropagatedFeatures, kept: Tensor | None = None) -> Tensor:
        """Return the embedding of rows of the features; see :meth:`Encoder.encode_propagated`."""
        return encode_rows(self, self.project(propagated.features, kept))


def encode_rows(encoder: ConvolutionEncoder, projected: Tensor) -> Tensor:
    """Return the output of linear layers for any rows.

    Parameters
    ----------
    encoder : ConvolutionEncoder
        A stack of :class:`LinearConv`.
    projected : Tensor of shape (num_rows, projected_channels)
        Projection of the features of these rows.

    Returns
    -------
    Tensor of shape (num_rows, n_components)
    """
    no_edges = cast("Edges", None)  # which linear layers ignore
    return ConvolutionEncoder.forward(encoder, projected, no_edges)
