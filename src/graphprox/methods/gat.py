"""GAT: two layers of graph attention, trained on labeled nodes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from graphprox._utils.progress import Progress
from graphprox.forecast import Costs
from graphprox.forecast.largest_arrays import count_layers
from graphprox.forecast.work import FLOAT, Size
from graphprox.graph.graph import Graph
from graphprox.methods import MethodInfo, NodeClassifier, parameter, register_method
from graphprox.methods._neural import fork_rng
from graphprox.methods._supervised import SupervisedTask, to_feature_matrix, train_classifier, with_feature_dropout
from graphprox.nn.convolution import MatMul, glorot, in_neighbor_matrix
from graphprox.nn.encoders.gat import NEGATIVE_SLOPE, GATConv, attention_factors, attention_scorer
from graphprox.nn.features import FeatureMatrix
from graphprox.nn.sparse import SparsePattern, attend


@register_method("gat")
class GAT(NodeClassifier):
    """GAT: two layers of graph attention, trained by the cross-entropy of training nodes.

    Edge weights are ignored.

    Parameters
    ----------
    hidden_channels : int, default=8
        Size of each head of the first layer, whose output has ``heads * hidden_channels`` channels, as in PyG.
    heads : int, default=8
        Number of heads of the first layer.
    output_heads : int, default=1
        Number of heads of the second layer, which are averaged.
    epochs : int, default=1000
        Largest number of epochs; each is one full-batch step.
    patience : int, default=100
        Number of epochs without a better validation accuracy or loss after which training stops.
    learning_rate : float, default=5e-3
    weight_decay : float, default=5e-4
    dropout : float, default=0.6
        Dropout rate of the input of each layer, and of attention coefficients.
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
    classes_ : ndarray of shape (n_classes,)
    network_ : Module
        The trained network, with the weights of the best epoch.

    References
    ----------
    Veličković et al., Graph Attention Networks, ICLR 2018.

    Examples
    --------
    >>> from graphprox import random_split, synthetic
    >>> graph = synthetic(nodes=140)
    >>> classifier = GAT(epochs=2).fit(graph, random_split(graph, random_state=0))
    >>> classifier.predict(graph).shape, classifier.predict(synthetic(nodes=210)).shape
    ((140,), (210,))
    """

    info = MethodInfo(
        title="GAT",
        group="semi-supervised",
        uses="AXY",
        summary="two layers of graph attention, trained on labeled nodes",
        paper="Veličković et al., Graph Attention Networks, ICLR 2018",
    )
    # With thousands of features, the default weight decay is too high. Selected by validation accuracy: graphprox tune
    # BlogCatalog --method gat --over weight_decay=5e-4,5e-5 --splits 1
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "CoauthorCS": {"weight_decay": 5e-5},
        "BlogCatalog": {"weight_decay": 5e-5},
        "PubMed": {"output_heads": 8, "learning_rate": 1e-2, "weight_decay": 1e-3},
    }

    hidden_channels: int = parameter(8, min=1)
    heads: int = parameter(8, min=1)
    output_heads: int = parameter(1, min=1)
    epochs: int = parameter(1000, min=1)
    patience: int = parameter(100, min=1)
    learning_rate: float = parameter(5e-3, above=0)
    weight_decay: float = parameter(5e-4, min=0)
    dropout: float = parameter(0.6, min=0, max=0.99)

    def _memory_costs(self, graph: Graph) -> Costs:
        size = Size.of(graph)
        return count_layers(size, [self.heads * self.hidden_channels], others=2.0 * FLOAT * self.heads * size.entries)

    def _fit(self, task: SupervisedTask, seed: int, progress: Progress | None) -> None:
        with fork_rng(seed) as generator:
            features, pattern = to_feature_matrix(task.graph), _to_pattern(task.graph)
            network = GATNetwork(
                features.shape[1],
                self.hidden_channels,
                task.num_classes,
                heads=self.heads,
                output_heads=self.output_heads,
                dropout=self.dropout,
                generator=generator,
            )
            train_classifier(
                network,
                lambda: network(features, pattern),
                task,
                epochs=self.epochs,
                patience=self.patience,
                learning_rate=self.learning_rate,
                parameter_groups=[(network.parameters(), self.weight_decay)],
                progress=progress,
            )
        self.network_: nn.Module = network

    def _decision_function(self, graph: Graph) -> Tensor:
        scores: Tensor = self.network_(to_feature_matrix(graph), _to_pattern(graph))
        return scores


def _to_pattern(graph: Graph) -> SparsePattern:
    """Return the pattern of the edges, with one self-loop per node."""
    return GATConv.prepare_edges(in_neighbor_matrix(graph.edge_index, None, graph.num_nodes)).pattern


class GATNetwork(nn.Module):
    """Two layers of attention with ELU between them, and dropout of the input of each.

    Parameters
    ----------
    in_channels, hidden_channels, out_channels : int
        Numbers of features, hidden channels per head, and classes.
    heads, output_heads : int
        Numbers of heads of the first and of the second layer.
    dropout : float
    generator : torch.Generator
        Source of the initial weights.
    """

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        *,
        heads: int,
        output_heads: int,
        dropout: float,
        generator: torch.Generator,
    ) -> None:
        super().__init__()
        self.dropout = dropout
        self.first = AttentionLayer(in_channels, hidden_channels, heads, dropout=dropout, generator=generator)
        self.second = AttentionLayer(
            heads * hidden_channels, out_channels, output_heads, dropout=dropout, generator=generator, concat=False
        )

    def forward(self, features: FeatureMatrix, pattern: SparsePattern) -> Tensor:
        """Return the scores of all nodes, (num_nodes, out_channels)."""
        matmul = with_feature_dropout(features, self.dropout, training=self.training)
        h = functional.elu(self.first(matmul, pattern))
        h = functional.dropout(h, self.dropout, self.training)
        scores: Tensor = self.second(h.mm, pattern)
        return scores


class AttentionLayer(nn.Module):
    """PyG's ``GATConv`` with dropout of attention, whose heads are concatenated or averaged.

    Parameters
    ----------
    in_channels : int
    out_channels : int
        Size of each head.
    heads : int
    dropout : float
        Dropout rate of attention coefficients.
    generator : torch.Generator
        Source of the initial weights.
    concat : bool, default=True
        Whether heads are concatenated; otherwise they are averaged.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        heads: int,
        *,
        dropout: float,
        generator: torch.Generator,
        concat: bool = True,
    ) -> None:
        super().__init__()
        self.heads, self.dropout, self.concat = heads, dropout, concat
        self.weight = glorot(in_channels, heads * out_channels, generator=generator)
        self.source, self.target = (glorot(heads, out_channels, generator=generator) for _ in range(2))
        self.bias = nn.Parameter(torch.zeros(heads * out_channels if concat else out_channels))

    def forward(self, matmul: MatMul, pattern: SparsePattern) -> Tensor:
        """Return the output of the layer, whose input ``matmul`` multiplies by a weight."""
        factors = attention_factors(pattern, self.heads, self.dropout) if self.training else None
        scorer = attention_scorer(self.source, self.target)
        h = attend(pattern, matmul(self.weight), scorer, heads=self.heads, slope=NEGATIVE_SLOPE, factors=factors)
        return (h if self.concat else h.view(len(h), self.heads, -1).mean(1)) + self.bias
