"""Building blocks of methods with weights: a graph as tensors, seeding, stacks of GCN layers and the training loop."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import cast

import numpy as np
import torch
from torch import Tensor, nn

from graphprox._utils.arrays import FloatArray
from graphprox._utils.memory import keep_freed_memory
from graphprox._utils.outcome import raise_if_diverged
from graphprox._utils.progress import Progress
from graphprox.errors import TrainingError
from graphprox.graph.graph import Graph
from graphprox.nn.convolution import Edges, in_neighbor_matrix
from graphprox.nn.encoders.gcn import GCNConv
from graphprox.nn.features import FeatureMatrix


@contextmanager
def fork_rng(seed: int) -> Iterator[torch.Generator]:
    """Seed torch's global generator inside the block, and restore its state afterwards.

    Dropout and the layers of PyG use the global generator. The generator that is yielded has the same seed; it is for
    functions that accept one.

    Parameters
    ----------
    seed : int

    Yields
    ------
    torch.Generator

    Examples
    --------
    >>> with fork_rng(0) as generator:
    ...     bool(torch.rand(1) == torch.rand(1, generator=generator))
    True
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield torch.Generator().manual_seed(seed)


@dataclass(frozen=True, eq=False)
class GraphTensors:
    """A graph as the input of GCN layers.

    Parameters
    ----------
    features : FeatureMatrix
    edges : Edges
        The matrix D^(-1/2) (A + I) D^(-1/2).

    Examples
    --------
    >>> from graphprox import synthetic
    >>> GraphTensors.of(synthetic(nodes=140)).num_nodes
    140
    """

    features: FeatureMatrix
    edges: Edges

    @classmethod
    def of(cls, graph: Graph, *, normalize: str = "rows") -> GraphTensors:
        """Return the tensors of a graph.

        Parameters
        ----------
        graph : Graph
        normalize : {"rows", "none"}, default="rows"
            Whether each row of the features is scaled to an absolute sum of 1.

        Returns
        -------
        GraphTensors
        """
        return cls(FeatureMatrix.of(graph.x, normalize=normalize), to_gcn_edges(graph))

    @property
    def num_nodes(self) -> int:
        """Number of nodes."""
        return self.features.shape[0]


def to_gcn_edges(graph: Graph, mask: np.ndarray | None = None) -> Edges:
    """Return the edges of a graph as the input of GCN layers.

    Parameters
    ----------
    graph : Graph
    mask : ndarray of bool of shape (num_entries,), optional
        The entries of ``edge_index`` to keep; all by default.

    Returns
    -------
    Edges
    """
    index, weight = graph.edge_index, graph.edge_weight
    if mask is not None:
        index, weight = index[:, mask], None if weight is None else weight[mask]
    return GCNConv.prepare_edges(in_neighbor_matrix(index, weight, graph.num_nodes))


def drop_edges(graph: Graph, rate: float, generator: np.random.Generator) -> Edges:
    """Return the edges of a graph without a random share of them; the two directions of an edge are independent.

    Parameters
    ----------
    graph : Graph
    rate : float
        Probability that an entry of ``edge_index`` is dropped.
    generator : numpy.random.Generator

    Returns
    -------
    Edges
    """
    return to_gcn_edges(graph, generator.random(graph.num_entries) >= rate)


def sample_feature_mask(features: FeatureMatrix, rate: float, generator: torch.Generator) -> Tensor:
    """Return a random mask of feature columns: 1 to keep a column, 0 to mask it.

    Parameters
    ----------
    features : FeatureMatrix
    rate : float
        Probability that a column is masked.
    generator : torch.Generator

    Returns
    -------
    Tensor of shape (num_features,)
    """
    return (torch.rand(features.shape[1], generator=generator) >= rate).float()


