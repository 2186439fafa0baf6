"""Diffusion: an MLP whose output is spread over many hops by personalized PageRank or the heat kernel."""

from __future__ import annotations

from typing import ClassVar, Literal, cast

import scipy.sparse as sp
import torch
from torch import Generator, Tensor

from graphprox._utils.options_model import PositiveFloat, PositiveInt, Probability
from graphprox.nn.convolution import Convolution, Edges
from graphprox.nn.encoders.base import ConvolutionEncoder, EncoderOptions, register_encoder
from graphprox.nn.encoders.gcn import GCNConv
from graphprox.nn.encoders.mlp import LinearConv, encode_rows
from graphprox.nn.features import FeatureMatrix
from graphprox.nn.part import WHOLE, Part
from graphprox.nn.propagated_features import PropagatedFeatures, estimate_costs, propagate_features
from graphprox.nn.propagation import diffuse, heat_coefficients, pagerank_coefficients


class DiffusionOptions(EncoderOptions):
    """Options of the diffusion encoder.

    Parameters
    ----------
    kernel : {"pagerank", "heat"}, default="pagerank"
        Weights of the hops: those of personalized PageRank, or of the heat kernel.
    alpha : float, default=0.15
        Teleport probability of PageRank: the weight of a node's own row.
    time : float, default=3.0
        Diffusion time of the heat kernel, its mean number of hops.
    hops : int, default=10
        Largest number of hops.

    Examples
    --------
    >>> DiffusionOptions(alpha=0.3, hops=5).kernel
    'pagerank'
    """

    name: Literal["diffusion"] = "diffusion"
    kernel: Literal["pagerank", "heat"] = "pagerank"
    alpha: Probability = 0.15
    time: PositiveFloat = 3.0
    hops: PositiveInt = 10

    def coefficients(self) -> tuple[float, ...]:
        """Return the coefficient of each number of hops, from 0 on."""
        if self.kernel == "heat":
            return heat_coefficients(self.time, self.hops)
        return pagerank_coefficients(self.alpha, self.hops)


@register_encoder("diffusion")
class DiffusionEncoder(ConvolutionEncoder):
    """Linear layers, followed by one diffusion, as in APPNP of Gasteiger et al. (ICLR 2019).

    Edges are normalized as in GCN. With one layer and ``activation="none"`` the encoder is linear, and features may be
    diffused once instead of their projection in every epoch, if that is cheaper.

    Examples
    --------
    >>> import numpy as np
    >>> from graphprox.nn.features import FeatureMatrix
    >>> options = DiffusionOptions(n_components=8, num_layers=1, activation="none")
    >>> encoder = DiffusionEncoder(4, options, generator=torch.Generator().manual_seed(0))
    >>> edges = encoder.prepare_edges(np.array([[0, 1], [1, 2]]), None, num_nodes=3)
    >>> encoder(encoder.project(FeatureMatrix.of(np.ones((3, 4), np.float32))), edges).shape
    torch.Size([3, 8])
    """

    Options = DiffusionOptions
    convolution: ClassVar[type[Convolution]] = LinearConv
    completes_rows = True

    def __init__(
        self, in_channels: int, options: DiffusionOptions, *, weighted: bool = False, generator: Generator
    ) -> None:
        super().__init__(in_channels, options, weighted=weighted, generator=generator)
        self.coefficients = options.coefficients()

    def prepare_neighbors(
        self, neighbors: sp.csr_array, device: torch.device | str = "cpu", part: Part = WHOLE
    ) -> Edges:
        """Prepare edges as GCN normalizes them; see :meth:`Encoder.prepare_neighbors`."""
        return GCNConv.prepare_edges(neighbors, device, part)

    def propagation_matrix(self, neighbors: sp.csr_array) -> sp.csr_array:
        """Return the matrix of GCN; see :meth:`Encoder.propagation_matrix`."""
        return GCNConv.propagation_matrix(neighbors)

    def forward(self, projected: Tensor, edges: Edges) -> Tensor:
        """Return the diffused output of the layers, of shape (num_nodes, n_components); see :meth:`Encoder.forward`."""
        return diffuse(edges, super().forward(projected, edges), self.coefficients)

    def propagate_features(
        self, features: FeatureMatrix, edges: Edges, *, uses: float, sharing: int = 1
    ) -> PropagatedFeatures | None:
        """Diffuse the features, if the encoder is linear and it is cheaper; see :meth:`Encoder.propagate_features`."""
        if self.options.num_layers > 1 or self.options.activation != "none":
            return None
        hops, channels = len(self.coefficients) - 1, self.n_components
        costs = estimate_costs(features, edges, hops=hops, channels=channels, uses=uses, sharing=sharing)
        return propagate_features(features, edges, self.coefficients) if costs.propagated < costs.projected else None

    @classmethod
    def feature_diffusion(cls, options: EncoderOptions) -> tuple[float, ...] | None:
        """Return that of the encoder, if its layers are linear; see :meth:`Encoder.feature_diffusion`."""
        is_linear = options.activation == "none" and (options.num_layers == 1 or options.jumping != "max")
        return cast("DiffusionOptions", options).coefficients() if is_linear else None

    def encode_propagated(self, propagated: PropagatedFeatures, kept: Tensor | None = None) -> Tensor:
        """Return the embedding from diffused features; see :meth:`Encoder.encode_propagated`."""
        projected = self.project(propagated.features, kept)
        # Biases are diffused too, as they are added before.
        if self.options.num_layers == 1:
            return torch.addcmul(projected, propagated.ones, self._first.bias)
        constant = encode_rows(self, projected.new_zeros(1, projected.shape[1]))
        return torch.addcmul(encode_rows(self, projected), propagated.ones - 1, constant)
