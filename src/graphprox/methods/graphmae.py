"""GraphMAE: mask the features of some nodes, and reconstruct them from an encoder's output."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import torch
from torch import Generator, Tensor, nn
from torch.nn import functional

from graphprox._utils.arrays import FloatArray
from graphprox._utils.progress import Progress
from graphprox.errors import ParameterError
from graphprox.forecast import Costs
from graphprox.forecast.largest_arrays import count_layers
from graphprox.forecast.work import FLOAT, Size
from graphprox.graph.graph import Graph
from graphprox.methods import MethodInfo, parameter, register_method
from graphprox.methods._augmentation import cosine_schedule
from graphprox.methods._encoder_embedder import EncoderEmbedder
from graphprox.methods._neural import GraphTensors, fork_rng, minimize
from graphprox.nn.convolution import Edges, in_neighbor_matrix
from graphprox.nn.encoders.gat import NEGATIVE_SLOPE, GATConv, attention_scorer
from graphprox.nn.features import FeatureMatrix
from graphprox.nn.sparse import attend, spmm

MIN_NORM = 1e-12  # a vector is divided by its norm or by this if it is shorter, as by torch.nn.functional.normalize


@register_method("graphmae")
class GraphMAE(EncoderEmbedder):
    """GraphMAE: reconstructs masked node features with two layers of GAT and a decoder.

    Edge weights are ignored.

    Parameters
    ----------
    n_components : int, default=512
        Size of the embedding, and of the hidden layer; a multiple of ``heads``.
    heads : int, default=4
        Number of attention heads.
    epochs : int, default=200
        Number of epochs; each is one full-batch step.
    learning_rate : float, default=1e-3
        Initial learning rate; it decays to 0 by a cosine.
    weight_decay : float, default=2e-4
    mask_rate : float, default=0.5
        Share of nodes whose features are masked.
    replace_rate : float, default=0.05
        Share of masked nodes that get the features of another node in place of the mask token.
    gamma : float, default=3.0
        Exponent of the scaled cosine error; above 1, small errors have less weight.
    dropout : float, default=0.2
        Dropout rate of the input of each layer.
    attention_dropout : float, default=0.1
        Dropout rate of attention coefficients.
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
    Hou et al., GraphMAE: Self-Supervised Masked Graph Autoencoders, KDD 2022.

    Examples
    --------
    >>> from graphprox import synthetic
    >>> embedder = GraphMAE(n_components=8, epochs=2).fit(synthetic(nodes=140))
    >>> embedder.vectors_.shape, embedder.transform(synthetic(nodes=210)).shape
    ((140, 8), (210, 8))
    """

    info = MethodInfo(
        title="GraphMAE",
        group="autoencoders",
        uses="AX",
        summary="reconstructs masked node features from those of neighbors",
        paper="Hou et al., GraphMAE: Self-Supervised Masked Graph Autoencoders, KDD 2022",
    )
    # The authors' settings, except for PubMed, where their 1,000 epochs would take more than an hour. The default of
    # 200 epochs is for graphs that they have no settings for: on Cora and Texas, more epochs hardly improve the
    # validation accuracy.
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "Cora": {"epochs": 1500},
        "CiteSeer": {"heads": 2, "epochs": 300, "replace_rate": 0.1, "gamma": 1.0, "weight_decay": 2e-5},
        "PubMed": {
            "n_components": 1024,
            "epochs": 200,
            "mask_rate": 0.75,
            "replace_rate": 0.0,
            "weight_decay": 1e-5,
        },
    }

    n_components: int = parameter(512, min=1)
    heads: int = parameter(4, min=1)
    epochs: int = parameter(200, min=0)
    learning_rate: float = parameter(1e-3, above=0)
    weight_decay: float = parameter(2e-4, min=0)
    mask_rate: float = parameter(0.5, min=0, max=1)
    replace_rate: float = parameter(0.05, min=0, max=1)
    gamma: float = parameter(3.0, min=1)
    dropout: float = parameter(0.2, min=0, max=0.9)
    attention_dropout: float = parameter(0.1, min=0, max=0.9)

    def check_parameters(self) -> None:
        """Raise a `ParameterError` if a parameter is out of range, or heads do not divide ``n_components``."""
        super().check_parameters()
        if self.n_components % self.heads:
            raise ParameterError(f"n_components must be a multiple of heads; got {self.n_components} and {self.heads}")

    def _memory_costs(self, graph: Graph) -> Costs:
        size, n = Size.of(graph), self.n_components
        attention = FLOAT * self.heads * float(size.entries)
        return count_layers(size, [n, n], rows=size.nodes * n, weights=n**2 + n * size.columns, others=attention)

    def _fit(self, graph: Graph, seed: int, progress: Progress | None) -> FloatArray:
        with fork_rng(seed) as generator:
            tensors = self._to_tensors(graph, self.settings())
            features, edges = tensors.features, tensors.edges
            dropout = DropoutRates(self.dropout, self.attention_dropout)
            encoder = MaskedEncoder(
                features.shape[1], self.n_components, heads=self.heads, dropout=dropout, generator=generator
            )
            decoder = FeatureDecoder(self.n_components, features.shape[1], dropout=dropout, generator=generator)

            def loss() -> Tensor:
                mask = NodeMask.sample(graph.num_nodes, self.mask_rate, self.replace_rate, generator)
                reconstruction = decoder(encoder(features, edges, mask), edges, mask)
                return scaled_cosine_error(reconstruction.cosine_similarity(features, mask.nodes), self.gamma)

            minimize(
                nn.ModuleList([encoder, decoder]),
                loss,
                epochs=self.epochs,
                learning_rate=lambda epoch: self.learning_rate * cosine_schedule(epoch, self.epochs),
                weight_decay=self.weight_decay,
                progress=progress,
            )
        return self._keep_encoder(encoder, tensors)

    def _to_tensors(self, graph: Graph, settings: Mapping[str, Any]) -> GraphTensors:  # noqa: ARG002 - the same for all
        edges = GATConv.prepare_edges(in_neighbor_matrix(graph.edge_index, None, graph.num_nodes))
        return GraphTensors(FeatureMatrix.of(graph.x, normalize="rows"), edges)


class DropoutRates(NamedTuple):
    """Dropout rates of the input of a layer and of its attention coefficients."""

    inputs: float
    attention: float


class NodeMask(NamedTuple):
    """Masked nodes, (n_masked,), and the node whose features each node is given, (num_nodes,).

    A node is given its own features or those of another node; -1 denotes the mask token.
    """

    nodes: Tensor
    sources: Tensor

    @classmethod
    def sample(cls, num_nodes: int, mask_rate: float, replace_rate: float, generator: Generator) -> NodeMask:
        """Mask a share of the nodes, at least one; a share of them is given the features of random nodes.

        Parameters
        ----------
        num_nodes : int
        mask_rate : float
        replace_rate : float
        generator : torch.Generator

        Returns
        -------
        NodeMask
        """
        nodes = torch.randperm(num_nodes, generator=generator)[: max(1, int(mask_rate * num_nodes))]
        sources = torch.arange(num_nodes)
        sources[nodes] = -1
        num_replaced = int(replace_rate * len(nodes))
        sources[nodes[:num_replaced]] = torch.randperm(num_nodes, generator=generator)[:num_replaced]
        return cls(nodes, sources)


def _make_layer(
    in_channels: int, out_channels: int, *, heads: int, dropout: DropoutRates, generator: Generator
) -> GATConv:
    """Return a GAT layer, initialized as by the authors: weight decay would shrink smaller weights too early."""
    layer = GATConv(in_channels, out_channels, generator=generator, heads=heads, dropout=dropout.attention)
    gain = nn.init.calculate_gain("relu")
    for weight in (layer.weight, layer.source[None], layer.target[None]):
        nn.init.xavier_normal_(weight.detach(), gain=gain, generator=generator)
    return layer


class MaskedEncoder(nn.Module):
    """Two layers of GAT with a learned token in place of masked features.

    Parameters
    ----------
    in_channels : int
        Number of features.
    out_channels : int
        Size of both layers.
    heads : int
    dropout : DropoutRates
    generator : torch.Generator
        Source of the initial weights.
    """

    def __init__(
        self, in_channels: int, out_channels: int, *, heads: int, dropout: DropoutRates, generator: Generator
    ) -> None:
        super().__init__()
        self.first, self.second = (
            _make_layer(channels, out_channels, heads=heads, dropout=dropout, generator=generator)
            for channels in (in_channels, out_channels)
        )
        self.activations = nn.ModuleList([nn.PReLU(), nn.PReLU()])  # one slope for all channels
        self.token = nn.Parameter(torch.zeros(1, in_channels))
        self.dropout = dropout.inputs

    def forward(self, features: FeatureMatrix, edges: Edges, mask: NodeMask | None = None) -> Tensor:
        """Return the embedding, (num_nodes, out_channels)."""
        projected = self._project(features, self.first.weight)
        if mask is not None:
            # Rows are replaced after the product, which keeps the features sparse. Unlike in the authors' code, the
            # token has no dropout; on Cora the validation accuracy is the same.
            token = self.token @ self.first.weight
            projected = torch.where(mask.sources[:, None] < 0, token, projected[mask.sources])
        h = self.activations[0](self.first.propagate(projected, edges))
        h = functional.dropout(h, self.dropout, self.training)
        last: Tensor = self.activations[1](self.second.propagate(self.second.project(h.mm), edges))
        return last

    def _project(self, features: FeatureMatrix, weight: Tensor) -> Tensor:
        """Multiply features, with dropout, by a weight."""
        if features.dense is not None:
            return functional.dropout(features.dense, self.dropout, self.training) @ weight
        assert features.pattern is not None  # noqa: S101 - either dense or sparse
        assert features.values is not None  # noqa: S101
        return spmm(features.pattern, functional.dropout(features.values, self.dropout, self.training), weight)


class FeatureDecoder(nn.Module):
    """A linear map and a GAT layer of one head, which reconstruct features.

    Its bias hardly changes after the first step, as in the authors' code. A masked node without unmasked neighbors has
    a reconstruction of zeros at first; divided by its norm, as by torch, it has a gradient of 1e12, and Adam divides
    all later steps of the bias by a running average of such gradients. This is essential: the error does not depend on
    the length of a reconstruction, and with a bias that shrinks as well, weight decay makes the embedding five times
    shorter on Cora, with a lower accuracy.

    Parameters
    ----------
    in_channels : int
        Size of the embedding.
    out_channels : int
        Number of features.
    dropout : DropoutRates
    generator : torch.Generator
        Source of the initial weights.
    """

    def __init__(self, in_channels: int, out_channels: int, *, dropout: DropoutRates, generator: Generator) -> None:
        super().__init__()
        self.linear = nn.Linear(in_channels, in_channels, bias=False)
        self.convolution = _make_layer(in_channels, out_channels, heads=1, dropout=dropout, generator=generator)
        self.dropout = dropout.inputs

    def forward(self, h: Tensor, edges: Edges, mask: NodeMask) -> Reconstruction:
        """Reconstruct the features of masked nodes from the embedding of all others."""
        inputs = self.linear(h).index_fill(0, mask.nodes, 0.0)
        inputs = functional.dropout(inputs, self.dropout, self.training)
        # GAT's mean of projected rows equals the projection of the mean, which has fewer columns and is needed for
        # masked nodes only.
        layer = self.convolution
        scorer = layer.weight @ attention_scorer(layer.source, layer.target)
        factors = layer.factors(edges.pattern)
        means = attend(edges.pattern, inputs, scorer, heads=1, slope=NEGATIVE_SLOPE, factors=factors)[mask.nodes]
        return Reconstruction(means, layer.weight, layer.bias)


class Reconstruction(NamedTuple):
    """Reconstructed features ``rows @ weight + bias``, not multiplied out: there may be thousands of columns."""

    rows: Tensor
    weight: Tensor
    bias: Tensor

    def cosine_similarity(self, features: FeatureMatrix, nodes: Tensor) -> Tensor:
        """Return the cosine similarity with the features of nodes, (n_masked,); 0 where either is zero."""
        if features.dense is not None:
            target = features.dense[nodes]
            reconstructed = torch.addmm(self.bias, self.rows, self.weight)
            products, squares = (reconstructed * target).sum(1), (reconstructed * reconstructed).sum(1)
            return products * _inverse_norm(squares) * _inverse_norm((target * target).sum(1))
        # With a column of ones, the bias is one more row of the weight. Only sums of products of reconstructed
        # features are needed, and those follow from products of the rows of the weight.
        rows = torch.cat([self.rows, self.rows.new_ones(len(self.rows), 1)], 1)
        weight = torch.cat([self.weight, self.bias[None]])
        products = (rows * features.matmul(weight.T.contiguous())[nodes]).sum(1)
        squares = ((rows @ (weight @ weight.T)) * rows).sum(1)
        return products * _inverse_norm(squares) * _inverse_norm(_squared_norms(features)[nodes])


def scaled_cosine_error(cosine_similarity: Tensor, gamma: float) -> Tensor:
    """Return the mean of ``(1 - cosine_similarity) ** gamma``.

    Parameters
    ----------
    cosine_similarity : Tensor of shape (n_masked,)
        By rounding, it may exceed 1 slightly.
    gamma : float

    Returns
    -------
    Tensor of shape ()
    """
    return (1 - cosine_similarity).clamp_min(0).pow(gamma).mean()


def _squared_norms(features: FeatureMatrix) -> Tensor:
    assert features.pattern is not None  # noqa: S101 - it is sparse
    assert features.values is not None  # noqa: S101
    return features.pattern.row_sums(features.values**2)


def _inverse_norm(squares: Tensor) -> Tensor:
    """Return the inverse of norms from their squares; the largest, without a gradient, for zero vectors."""
    return squares.clamp_min(MIN_NORM**2).rsqrt()
