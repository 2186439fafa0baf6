"""GraphSAGE: the mean of the neighbors and the node itself, each with its own weights."""

from __future__ import annotations

from typing import ClassVar, Literal

import scipy.sparse as sp
from torch import Tensor

from graphprox.nn.convolution import Convolution, Edges, invert_positive
from graphprox.nn.encoders.base import ConvolutionEncoder, EncoderOptions, register_encoder
from graphprox.nn.part import WHOLE, Part


class SAGEConv(Convolution):
    """GraphSAGE convolution of Hamilton et al. (NeurIPS 2017) with mean aggregation, equal to PyG's ``SAGEConv``."""

    @staticmethod
    def projected_channels(out_channels: int) -> int:
        """Return twice the output channels: one half is for the neighbors, the other for the node itself."""
        return 2 * out_channels

    @staticmethod
    def propagation_matrix(neighbors: sp.csr_array, part: Part = WHOLE) -> sp.csr_array:  # noqa: ARG004
        """Return the matrix with each row scaled to sum 1; rows without entries stay empty."""
        return sp.csr_array(sp.diags_array(invert_positive(neighbors.sum(axis=1))) @ neighbors)

    def propagate(self, projected: Tensor, edges: Edges) -> Tensor:
        """Return the mean of one half plus the other half and a bias, of shape (num_nodes, out_channels)."""
        neighbors, itself = projected.chunk(2, dim=1)
        return edges.matmul(neighbors).add_(itself).add_(self.bias)


class SAGEOptions(EncoderOptions):
    """Options of the GraphSAGE encoder.

    Examples
    --------
    >>> SAGEOptions(num_layers=1).jumping
    'last'
    """

    name: Literal["sage"] = "sage"


@register_encoder("sage")
class SAGEEncoder(ConvolutionEncoder):
    """Stack of :class:`SAGEConv` layers."""

    Options = SAGEOptions
    convolution: ClassVar[type[Convolution]] = SAGEConv
    completes_rows = True
