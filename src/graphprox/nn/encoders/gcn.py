"""GCN: neighbors and the node itself, normalized by the degrees of both ends of an edge."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from graphprox.nn.convolution import Convolution, Edges, invert_positive
from graphprox.nn.encoders.base import ConvolutionEncoder, EncoderOptions, register_encoder
from graphprox.nn.part import WHOLE, Part


class GCNConv(Convolution):
    """Graph convolution of Kipf and Welling (ICLR 2017), equal to PyG's ``GCNConv``."""

    @staticmethod
    def propagation_matrix(neighbors: sp.csr_array, part: Part = WHOLE) -> sp.csr_array:
        """Return D^(-1/2) (A + I) D^(-1/2), where D holds the row sums of A + I.

        Self-loops that are already in A keep their weight; the others have weight 1.
        """
        rows = np.repeat(np.arange(neighbors.shape[0], dtype=neighbors.indices.dtype), np.diff(neighbors.indptr))
        missing = np.ones(neighbors.shape[0], np.float32)
        # An explicit self-loop of weight 0 is a self-loop, as in PyG.
        missing[rows[rows + part.first == neighbors.indices]] = 0
        del rows
        looped = sp.csr_array(neighbors + sp.diags_array(missing, offsets=part.first, shape=neighbors.shape))
        scale = invert_positive(np.sqrt(looped.sum(axis=1)))
        completed = part.complete(torch.from_numpy(scale)[:, None]).numpy()[:, 0]
        # In place: products with diagonal matrices would copy the edges of a large graph twice.
        looped.data *= np.repeat(scale, np.diff(looped.indptr))
        looped.data *= completed[looped.indices]
        return looped

    def propagate(self, projected: Tensor, edges: Edges) -> Tensor:
        """Return the weighted sum over in-neighbors plus a bias, of shape (num_nodes, out_channels)."""
        return edges.matmul(projected).add_(self.bias)


class GCNOptions(EncoderOptions):
    """Options of the GCN encoder.

    Examples
    --------
    >>> GCNOptions(n_components=64).num_layers
    2
    """

    name: Literal["gcn"] = "gcn"


@register_encoder("gcn")
class GCNEncoder(ConvolutionEncoder):
    """Stack of :class:`GCNConv` layers."""

    Options = GCNOptions
    convolution: ClassVar[type[Convolution]] = GCNConv
    completes_rows = True
