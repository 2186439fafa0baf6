"""What baselines with weights share: a graph as tensors, a source of chance, layers of GCN, and the loop."""

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

from graphprox.arrays import FloatArray, IntArray
from graphprox.errors import TrainingError
from graphprox.graph import Graph
from graphprox.memory import pages_kept
from graphprox.nn.convolutions import GCN, Edges, in_neighbours
from graphprox.nn.features import FeatureMatrix
from graphprox.proximity.descriptors import Progress
from graphprox.training.outcome import finite, told_apart


@contextmanager
def seeded(seed: int) -> Iterator[torch.Generator]:
    """Torch's own source of chance begins at a seed, and goes on afterwards as if nothing had been drawn.

    For what draws by itself, as dropout and PyG's layers do. The generator is for what takes one.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield torch.Generator().manual_seed(seed)


@dataclass(frozen=True, eq=False)
class Tensors:
    """A graph as layers of GCN take it: features, and D^(-1/2) (A + I) D^(-1/2)."""

    features: FeatureMatrix
    edges: Edges

    @classmethod
    def of(cls, graph: Graph, *, normalize: str = "rows") -> Tensors:
        """The features, each row scaled to sum 1 unless told, and the edges of a graph."""
        return cls(FeatureMatrix.of(graph.x, normalize=normalize), gcn_edges(graph))

    @property
    def nodes(self) -> int:
        """How many rows there are."""
        return self.features.shape[0]


def gcn_edges(graph: Graph, kept: np.ndarray | None = None) -> Edges:
    """The edges of a graph as GCN takes them; ``kept`` (entries,) tells which, all unless told."""
    index, weight = graph.edge_index, graph.edge_weight
    if kept is not None:
        index, weight = index[:, kept], None if weight is None else weight[kept]
    return GCN.edges(in_neighbours(index, weight, graph.num_nodes))


def some_edges(graph: Graph, dropped: float, rng: np.random.Generator) -> Edges:
    """The edges of a graph without a share of them, drawn anew; each direction of an edge is drawn for itself."""
    return gcn_edges(graph, rng.random(graph.num_entries) >= dropped)


def some_columns(features: FeatureMatrix, hidden: float, rng: torch.Generator) -> Tensor:
    """1 for the features to see and 0 for those to hide, (features,), drawn anew."""
    return (torch.rand(features.shape[1], generator=rng) >= hidden).float()


class GCNLayers(nn.Module):
    """Layers of GCN one after another, an activation between them and, with ``last``, after the last one too.

    >>> from graphprox import synthetic
    >>> tensors = Tensors.of(synthetic(nodes=140))
    >>> layers = GCNLayers([tensors.features.shape[1], 32, 16], rng=torch.Generator().manual_seed(0))
    >>> layers(tensors.features, tensors.edges).shape
    torch.Size([140, 16])
    """

    def __init__(
        self,
        widths: Sequence[int],
        *,
        rng: torch.Generator,
        activation: Callable[[int], nn.Module] = lambda _: nn.ReLU(),
        last: bool = False,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.convolutions = nn.ModuleList(GCN(*ends, rng=rng) for ends in pairwise(widths))
        active = widths[1:] if last else widths[1:-1]
        self.activations = nn.ModuleList(activation(width) for width in active)
        self.dropout = nn.Dropout(dropout)

    def forward(self, features: FeatureMatrix, edges: Edges, kept: Tensor | None = None) -> Tensor:
        """From features, of which only those ``kept`` count, to the last layer's output, (nodes, width)."""
        h: Tensor | None = None
        for layer, convolution in enumerate(cast("Iterable[GCN]", self.convolutions)):
            if h is None:
                times = features.times if kept is None else lambda weight: features.times(weight * kept[:, None])
            else:
                times = self.dropout(h).mm
            h = convolution.propagate(convolution.project(times), edges)
            if layer < len(self.activations):
                h = self.activations[layer](h)
        assert h is not None  # noqa: S101 - there is a layer
        return h


def minimise(
    module: nn.Module,
    loss_of_epoch: Callable[[], Tensor],
    *,
    epochs: int,
    learning_rate: float,
    weight_decay: float = 0.0,
    patience: int | None = None,
    parameters: Iterable[nn.Parameter] | None = None,
    after_step: Callable[[int], None] | None = None,
    progress: Progress | None = None,
) -> list[float]:
    """Adam on a module, one step an epoch; the losses.

    With ``patience`` training ends after so many epochs without a new lowest loss, and the module is as it was at the
    lowest. ``after_step`` hears of each epoch that is done.
    """
    chosen = list(module.parameters() if parameters is None else parameters)
    optimizer = torch.optim.Adam(chosen, lr=learning_rate, weight_decay=weight_decay)
    losses: list[float] = []
    lowest, best, since = float("inf"), None, 0
    module.train()
    with pages_kept():
        for epoch in range(epochs):
            optimizer.zero_grad()
            loss = loss_of_epoch()
            value = float(loss.detach())
            if not np.isfinite(value):
                raise TrainingError(f"the loss must be finite; it was {value} in epoch {epoch}: lower learning_rate")
            losses.append(value)
            if patience is not None:
                # The loss is that of the weights before the step.
                if value < lowest:
                    lowest, best, since = value, copy.deepcopy(module.state_dict()), 0
                else:
                    since += 1
                if since == patience:
                    break
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            if after_step is not None:
                after_step(epoch)
            if progress is not None:
                progress("training", epoch + 1, epochs)
    if best is not None:
        module.load_state_dict(best)
    module.eval()
    return losses


def as_embedding(tensor: Tensor) -> FloatArray:
    """A tensor as an array, refused unless every number is finite; a warning if it tells no node from another."""
    embedding: FloatArray = tensor.detach().cpu().numpy().astype(np.float32, copy=False)
    return told_apart(finite(embedding, "lower learning_rate"))


def edge_index_of(graph: Graph) -> Tensor:
    """The edges as PyG takes them, (2, entries)."""
    return torch.tensor(np.ascontiguousarray(graph.edge_index), dtype=torch.int64)


def dense_features(graph: Graph, *, normalize: bool = True) -> Tensor:
    """The features as a dense tensor, each row scaled to sum 1 unless told, (nodes, features)."""
    x = graph.x if isinstance(graph.x, np.ndarray) else graph.x.toarray()
    x = x.astype(np.float32, copy=True)
    if normalize:
        sums = np.abs(x).sum(axis=1, keepdims=True)
        x /= np.where(sums == 0, 1, sums)
    return torch.from_numpy(x)


def known(labels: IntArray, nodes: IntArray) -> Tensor:
    """The labels of some nodes as a tensor."""
    return torch.tensor(labels[nodes], dtype=torch.int64)
