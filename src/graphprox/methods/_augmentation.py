"""Parts of methods that compare augmented copies of a graph: augmentation, batch normalization, training schedules."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.autograd import Function

from graphprox.graph.graph import Graph
from graphprox.methods import parameter
from graphprox.methods._encoder_embedder import EncoderEmbedder
from graphprox.methods._neural import GraphTensors, drop_edges, sample_feature_mask
from graphprox.nn.activation import PReLU
from graphprox.nn.convolution import Edges

# -- augmentation ---------------------------------------------------------------------------------------------------


class AugmentedGraph(NamedTuple):
    """Edges that were not dropped, and a mask of features, (num_features,), with 0 for those that were."""

    edges: Edges
    feature_mask: Tensor


class Augmenter:
    """Sample copies of a graph with dropped edges and dropped features.

    Parameters
    ----------
    graph : Graph
    tensors : GraphTensors
        Features and edges of the graph.
    random_state : int
        Random seed.

    Examples
    --------
    >>> from graphprox import synthetic
    >>> graph = synthetic(nodes=140)
    >>> augmenter = Augmenter(graph, GraphTensors.of(graph), random_state=0)
    >>> augmented = augmenter.sample(drop_edge_rate=0.5, drop_feature_rate=1.0)
    >>> augmented.edges.pattern.num_entries < 140 + graph.num_entries, float(augmented.feature_mask.sum())
    (True, 0.0)
    """

    def __init__(self, graph: Graph, tensors: GraphTensors, random_state: int) -> None:
        self.graph, self.tensors = graph, tensors
        self._numpy_generator = np.random.default_rng(random_state)
        self._torch_generator = torch.Generator().manual_seed(random_state)

    def sample(self, *, drop_edge_rate: float, drop_feature_rate: float) -> AugmentedGraph:
        """Sample another copy.

        Parameters
        ----------
        drop_edge_rate : float
            Probability that an edge is dropped.
        drop_feature_rate : float
            Probability that a feature is dropped, for all nodes.

        Returns
        -------
        AugmentedGraph
        """
        edges = self.tensors.edges
        if drop_edge_rate:
            edges = drop_edges(self.graph, drop_edge_rate, self._numpy_generator)
        return AugmentedGraph(
            edges, sample_feature_mask(self.tensors.features, drop_feature_rate, self._torch_generator)
        )


# -- batch normalization --------------------------------------------------------------------------------------------

CONSTANT_COLUMN_VARIANCE = 1e-12  # a variance near this is rounding error


class _Standardize(Function):
    """Standardization with its own gradient: autograd takes twice as long, and torch's batch norm eight times."""

    @staticmethod
    def forward(ctx: Any, h: Tensor, eps: float) -> tuple[Tensor, Tensor, Tensor]:
        mean = h.mean(0)
        scaled = h - mean
        variance = (scaled * scaled).mean(0)
        inverse = (variance + eps).rsqrt()
        scaled *= inverse
        ctx.save_for_backward(scaled, inverse)
        ctx.mark_non_differentiable(mean, variance)
        return scaled, mean, variance

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Tensor) -> tuple[Tensor, None]:
        scaled, inverse = ctx.saved_tensors
        grad = grad_outputs[0]
        product = grad * scaled
        along = product.mean(0)
        grad_h = torch.mul(scaled, along, out=product).neg_().add_(grad).sub_(grad.mean(0))
        return grad_h.mul_(inverse), None


def standardize(h: Tensor) -> Tensor:
    """Scale columns to mean 0 and variance 1; a constant column becomes zeros.

    Parameters
    ----------
    h : Tensor of shape (num_nodes, channels)

    Returns
    -------
    Tensor of shape (num_nodes, channels)
    """
    result: Tensor = _Standardize.apply(h, CONSTANT_COLUMN_VARIANCE)[0]  # type: ignore[no-untyped-call]
    return result


