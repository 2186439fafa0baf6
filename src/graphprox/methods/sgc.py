"""SGC: a linear classifier of features that are propagated along edges."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor, nn

from graphprox._utils.progress import Progress
from graphprox.forecast import Costs
from graphprox.forecast.largest_arrays import count_layers
from graphprox.forecast.work import Size
from graphprox.graph.graph import Graph
from graphprox.methods import MethodInfo, NodeClassifier, parameter, register_method
from graphprox.methods._neural import GraphTensors, minimize, to_gcn_edges
from graphprox.methods._supervised import SupervisedTask, ValScore, to_feature_matrix
from graphprox.nn.sparse import spmm

# The best is selected by validation score; the authors search this range with a tuner for each data set.
WEIGHT_DECAYS = (0.0, 1e-6, 3e-6, 1e-5, 3e-5, 1e-4)


@register_method("sgc")
class SGC(NodeClassifier):
    """SGC: logistic regression on propagated features, with the weight decay of the best validation score.

    Parameters
    ----------
    hops : int, default=2
        Number of propagations.
    epochs : int, default=100
        Number of epochs for each weight decay; each is one full-batch step.
    learning_rate : float, default=0.2
    preset : str, default="auto"
        ``"auto"`` and ``"default"`` are the same: there are no settings for data sets.
    scale : {"auto", "standard", "none"}, default="auto"
        Whether columns of features are standardized: those of a table, whose units differ; all of them; or none.
    random_state : int, RandomState, Generator or None, default=0
        Random seed. It is only used if ``fit`` is given labels, some of which are held out for validation.
    verbose : bool, default=False
        Whether to print progress on stderr.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    network_ : Module
        The trained network, with the weights of the best weight decay.
    weight_decay_ : float
        The weight decay that was selected.

    References
    ----------
    Wu et al., Simplifying Graph Convolutional Networks, ICML 2019.

    Examples
    --------
    >>> from graphprox import random_split, synthetic
    >>> graph = synthetic(nodes=140)
    >>> classifier = SGC(epochs=2).fit(graph, random_split(graph, random_state=0))
    >>> classifier.predict(graph).shape, classifier.predict(synthetic(nodes=210)).shape
    ((140,), (210,))
    """

    info = MethodInfo(
        title="SGC",
        group="semi-supervised",
        uses="AXY",
        summary="a linear classifier of features that are propagated along edges",
        paper="Wu et al., Simplifying Graph Convolutional Networks, ICML 2019",
    )
    stochastic: ClassVar[bool] = False

    hops: int = parameter(2, min=1)
    epochs: int = parameter(100, min=1)
    learning_rate: float = parameter(0.2, above=0)

    def _memory_costs(self, graph: Graph) -> Costs:
        return count_layers(Size.of(graph), [])

    def _fit(self, task: SupervisedTask, seed: int, progress: Progress | None) -> None:
        del seed  # the problem is convex, and weights start at zero
        tensors = _to_tensors(task.graph)
        trained = [(*self._train(task, tensors, decay, progress), decay) for decay in WEIGHT_DECAYS]
        _, network, weight_decay = max(trained, key=lambda each: each[0])
        self.network_: nn.Module = network
        self.weight_decay_ = weight_decay

    def _train(
        self, task: SupervisedTask, tensors: GraphTensors, weight_decay: float, progress: Progress | None
    ) -> tuple[ValScore, SGCNetwork]:
        """Return the validation score and the network for a weight decay."""
        network = SGCNetwork(tensors.features.shape[1], task.num_classes, hops=self.hops)
        minimize(
            network,
            lambda: task.train.loss(network(tensors)),
            epochs=self.epochs,
            learning_rate=self.learning_rate,
            weight_decay=weight_decay,
            progress=progress,
        )
        with torch.no_grad():
            return task.score_val(network(tensors)), network

    def _decision_function(self, graph: Graph) -> Tensor:
        scores: Tensor = self.network_(_to_tensors(graph))
        return scores


def _to_tensors(graph: Graph) -> GraphTensors:
    return GraphTensors(to_feature_matrix(graph), to_gcn_edges(graph))


class SGCNetwork(nn.Module):
    """A linear map of features that are propagated along edges.

    Parameters
    ----------
    in_channels, out_channels : int
        Numbers of features and of classes.
    hops : int
        Number of propagations.
    """

    def __init__(self, in_channels: int, out_channels: int, *, hops: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(in_channels, out_channels))
        self.bias = nn.Parameter(torch.zeros(out_channels))
        self.hops = hops

    def forward(self, tensors: GraphTensors) -> Tensor:
        """Return the scores of all nodes, (num_nodes, out_channels)."""
        # Propagating after the linear map is equivalent, and avoids a dense matrix with a column per feature.
        scores = tensors.features.matmul(self.weight)
        for _ in range(self.hops):
            scores = spmm(tensors.edges.pattern, tensors.edges.values, scores)
        return scores + self.bias
