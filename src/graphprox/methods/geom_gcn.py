"""Geom-GCN: aggregate neighbors in the graph and in a latent space, separately by their direction in that space."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor, nn
from torch.nn import functional

from graphprox._utils.arrays import IntArray
from graphprox._utils.numba_helpers import Float64Array
from graphprox._utils.progress import Progress
from graphprox.errors import NotInductiveError
from graphprox.forecast import Costs
from graphprox.forecast.largest_arrays import count_layers
from graphprox.forecast.work import Size
from graphprox.graph.checksum import graph_checksum
from graphprox.graph.graph import Graph
from graphprox.methods import MethodInfo, NodeClassifier, parameter, register_method
from graphprox.methods._neural import fork_rng
from graphprox.methods._poincare import find_nearest_pairs, poincare_embedding
from graphprox.methods._supervised import SupervisedTask, to_feature_matrix, train_classifier, with_feature_dropout
from graphprox.nn.convolution import Edges, glorot
from graphprox.nn.features import FeatureMatrix
from graphprox.nn.sparse import spmm

NUM_QUADRANTS = 4
NUM_RELATIONS = 2 * NUM_QUADRANTS + 1  # quadrants of neighbors in the graph and in latent space, and the node itself


@register_method("geom-gcn-p")
class GeomGCN(NodeClassifier):
    """Geom-GCN-P: graph convolutions over neighbors in the graph and in the hyperbolic plane, trained on labeled nodes.

    Nodes are embedded in the hyperbolic plane by the method of Nickel and Kiela (2017). The neighbors of a node are
    those in the graph, and the pairs that are closest in the plane, as many as there are edges. A neighbor has one of
    nine relations, by where it is a neighbor and by its quadrant; each relation has its own weights.
    Directions and weights of edges are ignored.

    The embedding in the plane is specific to the graph that is fitted: other graphs cannot be predicted.

    Parameters
    ----------
    hidden_channels : int, default=16
        Size of the hidden layer for each of the nine relations.
    epochs : int, default=1000
        Largest number of epochs; each is one full-batch step.
    patience : int, default=100
        Number of epochs without a better validation accuracy or loss after which training stops.
    learning_rate : float, default=5e-2
    weight_decay : float, default=5e-6
    dropout : float, default=0.5
        Dropout rate of the input of each layer.
    latent_epochs : int, default=200
        Number of epochs of the embedding in the hyperbolic plane.
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
    neighbors_ : RelationalNeighbors
        The neighbors of each node by their relation.

    References
    ----------
    Pei et al., Geom-GCN: Geometric Graph Convolutional Networks, ICLR 2020.

    Examples
    --------
    >>> from graphprox import random_split, synthetic
    >>> graph = synthetic(nodes=140)
    >>> GeomGCN(epochs=2, latent_epochs=5).fit(graph, random_split(graph, random_state=0)).predict(graph).shape
    (140,)
    """

    info = MethodInfo(
        title="Geom-GCN-P",
        group="semi-supervised",
        uses="AXY",
        summary="graph convolutions over neighbors in the graph and in the hyperbolic plane, by their direction",
        paper="Pei et al., Geom-GCN: Geometric Graph Convolutional Networks, ICLR 2020",
    )
    # On the small graphs, the accuracy of about a hundred validation nodes often stays the same for hundreds of epochs
    # before it rises: on Texas it increases with patience, and with the epochs of the latent embedding.
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "PubMed": {"hidden_channels": 64},
        "Actor": {"hidden_channels": 32},
        **{
            name: {"hidden_channels": 32, "epochs": 5000, "patience": 500, "latent_epochs": 1000}
            for name in ("Texas", "Cornell", "Cornell-2021", "Wisconsin")
        },
    }

    hidden_channels: int = parameter(16, min=1)
    epochs: int = parameter(1000, min=1)
    patience: int = parameter(100, min=1)
    learning_rate: float = parameter(5e-2, above=0)
    weight_decay: float = parameter(5e-6, min=0)
    dropout: float = parameter(0.5, min=0, max=0.99)
    latent_epochs: int = parameter(200, min=0)

    def _memory_costs(self, graph: Graph) -> Costs:
        return count_layers(Size.of(graph), [NUM_RELATIONS * self.hidden_channels])

    def _fit(self, task: SupervisedTask, seed: int, progress: Progress | None) -> None:
        with fork_rng(seed) as generator:
            features = to_feature_matrix(task.graph)
            neighbors = RelationalNeighbors.of(task.graph, random_state=seed, epochs=self.latent_epochs)
            network = GeomGCNNetwork(
                features.shape[1],
                self.hidden_channels,
                task.num_classes,
                dropout=self.dropout,
                generator=generator,
            )
            train_classifier(
                network,
                lambda: network(features, neighbors),
                task,
                epochs=self.epochs,
                patience=self.patience,
                learning_rate=self.learning_rate,
                parameter_groups=[(network.parameters(), self.weight_decay)],
                progress=progress,
            )
        self.network_: nn.Module = network
        self.neighbors_ = neighbors
        self._checksum = graph_checksum(task.graph)

    def _decision_function(self, graph: Graph) -> Tensor:
        if graph_checksum(graph) != self._checksum:
            raise NotInductiveError(
                f"{type(self).__name__} embeds the graph it is fitted on in the hyperbolic plane and cannot predict "
                "another graph: call fit on that graph"
            )
        scores: Tensor = self.network_(to_feature_matrix(graph), self.neighbors_)
        return scores


@dataclass(frozen=True, eq=False)
class RelationalNeighbors:
    """Neighbors of each node by their relation, as two normalized matrices.

    Row or column ``node * NUM_RELATIONS + relation`` corresponds to a node and a relation.

    Parameters
    ----------
    per_relation : Edges of shape (num_nodes * NUM_RELATIONS, num_nodes * NUM_RELATIONS)
        Sums over the neighbors of each relation.
    mean : Edges of shape (num_nodes, num_nodes * NUM_RELATIONS)
        Means of these sums over all relations.
    """

    per_relation: Edges
    mean: Edges

    @classmethod
    def of(cls, graph: Graph, *, random_state: int, epochs: int) -> RelationalNeighbors:
        """Embed the nodes of a graph in the hyperbolic plane, and find their neighbors.

        Parameters
        ----------
        graph : Graph
        random_state : int
            Random seed of the embedding.
        epochs : int
            Number of epochs of the embedding.

        Returns
        -------
        RelationalNeighbors
        """
        undirected = graph.to_undirected()
        index = undirected.edge_index[:, undirected.edge_index[0] != undirected.edge_index[1]]
        points = _embed_cached(index.tobytes(), graph.num_nodes, random_state, epochs)
        # As many pairs as edges: on average, a node has as many neighbors in the plane as in the graph.
        nearest = find_nearest_pairs(points, index.shape[1] // 2)
        return cls.from_points(points, [index, np.concatenate([nearest, nearest[::-1]], axis=1)])

    @classmethod
    def from_points(cls, points: Float64Array, neighbors: list[IntArray]) -> RelationalNeighbors:
        """Group neighbors by their quadrant.

        Parameters
        ----------
        points : ndarray of shape (num_nodes, 2)
        neighbors : list of ndarray of shape (2, num_pairs)
            Neighbors in the graph and in the plane, each pair in both directions.

        Returns
        -------
        RelationalNeighbors
        """
        num_nodes = len(points)
        nodes = np.arange(num_nodes)
        rows = np.concatenate([pairs[1] for pairs in neighbors] + [nodes])
        columns = np.concatenate([pairs[0] for pairs in neighbors] + [nodes])
        relations = np.concatenate(
            [space * NUM_QUADRANTS + _quadrants(points, *pairs) for space, pairs in enumerate(neighbors)]
            + [np.full(num_nodes, NUM_RELATIONS - 1)]
        )
        scale = 1 / np.sqrt(np.bincount(rows, minlength=num_nodes))
        values = (scale[rows] * scale[columns]).astype(np.float32)
        size = num_nodes * NUM_RELATIONS
        sources, targets = columns * NUM_RELATIONS + relations, rows * NUM_RELATIONS + relations
        per_relation = sp.csr_array((values, (targets, sources)), shape=(size, size))
        mean = sp.csr_array((values / NUM_RELATIONS, (rows, sources)), shape=(num_nodes, size))
        return cls(Edges.of(per_relation), Edges.of(mean))


@lru_cache(maxsize=1)
def _embed_cached(edge_index: bytes, num_nodes: int, random_state: int, epochs: int) -> Float64Array:
    """Return the embedding of a graph, cached for the last one: all splits of a graph share it."""
    index = np.frombuffer(edge_index, np.int64).reshape(2, -1)
    points = poincare_embedding(index, num_nodes, random_state=random_state, epochs=epochs)
    points.flags.writeable = False  # callers share it
    return points


def _quadrants(points: Float64Array, source: IntArray, target: IntArray) -> IntArray:
    """Return the quadrant of each source, relative to its target."""
    is_right, is_above = (points[source] > points[target]).T
    quadrants: IntArray = 2 * is_right.astype(np.int64) + is_above
    return quadrants


class GeomGCNNetwork(nn.Module):
    """Two layers with weights for each relation: the first concatenates relations, the second averages them.

    Parameters
    ----------
    in_channels, hidden_channels, out_channels : int
        Numbers of features, hidden channels per relation, and classes.
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
        dropout: float,
        generator: torch.Generator,
    ) -> None:
        super().__init__()
        hidden = NUM_RELATIONS * hidden_channels
        self.first = glorot(in_channels, hidden, generator=generator, fan_out=hidden_channels)
        self.second = glorot(hidden, NUM_RELATIONS * out_channels, generator=generator, fan_out=out_channels)
        self.dropout = dropout

    def forward(self, features: FeatureMatrix, neighbors: RelationalNeighbors) -> Tensor:
        """Return the scores of all nodes, (num_nodes, out_channels)."""
        projected = with_feature_dropout(features, self.dropout, training=self.training)(self.first)
        # The row of a node holds its channels for all relations; as a view, each relation has a separate row.
        by_relation = projected.view(len(projected) * NUM_RELATIONS, -1)
        per_relation, mean = neighbors.per_relation, neighbors.mean
        h = spmm(per_relation.pattern, per_relation.values, by_relation).view_as(projected).relu()
        h = functional.dropout(h, self.dropout, self.training)
        by_relation = (h @ self.second).view(len(h) * NUM_RELATIONS, -1)
        return spmm(mean.pattern, mean.values, by_relation)
