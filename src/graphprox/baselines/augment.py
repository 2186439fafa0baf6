"""What methods share that compare corrupted copies of a graph: the copies, columns standardised, a rate by epoch."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.autograd import Function

from graphprox.baselines.neural import Tensors, some_columns, some_edges
from graphprox.errors import TrainingError
from graphprox.graph import Graph
from graphprox.memory import pages_kept
from graphprox.nn.convolutions import Edges
from graphprox.nn.encoder import PReLU
from graphprox.proximity.descriptors import Progress

# -- copies of a graph ------------------------------------------------------------------------------------------------


class Copy(NamedTuple):
    """A graph of which something is missing: its edges, and which features are seen, (features,)."""

    edges: Edges
    kept: Tensor


class Copies:
    """Draws copies of a graph without a share of its edges and of its features.

    >>> from graphprox import synthetic
    >>> graph = synthetic(nodes=140)
    >>> copy = Copies(graph, Tensors.of(graph), seed=0).draw(edges=0.5, features=1.0)
    >>> copy.edges.pattern.num_entries < 140 + graph.num_entries, float(copy.kept.sum())
    (True, 0.0)
    """

    def __init__(self, graph: Graph, tensors: Tensors, seed: int) -> None:
        self.graph, self.tensors = graph, tensors
        self._rng, self._torch_rng = np.random.default_rng(seed), torch.Generator().manual_seed(seed)

    def draw(self, *, edges: float, features: float) -> Copy:
        """A copy, drawn anew; the shares are those that it is to lose."""
        left = some_edges(self.graph, edges, self._rng) if edges else self.tensors.edges
        return Copy(left, some_columns(self.tensors.features, features, self._torch_rng))


# -- columns of mean 0 and variance 1 ---------------------------------------------------------------------------------

CONSTANT = 1e-12  # a variance next to this is rounding, and its column is no column to look at


class _Standardised(Function):
    """By hand: autograd takes twice as long, and torch's batch norm eight times."""

    @staticmethod
    def forward(ctx: Any, h: Tensor, epsilon: float) -> tuple[Tensor, Tensor, Tensor]:
        mean = h.mean(0)
        scaled = h - mean
        variance = (scaled * scaled).mean(0)
        inverse = (variance + epsilon).rsqrt()
        scaled *= inverse
        ctx.save_for_backward(scaled, inverse)
        ctx.mark_non_differentiable(mean, variance)
        return scaled, mean, variance

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        scaled, inverse = ctx.saved_tensors
        upstream = gradients[0]
        product = upstream * scaled
        along = product.mean(0)
        to_h = torch.mul(scaled, along, out=product).neg_().add_(upstream).sub_(upstream.mean(0))
        return to_h.mul_(inverse), None


def standardised(h: Tensor) -> Tensor:
    """The columns with mean 0 and variance 1 over the rows; a constant one becomes zeros."""
    result: Tensor = _Standardised.apply(h, CONSTANT)[0]  # type: ignore[no-untyped-call]
    return result


class BatchNorm(nn.Module):
    """Columns standardised, then scaled and moved as is learned; after training, by the means seen in training.

    In training, values and gradients are those of torch's BatchNorm1d. Its running averages begin at mean 0 and
    variance 1, of which something is left for hundreds of steps: features whose rows sum to 1 have variances so small
    that this beginning would rule the embedding. Here averages are of what was seen alone, as Adam corrects its own;
    after as many steps as authors take, both are the same.
    """

    running_mean: Tensor
    running_variance: Tensor
    seen: Tensor  # the weight of all that was averaged so far; 1 in the end

    def __init__(self, channels: int, *, momentum: float = 0.01, epsilon: float = 1e-5) -> None:
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(channels)), nn.Parameter(torch.zeros(channels))
        self.momentum, self.epsilon = momentum, epsilon
        self.register_buffer("running_mean", torch.zeros(channels))
        self.register_buffer("running_variance", torch.zeros(channels))
        self.register_buffer("seen", torch.zeros(()))

    def forward(self, h: Tensor) -> Tensor:
        """(rows, channels) as the input."""
        if not self.training and self.seen > 0:
            scale = self.weight * (self.running_variance / self.seen + self.epsilon).rsqrt()
            return h * scale + (self.bias - self.running_mean / self.seen * scale)
        scaled, mean, variance = _Standardised.apply(h, self.epsilon)  # type: ignore[no-untyped-call]
        if self.training:
            unbiased = variance * (len(h) / (len(h) - 1))
            self.running_mean.lerp_(mean, self.momentum)
            self.running_variance.lerp_(unbiased, self.momentum)
            self.seen += self.momentum * (1 - self.seen)
        return torch.addcmul(self.bias, scaled, self.weight)


def norm_and_prelu(channels: int) -> nn.Module:
    """What BGRL puts after a layer of GCN, and Barlow Twins between two."""
    return nn.Sequential(BatchNorm(channels), PReLU(channels))


# -- training with a rate that changes --------------------------------------------------------------------------------


def warm_cosine(epoch: int, epochs: int, warm_up: int = 0) -> float:
    """The share of a learning rate to take: up in a straight line, then down to 0 along half a cosine.

    >>> [round(warm_cosine(epoch, epochs=6, warm_up=2), 2) for epoch in range(6)]
    [0.5, 1.0, 1.0, 0.85, 0.5, 0.15]
    """
    if epoch < warm_up:
        return (epoch + 1) / warm_up
    return (1 + math.cos(math.pi * (epoch - warm_up) / (epochs - warm_up))) / 2


def minimise_along(
    module: nn.Module,
    loss_of_epoch: Callable[[], Tensor],
    rate: Callable[[int], float],
    *,
    epochs: int,
    weight_decay: float = 0.0,
    decoupled: bool = True,
    after_step: Callable[[int], None] | None = None,
    progress: Progress | None = None,
) -> list[float]:
    """AdamW on a module, or Adam unless ``decoupled``, one step an epoch with a learning rate by epoch; the losses."""
    kind = torch.optim.AdamW if decoupled else torch.optim.Adam
    optimizer = kind(list(module.parameters()), lr=0.0, weight_decay=weight_decay)
    losses: list[float] = []
    module.train()
    with pages_kept():
        for epoch in range(epochs):
            for group in optimizer.param_groups:
                group["lr"] = rate(epoch)
            optimizer.zero_grad()
            loss = loss_of_epoch()
            losses.append(float(loss.detach()))
            if not math.isfinite(losses[-1]):
                raise TrainingError(
                    f"the loss must be finite; it was {losses[-1]} in epoch {epoch}: lower learning_rate"
                )
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            if after_step is not None:
                after_step(epoch)
            if progress is not None:
                progress("training", epoch + 1, epochs)
    module.eval()
    return losses
