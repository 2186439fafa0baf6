"""VGAE: the variational graph autoencoder, whose nodes are normal distributions."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from graphprox.forecast import Costs
from graphprox.forecast.largest_arrays import count_layers
from graphprox.forecast.work import Size
from graphprox.graph.graph import Graph
from graphprox.methods import MethodInfo, register_method
from graphprox.methods._edge_reconstruction import PairDecoder, count_pairs
from graphprox.methods._neural import GCNLayers, GraphTensors
from graphprox.methods.gae import GAE
from graphprox.nn.convolution import Edges
from graphprox.nn.encoders.gcn import GCNConv
from graphprox.nn.features import FeatureMatrix


@register_method("vgae")
class VGAE(GAE):
    """GAE with a normal distribution for each node, regularized towards the standard one; the means are the vectors.

    Parameters
    ----------
    n_components : int, default=64
        Size of the embedding.
    hidden_channels : int, default=256
        Size of the hidden layer.
    epochs : int, default=200
        Number of epochs.
    learning_rate : float, default=1e-2
    normalize : {"rows", "none"}, default="rows"
        Whether rows of the features are scaled to an absolute sum of 1.
    preset : str, default="auto"
        Settings selected for a data set; see :class:`~graphprox.methods.base.GraphMethod`.
    scale : {"auto", "standard", "none"}, default="auto"
        Whether columns of features are standardized: those of a table, whose units differ; all of them; or none.
    random_state : int, RandomState, Generator or None, default=0
        Random seed.
    verbose : bool, default=False
        Whether to print progress on stderr.

    Attributes
    ----------
    embedding_ : Embedding
    vectors_ : ndarray of shape (num_nodes, n_components)
    encoder_ : VariationalEncoder
        The trained encoder.

    References
    ----------
    Kipf and Welling, Variational Graph Auto-Encoders, NeurIPS workshop 2016.

    Examples
    --------
    >>> from graphprox import synthetic
    >>> VGAE(n_components=8, epochs=2).fit_transform(synthetic(nodes=140)).shape
    (140, 8)
    """

    info = MethodInfo(
        title="VGAE",
        group="autoencoders",
        uses="AX",
        summary="a variational graph autoencoder: nodes are normal distributions, whose means are the vectors",
        paper="Kipf and Welling, Variational Graph Auto-Encoders, NeurIPS workshop 2016",
    )

    def _memory_costs(self, graph: Graph) -> Costs:
        return count_layers(Size.of(graph), [self.hidden_channels, 2 * self.n_components], others=count_pairs(graph))

    def _make_model(self, num_features: int, generator: torch.Generator) -> Any:
        from torch_geometric import nn as pyg

        encoder = VariationalEncoder(num_features, self.hidden_channels, self.n_components, generator)
        return pyg.VGAE(encoder, PairDecoder())

    def _compute_loss(self, model: Any, z: Tensor, positives: Tensor, negatives: Tensor) -> Tensor:
        divergence: Tensor = model.kl_loss()
        return super()._compute_loss(model, z, positives, negatives) + divergence / len(z)

    def _compute_vectors(self, tensors: GraphTensors) -> Tensor:
        mean: Tensor = self.encoder_(tensors.features, tensors.edges)[0]
        return mean


class VariationalEncoder(nn.Module):
    """Two GCN layers, the second one twice: for means, and for logarithms of standard deviations.

    Parameters
    ----------
    num_features : int
    hidden_channels : int
    n_components : int
    generator : torch.Generator
        Source of the initial weights.
    """

    def __init__(self, num_features: int, hidden_channels: int, n_components: int, generator: torch.Generator) -> None:
        super().__init__()
        self.hidden = GCNLayers([num_features, hidden_channels], generator=generator, final_activation=True)
        self.mean = GCNConv(hidden_channels, n_components, generator=generator)
        self.log_std = GCNConv(hidden_channels, n_components, generator=generator)

    def forward(self, features: FeatureMatrix, edges: Edges) -> tuple[Tensor, Tensor]:
        """Return means and logarithms of standard deviations.

        Parameters
        ----------
        features : FeatureMatrix
        edges : Edges

        Returns
        -------
        mean, log_std : Tensor of shape (num_nodes, n_components)
        """
        h = self.hidden(features, edges)
        mean, log_std = (each.propagate(each.project(h.mm), edges) for each in (self.mean, self.log_std))
        return mean, log_std