class GCNLayers(nn.Module):
    """A stack of GCN layers with an activation between them.

    Parameters
    ----------
    channels : sequence of int
        Number of input features, then the size of each layer.
    generator : torch.Generator
        Source of the initial weights.
    activation : callable, default=ReLU
        Called with a number of channels, returns a module.
    final_activation : bool, default=False
        Whether an activation follows the last layer too.
    dropout : float, default=0.0
        Dropout of the input of all layers but the first.

    Examples
    --------
    >>> from graphprox import synthetic
    >>> tensors = GraphTensors.of(synthetic(nodes=140))
    >>> layers = GCNLayers([tensors.features.shape[1], 32, 16], generator=torch.Generator().manual_seed(0))
    >>> layers(tensors.features, tensors.edges).shape
    torch.Size([140, 16])
    """

    def __init__(
        self,
        channels: Sequence[int],
        *,
        generator: torch.Generator,
        activation: Callable[[int], nn.Module] = lambda _: nn.ReLU(),
        final_activation: bool = False,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.convolutions = nn.ModuleList(GCNConv(*ends, generator=generator) for ends in pairwise(channels))
        activated = channels[1:] if final_activation else channels[1:-1]
        self.activations = nn.ModuleList(activation(size) for size in activated)
        self.dropout = nn.Dropout(dropout)

    def forward(self, features: FeatureMatrix, edges: Edges, feature_mask: Tensor | None = None) -> Tensor:
        """Return the output of the last layer.

        Parameters
        ----------
        features : FeatureMatrix
        edges : Edges
        feature_mask : Tensor of shape (num_features,), optional
            Factor of each feature column, as returned by `sample_feature_mask`.

        Returns
        -------
        Tensor of shape (num_nodes, channels[-1])
        """
        h: Tensor | None = None
        for layer, convolution in enumerate(cast("Iterable[GCNConv]", self.convolutions)):
            if h is not None:
                matmul = self.dropout(h).mm
            elif feature_mask is None:
                matmul = features.matmul
            else:
                # Scaling the rows of the weight equals scaling the columns of the features, and is faster.
                matmul = lambda weight: features.matmul(weight * feature_mask[:, None])  # noqa: E731
            h = convolution.propagate(convolution.project(matmul), edges)
            if layer < len(self.activations):
                h = self.activations[layer](h)
        assert h is not None  # noqa: S101 - there is at least one layer
        return h


def minimize(
    module: nn.Module,
    compute_loss: Callable[[], Tensor],
    *,
    epochs: int,
    learning_rate: float | Callable[[int], float],
    weight_decay: float = 0.0,
    decoupled: bool = False,
    patience: int | None = None,
    parameters: Iterable[nn.Parameter] | None = None,
    after_step: Callable[[int], None] | None = None,
    progress: Progress | None = None,
) -> list[float]:
    """Train a module by Adam or AdamW, one step per epoch.

    Parameters
    ----------
    module : nn.Module
        Left in evaluation mode.
    compute_loss : callable
        Returns the loss of the current weights.
    epochs : int
    learning_rate : float or callable
        A callable maps an epoch, from 0, to its learning rate.
    weight_decay : float, default=0.0
    decoupled : bool, default=False
        Whether weight decay is decoupled from the gradient, as by AdamW.
    patience : int, optional
        Stop after this many epochs without a new lowest loss, and restore the weights with the lowest loss.
    parameters : iterable of nn.Parameter, optional
        The weights to train; all of the module by default.
    after_step : callable, optional
        Called with the number of the epoch after each step.
    progress : callable, optional
        Called as ``progress("training", done, epochs)``.

    Returns
    -------
    list of float
        The loss of each epoch.

    Raises
    ------
    TrainingError
        If the loss is not finite.
    """
    trained = list(module.parameters() if parameters is None else parameters)
    schedule = learning_rate if callable(learning_rate) else lambda _: learning_rate
    optimizer_class = torch.optim.AdamW if decoupled else torch.optim.Adam
    optimizer = optimizer_class(trained, lr=0.0, weight_decay=weight_decay)
    losses: list[float] = []
    lowest, best_state, epochs_since = float("inf"), None, 0
    module.train()
    with keep_freed_memory():
        for epoch in range(epochs):
            for group in optimizer.param_groups:
                group["lr"] = schedule(epoch)
            optimizer.zero_grad()
            loss = compute_loss()
            value = float(loss.detach())
            if not np.isfinite(value):
                raise TrainingError(
                    f"training diverged: the loss must be finite; it became {value} in epoch {epoch}: "
                    "lower learning_rate"
                )
            losses.append(value)
            if patience is not None:
                # The loss is that of the weights before the step.
                if value < lowest:
                    lowest, best_state, epochs_since = value, copy.deepcopy(module.state_dict()), 0
                else:
                    epochs_since += 1
                if epochs_since == patience:
                    break
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            if after_step is not None:
                after_step(epoch)
            if progress is not None:
                progress("training", epoch + 1, epochs)
    if best_state is not None:
        module.load_state_dict(best_state)
    module.eval()
    return losses


def to_vectors(tensor: Tensor) -> FloatArray:
    """Return an embedding as an array.

    Parameters
    ----------
    tensor : Tensor of shape (num_nodes, n_components)

    Returns
    -------
    ndarray of float32 of shape (num_nodes, n_components)

    Raises
    ------
    TrainingError
        If a value is not finite.
    """
    vectors: FloatArray = tensor.detach().cpu().numpy().astype(np.float32, copy=False)
    return raise_if_diverged(vectors, "lower learning_rate")


def to_edge_index(graph: Graph) -> Tensor:
    """Return the edges of a graph in PyG's format.

    Parameters
    ----------
    graph : Graph

    Returns
    -------
    Tensor of int64 of shape (2, num_entries)
    """
    return torch.tensor(np.ascontiguousarray(graph.edge_index), dtype=torch.int64)
