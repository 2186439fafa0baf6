"""CCA-SSG: align two augmented copies of a graph, and decorrelate the channels of each."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from graphprox._utils.arrays import FloatArray
from graphprox._utils.progress import Progress
from graphprox.forecast import Costs
from graphprox.forecast.largest_arrays import count_layers
from graphprox.forecast.work import FLOAT, Size
from graphprox.graph.graph import Graph
from graphprox.methods import MethodInfo, parameter, register_method
from graphprox.methods._augmentation import Augmenter, DebiasedBatchNorm, standardize
from graphprox.methods._encoder_embedder import EncoderEmbedder
from graphprox.methods._neural import GCNLayers, fork_rng, minimize
from graphprox.nn.convolution import Edges
from graphprox.nn.encoders.mlp import LinearConv
from graphprox.nn.features import FeatureMatrix
from graphprox.nn.head import Linear


@register_method("cca-ssg")
class CCASSG(EncoderEmbedder):
    """CCA-SSG: aligns two augmented copies of the graph and decorrelates the channels of each.

    Parameters
    ----------
    n_components : int, default=512
        Size of the embedding, and of hidden layers.
    num_layers : int, default=2
        Number of layers of the encoder.
    encoder : {"gcn", "mlp"}, default="gcn"
        Kind of the layers; ``"mlp"`` ignores edges.
    epochs : int, default=50
        Number of epochs; each is one full-batch step.
    learning_rate : float, default=1e-3
    decorrelation_weight : float, default=1e-3
        Weight of the decorrelation term of the loss, lambda in the paper.
    drop_edge_rate : float, default=0.4
        Probability that an edge is dropped from a copy.
    drop_feature_rate : float, default=0.1
        Probability that a feature is dropped from a copy.
    preset : str, default="auto"
        Settings for a data set, such as ``"Cora"``, or ``"default"``; ``"auto"`` uses those of the `Dataset` that is
        passed to ``fit``.
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
    encoder_ : Module
        The trained encoder.

    References
    ----------
    Zhang et al., From Canonical Correlation Analysis to Self-supervised GNNs, NeurIPS 2021.

    Examples
    --------
    >>> from graphprox import synthetic
    >>> embedder = CCASSG(n_components=8, epochs=2).fit(synthetic(nodes=140))
    >>> embedder.vectors_.shape, embedder.transform(synthetic(nodes=210)).shape
    ((140, 8), (210, 8))
    """

    info = MethodInfo(
        title="CCA-SSG",
        group="contrast",
        uses="AX",
        summary="aligns two augmented copies of the graph and decorrelates the channels of each",
        paper="Zhang et al., From Canonical Correlation Analysis to Self-supervised GNNs, NeurIPS 2021",
    )
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "CiteSeer": {"num_layers": 1, "epochs": 20, "decorrelation_weight": 5e-4, "drop_feature_rate": 0.0},
        "PubMed": {"epochs": 100, "drop_feature_rate": 0.3, "drop_edge_rate": 0.5},
        "CoauthorCS": {"encoder": "mlp", "drop_feature_rate": 0.2},
    }

    n_components: int = parameter(512, min=1)
    num_layers: int = parameter(2, min=1)
    encoder: str = parameter("gcn", choices=("gcn", "mlp"))
    epochs: int = parameter(50, min=0)
    learning_rate: float = parameter(1e-3, above=0)
    decorrelation_weight: float = parameter(1e-3, min=0)
    drop_edge_rate: float = parameter(0.4, min=0, max=1)
    drop_feature_rate: float = parameter(0.1, min=0, max=1)

    def _memory_costs(self, graph: Graph) -> Costs:
        channels = [self.n_components] * self.num_layers
        return count_layers(Size.of(graph), channels, passes=2, others=2 * FLOAT * self.n_components**2)

    def _fit(self, graph: Graph, seed: int, progress: Progress | None) -> FloatArray:
        with fork_rng(seed) as generator:
            tensors = self._to_tensors(graph, self.settings())
            layers = GCNLayers if self.encoder == "gcn" else MLPLayers
            encoder = layers([tensors.features.shape[1], *[self.n_components] * self.num_layers], generator=generator)
            augmenter = Augmenter(graph, tensors, seed)
            drop_edge_rate = self.drop_edge_rate if self.encoder == "gcn" else 0  # an MLP ignores edges

            def loss() -> Tensor:
                a, b = (
                    augmenter.sample(drop_edge_rate=drop_edge_rate, drop_feature_rate=self.drop_feature_rate)
                    for _ in range(2)
                )
                return cca_loss(encoder(tensors.features, *a), encoder(tensors.features, *b), self.decorrelation_weight)

            minimize(encoder, loss, epochs=self.epochs, learning_rate=self.learning_rate, progress=progress)
        return self._keep_encoder(encoder, tensors)


def cca_loss(a: Tensor, b: Tensor, decorrelation_weight: float) -> Tensor:
    """Return the distance of two embeddings plus the weighted correlation of the channels of each.

    Parameters
    ----------
    a, b : Tensor of shape (num_nodes, channels)
    decorrelation_weight : float

    Returns
    -------
    Tensor of shape ()
    """
    a, b = (standardize(h) / len(h) ** 0.5 for h in (a, b))
    decorrelation = sum((_decorrelation_loss(h) for h in (a, b)), a.new_zeros(()))
    return (a - b).square().sum() + decorrelation_weight * decorrelation


def _decorrelation_loss(h: Tensor) -> Tensor:
    identity = torch.eye(h.shape[1])
    return (h.T @ h - identity).square().sum()


class MLPLayers(nn.Module):
    """Dense layers with batch normalization and ReLU between them, which ignore edges.

    Parameters
    ----------
    channels : list of int
        Number of features, then the size of each layer.
    generator : torch.Generator
        Source of the initial weights.
    """

    def __init__(self, channels: list[int], *, generator: torch.Generator) -> None:
        super().__init__()
        first, *rest = pairwise(channels)
        self.first = LinearConv(*first, generator=generator)
        self.rest = nn.Sequential(
            *(nn.Sequential(DebiasedBatchNorm(ends[0]), nn.ReLU(), Linear(*ends, generator=generator)) for ends in rest)
        )

    def forward(self, features: FeatureMatrix, edges: Edges, feature_mask: Tensor | None = None) -> Tensor:
        """Return the output of the last layer, (num_nodes, channels)."""
        matmul = (
            features.matmul if feature_mask is None else lambda weight: features.matmul(weight * feature_mask[:, None])
        )
        h: Tensor = self.rest(self.first.propagate(self.first.project(matmul), edges))
        return h
