"""Model: an encoder and a head as a recipe describes them, and what they make of a graph."""

from __future__ import annotations

import warnings

import torch
from torch import Tensor, nn

from graphprox.arrays import FloatArray
from graphprox.errors import IgnoredInputWarning, ParameterError
from graphprox.graph import Graph
from graphprox.nn.encoder import Encoder
from graphprox.nn.features import FeatureMatrix
from graphprox.nn.head import Head
from graphprox.training.outcome import finite
from graphprox.training.recipe import Recipe


class Model(nn.Module):
    """The encoder, which makes embeddings, and the head, which only training needs; weights drawn by the recipe's seed.

    >>> from graphprox import synthetic
    >>> graph = synthetic(nodes=140)
    >>> Model(Recipe(), features=graph.num_features).embed(graph).shape
    (140, 256)
    """

    def __init__(self, recipe: Recipe, *, features: int, weighted: bool = False) -> None:
        super().__init__()
        rng = torch.Generator().manual_seed(recipe.seed)
        self.recipe = recipe
        self.features = features
        self.weighted = weighted
        self.encoder = Encoder(features, **recipe.encoder.model_dump(), weighted=weighted, rng=rng)
        self.head = Head(self.encoder.width, **recipe.head.model_dump(), rng=rng)

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return next(self.parameters()).device

    def feature_matrix(self, graph: Graph) -> FeatureMatrix:
        """The features of a graph as the encoder sees them."""
        if graph.num_features != self.features:
            raise ParameterError(
                f"a graph must have the {self.features:,} features that the model was trained on; "
                f"got {graph.num_features:,}"
            )
        return FeatureMatrix.of(graph.x, normalize=self.recipe.normalize, device=self.device)

    def edge_weight(self, graph: Graph) -> FloatArray | None:
        """The weights of a graph's edges, where the model knows weights."""
        if graph.edge_weight is not None and not self.weighted:
            warnings.warn(
                "the model was trained without edge weights: those of the graph are not used",
                IgnoredInputWarning,
                stacklevel=2,
            )
            return None
        return graph.edge_weight

    @torch.no_grad()
    def embed(self, graph: Graph) -> FloatArray:
        """The embedding of a graph, (nodes, width): the one trained on, or any other with the same features."""
        projected = self.encoder.project(self.feature_matrix(graph))
        edges = self.encoder.edges(
            graph.edge_index, self.edge_weight(graph), num_nodes=graph.num_nodes, device=self.device
        )
        remedy = f"lower optimizer.learning_rate (now {self.recipe.optimizer.learning_rate:g})"
        return finite(_on_cpu(self.encoder(projected, edges)), remedy)


def _on_cpu(tensor: Tensor) -> FloatArray:
    return tensor.detach().cpu().numpy()


def chosen_device(name: str = "auto") -> torch.device:
    """The device of a name; ``"auto"`` is the first at hand of CUDA, MPS and the CPU.

    >>> chosen_device("cpu")
    device(type='cpu')
    """
    usable = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    if name == "auto":
        return torch.device(next(each for each, there in usable.items() if there))
    try:
        device = torch.device(name)
    except RuntimeError:
        device = None
    if device is None or not usable.get(device.type, False):
        there = ", ".join(each for each, at_hand in usable.items() if at_hand)
        raise ParameterError(f"device must be auto or one that is at hand ({there}); got {name!r}")
    return device
