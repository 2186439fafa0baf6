"""GAT: the mean of the neighbors and the node itself, weighted by attention."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from pydantic import model_validator
from torch import Generator, Tensor, nn
from torch.nn import functional

from graphprox._utils.options_model import PositiveInt
from graphprox.errors import ParameterError
from graphprox.nn.convolution import Convolution, Edges, glorot
from graphprox.nn.encoders.base import ConvolutionEncoder, EncoderOptions, register_encoder
from graphprox.nn.part import WHOLE, Part
from graphprox.nn.sparse import SparsePattern, attend, row_indices

NEGATIVE_SLOPE = 0.2  # of the leaky ReLU of attention logits


class GATConv(Convolution):
    """Graph attention convolution of Veličković et al. (ICLR 2018), equal to PyG's ``GATConv``.

    Parameters
    ----------
    in_channels : int
    out_channels : int
        Number of output channels of all heads together.
    generator : torch.Generator
        Source of the initial weights.
    heads : int, default=1
        Number of attention heads; must divide ``out_channels``.
    weighted : bool, default=False
        Whether attention has a learned term for the edge weights.
    dropout : float, default=0.0
        Share of the attention coefficients that are dropped in training.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        *,
        generator: Generator,
        heads: int = 1,
        weighted: bool = False,
        dropout: float = 0.0,
    ) -> None:
        super().__init__(in_channels, out_channels, generator=generator)
        self.heads, self.dropout = heads, dropout
        head_channels = out_channels // heads
        self.source = glorot(heads, head_channels, generator=generator)
        self.target = glorot(heads, head_channels, generator=generator)
        self.edge = nn.Parameter(torch.zeros(heads)) if weighted else None

    @staticmethod
    def propagation_matrix(neighbors: sp.csr_array, part: Part = WHOLE) -> sp.csr_array:
        """Return the matrix with one self-loop per node, weighted by the mean of the other edges to the node."""
        rows, num_nodes = row_indices(neighbors), neighbors.shape[0]
        is_kept: NDArray[Any] = rows + part.first != neighbors.indices
        sums = np.bincount(rows[is_kept], weights=neighbors.data[is_kept], minlength=num_nodes)
        counts = np.bincount(rows[is_kept], minlength=num_nodes)
        return _replace_diagonal(neighbors, is_kept, sums / np.maximum(counts, 1), first=part.first)

    def propagate(self, projected: Tensor, edges: Edges) -> Tensor:
        """Return the mean weighted by attention plus a bias, of shape (num_nodes, out_channels)."""
        bias = None if self.edge is None else edges.values[:, None] * self.edge
        scorer, factors = attention_scorer(self.source, self.target), self.factors(edges.pattern)
        mean = attend(
            edges.pattern,
            projected,
            scorer,
            bias,
            heads=self.heads,
            slope=NEGATIVE_SLOPE,
            factors=factors,
            part=edges.part,
        )
        return mean.add_(self.bias)

    def factors(self, pattern: SparsePattern) -> Tensor | None:
        """Return the dropout factors of one pass, of shape (num_entries, heads), or None without dropout."""
        return attention_factors(pattern, self.heads, self.dropout) if self.dropout and self.training else None


class GATOptions(EncoderOptions):
    """Options of the GAT encoder: those of all encoders, and the number of attention heads.

    Parameters
    ----------
    heads : int, default=1
        Number of attention heads; must divide ``n_components`` and ``hidden_channels``.

    Examples
    --------
    >>> GATOptions(n_components=64, heads=4).heads
    4
    >>> GATOptions(n_components=64, heads=3)
    Traceback (most recent call last):
    graphprox.errors.ParameterError: encoder.heads must divide encoder.n_components; got 3 heads for 64 channels
    """

    name: Literal["gat"] = "gat"
    heads: PositiveInt = 1

    @model_validator(mode="after")
    def _check_heads(self) -> GATOptions:
        for field in ("n_components", "hidden_channels"):
            channels = getattr(self, field) or self.n_components
            if channels % self.heads:
                raise ParameterError(
                    f"encoder.heads must divide encoder.{field}; got {self.heads} heads for {channels} channels"
                )
        return self


@register_encoder("gat")
class GATEncoder(ConvolutionEncoder):
    """Stack of :class:`GATConv` layers."""

    Options = GATOptions
    convolution: ClassVar[type[Convolution]] = GATConv
    completes_rows = True
    options: GATOptions

    def make_convolution(
        self, in_channels: int, out_channels: int, *, weighted: bool, generator: Generator
    ) -> Convolution:
        """Create one attention layer."""
        return GATConv(in_channels, out_channels, generator=generator, heads=self.options.heads, weighted=weighted)


def attention_scorer(source: Tensor, target: Tensor) -> Tensor:
    """Return one matrix whose product with projected features gives the attention scores of all heads.

    Parameters
    ----------
    source, target : Tensor of shape (heads, head_channels)
        Attention vectors of a node as the source and as the target of an edge.

    Returns
    -------
    Tensor of shape (heads * head_channels, 2 * heads)
        Block-diagonal in each half.
    """
    if len(source) == 1:
        return torch.cat([source, target]).T
    parts = (source[:, :, None], target[:, :, None])
    return torch.cat([torch.block_diag(*part) for part in parts], 1)  # type: ignore[no-untyped-call]


def attention_factors(pattern: SparsePattern, heads: int, dropout: float) -> Tensor:
    """Sample the factors by which dropout multiplies attention coefficients.

    Parameters
    ----------
    pattern : SparsePattern
    heads : int
    dropout : float
        Probability of a factor of 0; the others are 1 / (1 - dropout).

    Returns
    -------
    Tensor of shape (num_entries, heads)
    """
    return functional.dropout(torch.ones(pattern.num_entries, heads), dropout)


def _replace_diagonal(
    matrix: sp.csr_array, is_kept: NDArray[Any], diagonal: NDArray[Any], *, first: int
) -> sp.csr_array:
    """Return the kept entries and a diagonal, whose zeros are stored too because attention is over entries."""
    nodes = np.arange(matrix.shape[0])
    rows = np.concatenate([row_indices(matrix)[is_kept], nodes])
    columns = np.concatenate([matrix.indices[is_kept], nodes + first])
    values = np.concatenate([matrix.data[is_kept], diagonal]).astype(np.float32)
    result = sp.csr_array((values, (rows, columns)), shape=matrix.shape)
    result.sort_indices()
    return result