class DebiasedBatchNorm(nn.Module):
    """Batch normalization whose running averages are corrected for their initial values.

    In training, values and gradients are those of ``torch.nn.BatchNorm1d``. Its running averages start at mean 0 and
    variance 1, which retain some weight for hundreds of steps; features with rows of sum 1 have variances so small that
    they would dominate the embedding. Here, averages are divided by the total weight of the batches in them, as
    in Adam. After many steps, both are the same.

    Parameters
    ----------
    num_features : int
    momentum : float, default=0.01
        Weight of a batch in the running averages.
    eps : float, default=1e-5
        Added to the variance.
    """

    running_mean: Tensor
    running_var: Tensor
    running_weight: Tensor  # total weight of the batches in the averages; tends to 1

    def __init__(self, num_features: int, *, momentum: float = 0.01, eps: float = 1e-5) -> None:
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(num_features)), nn.Parameter(torch.zeros(num_features))
        self.momentum, self.eps = momentum, eps
        self.register_buffer("running_mean", torch.zeros(num_features))
        self.register_buffer("running_var", torch.zeros(num_features))
        self.register_buffer("running_weight", torch.zeros(()))

    def forward(self, h: Tensor) -> Tensor:
        """Normalize a batch; without training, the statistics are those of the batch itself.

        Parameters
        ----------
        h : Tensor of shape (num_nodes, num_features)

        Returns
        -------
        Tensor of shape (num_nodes, num_features)
        """
        if not self.training and self.running_weight > 0:
            scale = self.weight * (self.running_var / self.running_weight + self.eps).rsqrt()
            return h * scale + (self.bias - self.running_mean / self.running_weight * scale)
        scaled, mean, variance = _Standardize.apply(h, self.eps)  # type: ignore[no-untyped-call]
        if self.training:
            unbiased = variance * (len(h) / (len(h) - 1))
            self.running_mean.lerp_(mean, self.momentum)
            self.running_var.lerp_(unbiased, self.momentum)
            self.running_weight += self.momentum * (1 - self.running_weight)
        return torch.addcmul(self.bias, scaled, self.weight)


def batch_norm_prelu(channels: int) -> nn.Module:
    """Return the activation of BGRL and Graph Barlow Twins: batch normalization, then PReLU."""
    return nn.Sequential(DebiasedBatchNorm(channels), PReLU(channels))


# -- training and encoding ------------------------------------------------------------------------------------------


def cosine_schedule(epoch: int, epochs: int, warmup_epochs: int = 0) -> float:
    """Return the factor of a learning rate in an epoch: linear warmup, then cosine decay to 0.

    Parameters
    ----------
    epoch : int
        From 0.
    epochs : int
        Total number of epochs.
    warmup_epochs : int, default=0
        Number of epochs of the warmup.

    Examples
    --------
    >>> [round(cosine_schedule(epoch, epochs=6, warmup_epochs=2), 2) for epoch in range(6)]
    [0.5, 1.0, 1.0, 0.85, 0.5, 0.15]
    """
    if epoch < warmup_epochs:
        return (epoch + 1) / warmup_epochs
    return (1 + math.cos(math.pi * (epoch - warmup_epochs) / (epochs - warmup_epochs))) / 2


# -- what BGRL and Barlow Twins share -------------------------------------------------------------------------------

# The authors of both select these rates for CoauthorCS.
COAUTHOR_CS = {
    "drop_edge_rate_1": 0.3,
    "drop_edge_rate_2": 0.2,
    "drop_feature_rate_1": 0.3,
    "drop_feature_rate_2": 0.4,
}


@dataclass(eq=False, repr=False, kw_only=True)
class AugmentedPairEmbedder(EncoderEmbedder):
    """Base class of methods that train GCN layers on two augmented copies of the graph in each epoch."""

    n_components: int = parameter(256, min=1)
    hidden_channels: int = parameter(512, min=1)
    epochs: int = parameter(100, min=0)
    warmup_ratio: float = parameter(0.1, min=0, max=1)
    learning_rate: float = parameter(1e-3, above=0)
    weight_decay: float = parameter(1e-5, min=0)
    drop_edge_rate_1: float = parameter(0.3, min=0, max=1)
    drop_edge_rate_2: float = parameter(0.4, min=0, max=1)
    drop_feature_rate_1: float = parameter(0.3, min=0, max=1)
    drop_feature_rate_2: float = parameter(0.2, min=0, max=1)

    def _augment(self, augmenter: Augmenter) -> tuple[AugmentedGraph, AugmentedGraph]:
        first = augmenter.sample(drop_edge_rate=self.drop_edge_rate_1, drop_feature_rate=self.drop_feature_rate_1)
        second = augmenter.sample(drop_edge_rate=self.drop_edge_rate_2, drop_feature_rate=self.drop_feature_rate_2)
        return first, second

    def _learning_rate(self, epoch: int) -> float:
        return self.learning_rate * cosine_schedule(epoch, self.epochs, int(self.warmup_ratio * self.epochs))
