"""JK-Net: graph convolutions whose outputs are all combined before the classifier."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, ClassVar, cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from graphprox._utils.progress import Progress
from graphprox.forecast import Costs
from graphprox.forecast.largest_arrays import count_layers
from graphprox.forecast.work import Size
from graphprox.graph.graph import Graph
from graphprox.methods import MethodInfo, NodeClassifier, parameter, register_method
from graphprox.methods._neural import GraphTensors, fork_rng
from graphprox.methods._supervised import SupervisedTask, to_feature_matrix, train_classifier, with_feature_dropout
from graphprox.nn.convolution import Convolution, in_neighbor_matrix
from graphprox.nn.encoders.gcn import GCNConv
from graphprox.nn.encoders.sage import SAGEConv

CONVOLUTIONS: Mapping[str, type[Convolution]] = MappingProxyType({"gcn": GCNConv, "sage": SAGEConv})


@register_method("jk-net")
class JKNet(NodeClassifier):
    """JK-Net: graph convolutions with jumping knowledge, trained by the cross-entropy of training nodes.

    Parameters
    ----------
    conv : {"gcn", "sage"}, default="gcn"
        Kind of the convolutions; those of GraphSAGE have separate weights for a node and for its neighbors.
    hidden_channels : int, default=32
        Size of each layer.
    num_layers : int, default=2
        Number of convolutions.
    jk : {"cat", "max", "lstm"}, default="cat"
        How the outputs of the layers are combined: concatenated, by the maximum of each channel, or by the attention of
        an LSTM for each node.
    epochs : int, default=500
        Largest number of epochs; each is one full-batch step.
    patience : int, default=100
        Number of epochs without a better validation accuracy or loss after which training stops.
    learning_rate : float, default=5e-3
    weight_decay : float, default=5e-4
    dropout : float, default=0.5
        Dropout rate of the input of each layer.
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
    Xu et al., Representation Learning on Graphs with Jumping Knowledge Networks, ICML 2018.

    Examples
    --------
    >>> from graphprox import random_split, synthetic
    >>> graph = synthetic(nodes=140)
    >>> classifier = JKNet(epochs=2).fit(graph, random_split(graph, random_state=0))
    >>> classifier.predict(graph).shape, classifier.predict(synthetic(nodes=210)).shape
    ((140,), (210,))
    """

    info = MethodInfo(
        title="JK-Net",
        group="semi-supervised",
        uses="AXY",
        summary="graph convolutions whose outputs are all combined before the classifier, trained on labeled nodes",
        paper="Xu et al., Representation Learning on Graphs with Jumping Knowledge Networks, ICML 2018",
    )
    # Selected by validation accuracy: on heterophilic graphs, convolutions with separate weights for the node itself.
    # With thousands of features, the default weight decay is too high: graphprox tune BlogCatalog --method jk-net
    # --over weight_decay=5e-4,5e-5,5e-6 --splits 1
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "CoauthorCS": {"weight_decay": 5e-5},
        "BlogCatalog": {"weight_decay": 5e-6},
        **{name: {"conv": "sage"} for name in ("Texas", "Cornell", "Cornell-2021", "Wisconsin", "Actor")},
    }

    conv: str = parameter("gcn", choices=tuple(CONVOLUTIONS))
    hidden_channels: int = parameter(32, min=1)
    num_layers: int = parameter(2, min=1)
    jk: str = parameter("cat", choices=("cat", "max", "lstm"))
    epochs: int = parameter(500, min=1)
    patience: int = parameter(100, min=1)
    learning_rate: float = parameter(5e-3, above=0)
    weight_decay: float = parameter(5e-4, min=0)
    dropout: float = parameter(0.5, min=0, max=0.99)

    def _memory_costs(self, graph: Graph) -> Costs:
        return count_layers(Size.of(graph), [self.hidden_channels] * self.num_layers)

    def _fit(self, task: SupervisedTask, seed: int, progress: Progress | None) -> None:
        with fork_rng(seed) as generator:
            network = JKNetwork(
                task.graph.num_features,
                self.hidden_channels,
                task.num_classes,
                convolution=CONVOLUTIONS[self.conv],
                num_layers=self.num_layers,
                jk=self.jk,
                dropout=self.dropout,
                generator=generator,
            )
            tensors = network.to_tensors(task.graph)
            train_classifier(
                network,
                lambda: network(tensors),
                task,
                epochs=self.epochs,
                patience=self.patience,
                learning_rate=self.learning_rate,
                parameter_groups=[(network.parameters(), self.weight_decay)],
                progress=progress,
            )
        self.network_: JKNetwork = network

    def _decision_function(self, graph: Graph) -> Tensor:
        scores: Tensor = self.network_(self.network_.to_tensors(graph))
        return scores


class JKNetwork(nn.Module):
    """Convolutions with ReLU, whose outputs are combined, and a linear classifier.

    Parameters
    ----------
    in_channels, hidden_channels, out_channels : int
        Numbers of features, channels of each layer, and classes.
    convolution : type of Convolution
    num_layers : int
    jk : {"cat", "max", "lstm"}
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
        convolution: type[Convolution],
        num_layers: int,
        jk: str,
        dropout: float,
        generator: torch.Generator,
    ) -> None:
        from torch_geometric.nn import JumpingKnowledge

        super().__init__()
        self.convolution = convolution
        self.first = convolution(in_channels, hidden_channels, generator=generator)
        self.others = nn.ModuleList(
            convolution(hidden_channels, hidden_channels, generator=generator) for _ in range(num_layers - 1)
        )
        self.jump = JumpingKnowledge(jk, hidden_channels, num_layers)
        self.last = nn.Linear(hidden_channels * num_layers if jk == "cat" else hidden_channels, out_channels)
        self.dropout = dropout

    def to_tensors(self, graph: Graph) -> GraphTensors:
        """Return features and edges as inputs of the convolutions."""
        neighbors = in_neighbor_matrix(graph.edge_index, graph.edge_weight, graph.num_nodes)
        return GraphTensors(to_feature_matrix(graph), self.convolution.prepare_edges(neighbors))

    def forward(self, tensors: GraphTensors) -> Tensor:
        """Return the scores of all nodes, (num_nodes, out_channels)."""
        matmul = with_feature_dropout(tensors.features, self.dropout, training=self.training)
        outputs = [self.first.propagate(self.first.project(matmul), tensors.edges).relu()]
        for convolution in cast("Iterable[Convolution]", self.others):
            h = functional.dropout(outputs[-1], self.dropout, self.training)
            outputs.append(convolution.propagate(convolution.project(h.mm), tensors.edges).relu())
        combined = functional.dropout(self.jump(outputs), self.dropout, self.training)
        scores: Tensor = self.last(combined)
        return scores
