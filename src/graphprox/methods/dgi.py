"""DGI: Deep Graph Infomax, mutual information between nodes and a summary of the graph."""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor, nn

from graphprox._utils.arrays import FloatArray
from graphprox._utils.progress import Progress
from graphprox.forecast import Costs
from graphprox.forecast.largest_arrays import count_layers
from graphprox.forecast.work import Size
from graphprox.graph.graph import Graph
from graphprox.methods import MethodInfo, parameter, register_method
from graphprox.methods._encoder_embedder import EncoderEmbedder
from graphprox.methods._neural import GraphTensors, fork_rng, minimize
from graphprox.nn.activation import PReLU
from graphprox.nn.convolution import Edges
from graphprox.nn.encoders.gcn import GCNConv
from graphprox.nn.features import FeatureMatrix


@register_method("dgi")
class DGI(EncoderEmbedder):
    """One GCN layer, trained to discriminate nodes of the graph from those of the graph with shuffled features.

    Parameters
    ----------
    n_components : int, default=512
        Size of the embedding.
    epochs : int, default=10000
        Largest number of epochs.
    patience : int, default=20
        Number of epochs without a new lowest loss after which training stops.
    learning_rate : float, default=1e-3
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
    encoder_ : nn.Module
        The trained encoder.

    References
    ----------
    Veličković et al., Deep Graph Infomax, ICLR 2019.

    Examples
    --------
    >>> from graphprox import synthetic
    >>> embedder = DGI(n_components=8, epochs=2).fit(synthetic(nodes=140))
    >>> embedder.transform(synthetic(nodes=210)).shape
    (210, 8)
    """

    info = MethodInfo(
        title="DGI",
        group="contrast",
        uses="AX",
        summary="discriminates nodes from nodes with shuffled features, by a summary of the graph",
        paper="Veličković et al., Deep Graph Infomax, ICLR 2019",
    )

    n_components: int = parameter(512, min=1)
    epochs: int = parameter(10_000, min=0)
    patience: int = parameter(20, min=1)
    learning_rate: float = parameter(1e-3, above=0)

    def _memory_costs(self, graph: Graph) -> Costs:
        size, n = Size.of(graph), self.n_components
        return count_layers(size, [n], passes=2, rows=size.nodes * n, weights=n**2)

    def _fit(self, graph: Graph, seed: int, progress: Progress | None) -> FloatArray:
        from torch_geometric.nn import DeepGraphInfomax

        with fork_rng(seed) as generator:
            tensors = self._to_tensors(graph, self.settings())
            encoder = DGIEncoder(tensors.features.shape[1], self.n_components, generator)
            model = DeepGraphInfomax(self.n_components, encoder, _summarize, _shuffle)
            _initialize(model.weight)
            minimize(
                model,
                lambda: model.loss(*model(encoder.project(tensors.features), tensors.edges)),
                epochs=self.epochs,
                patience=self.patience,
                learning_rate=self.learning_rate,
                progress=progress,
            )
        return self._keep_encoder(encoder, tensors)

    def _compute_vectors(self, tensors: GraphTensors) -> Tensor:
        encoder = cast("DGIEncoder", self.encoder_)
        vectors: Tensor = encoder(encoder.project(tensors.features), tensors.edges)
        return vectors


class DGIEncoder(nn.Module):
    """One GCN layer in two halves.

    Shuffling projected rows equals projecting shuffled rows, so both graphs share the projection, which takes most of
    the time.

    Parameters
    ----------
    num_features : int
    n_components : int
    generator : torch.Generator
        Source of the initial weights.
    """

    def __init__(self, num_features: int, n_components: int, generator: torch.Generator) -> None:
        super().__init__()
        self.convolution = GCNConv(num_features, n_components, generator=generator)
        self.activation = PReLU(n_components)

    def project(self, features: FeatureMatrix) -> Tensor:
        """Return the features times the weight, (num_nodes, n_components)."""
        return self.convolution.project(features.matmul)

    def forward(self, projected: Tensor, edges: Edges) -> Tensor:
        """Return the output of the layer from projected features, (num_nodes, n_components)."""
        h: Tensor = self.activation(self.convolution.propagate(projected, edges))
        return h


def _initialize(weight: Tensor) -> None:
    """Initialize the bilinear form that scores nodes, as the authors do.

    They apply Glorot's rule to torch's ``Bilinear`` with one output, a tensor of shape (1, channels, channels), whose
    number of inputs is the square of channels (layers/discriminator.py of github.com/PetarV-/DGI). Its entries are
    about a tenth of those of PyG. With those, the vectors of all nodes get a common direction: on CiteSeer the inner
    products of validation pairs have an AUC of 82 %, and of 98 % with these.
    """
    with torch.no_grad():
        nn.init.xavier_uniform_(weight[None])


def _summarize(positive: Tensor, *_: object) -> Tensor:
    return torch.sigmoid(positive.mean(0))


def _shuffle(projected: Tensor, edges: Edges) -> tuple[Tensor, Edges]:
    return projected[torch.randperm(len(projected))], edges
