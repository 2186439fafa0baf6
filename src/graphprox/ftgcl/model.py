"""Model: an encoder and a projection head, as a recipe describes them."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from graphprox._utils.arrays import FloatArray
from graphprox._utils.outcome import raise_if_diverged
from graphprox._utils.stacklevel import warn
from graphprox.errors import IgnoredInputWarning, ParameterError
from graphprox.ftgcl.recipe import Recipe
from graphprox.graph.graph import Graph
from graphprox.nn.encoders.base import ENCODERS, Encoder
from graphprox.nn.feature_directions import leading_directions
from graphprox.nn.features import FeatureMatrix, is_sparse
from graphprox.nn.head import ProjectionHead


class Model(nn.Module):
    """An encoder, which computes embeddings, and a projection head, which is used in training only.

    Parameters
    ----------
    recipe : Recipe
        Its encoder and head, with weights initialized from its random seed.
    num_features : int
        Number of features of the graphs it encodes.
    weighted : bool, default=False
        Whether their edges have weights.

    Examples
    --------
    >>> from graphprox import synthetic
    >>> graph = synthetic(nodes=140)
    >>> Model(Recipe(), num_features=graph.num_features).embed(graph).shape
    (140, 512)
    """

    def __init__(self, recipe: Recipe, *, num_features: int, weighted: bool = False) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(recipe.random_state)
        self.recipe = recipe
        self.num_features = num_features
        self.weighted = weighted
        self.in_channels = min(num_features, recipe.max_features or num_features)
        self.directions: Tensor | None
        is_reduced = self.in_channels < num_features
        self.register_buffer("directions", torch.zeros(num_features, self.in_channels) if is_reduced else None)
        self.encoder: Encoder = ENCODERS.lookup(recipe.encoder.name)(
            self.in_channels, recipe.encoder, weighted=weighted, generator=generator
        )
        self.head = ProjectionHead(self.encoder.n_components, **recipe.head.model_dump(), generator=generator)

    @property
    def device(self) -> torch.device:
        """The device of the weights."""
        return next(self.parameters()).device

    def check_features(self, graph: Graph) -> None:
        """Raise unless a graph has as many features as the model was trained on."""
        if graph.num_features != self.num_features:
            raise ParameterError(
                f"a graph must have the {self.num_features:,} features that the model was trained on; "
                f"got {graph.num_features:,}"
            )

    def feature_matrix(self, graph: Graph, rows: slice | None = None) -> FeatureMatrix:
        """Return the features of a graph, or of some of its nodes, as the encoder reads them."""
        self.check_features(graph)
        x = graph.x if rows is None else graph.x[rows]
        # Parts of a graph are sparse if the whole is, so that all are computed alike.
        return self.reduce(
            FeatureMatrix.of(x, normalize=self.recipe.normalize, device=self.device, sparse=is_sparse(graph.x))
        )

    def find_directions(self, graph: Graph) -> None:
        """Find the leading directions of the features of a graph, if its recipe allows fewer columns than it has."""
        if self.directions is not None:
            found = leading_directions(graph.x, self.in_channels, normalize=self.recipe.normalize)
            self.directions.copy_(torch.from_numpy(found))

    def reduce(self, features: FeatureMatrix) -> FeatureMatrix:
        """Return the products of features with the leading directions, or the features if there are no more columns."""
        if self.directions is None:
            return features
        dense = features.matmul(self.directions.to(torch.float32))
        return FeatureMatrix((features.shape[0], self.in_channels), dense, None, None)

    def edge_weight(self, graph: Graph) -> FloatArray | None:
        """Return the edge weights of a graph, or None if the model was trained without."""
        if graph.edge_weight is not None and not self.weighted:
            warn("the model was trained without edge weights: those of the graph are ignored", IgnoredInputWarning)
            return None
        return graph.edge_weight

    @torch.no_grad()
    def embed(self, graph: Graph) -> FloatArray:
        """Embed the nodes of a graph.

        Parameters
        ----------
        graph : Graph
            Graph with as many features as the model was trained on.

        Returns
        -------
        ndarray of shape (num_nodes, n_components)
        """
        projected = self.encoder.project(self.feature_matrix(graph))
        edges = self.encoder.prepare_edges(
            graph.edge_index, self.edge_weight(graph), num_nodes=graph.num_nodes, device=self.device
        )
        remedy = f"lower learning_rate (now {self.recipe.optimizer.learning_rate:g})"
        vectors: Tensor = self.encoder(projected, edges)
        return raise_if_diverged(vectors.detach().cpu().numpy(), remedy)


def select_device(name: str = "auto") -> torch.device:
    """Return the device of a name.

    Parameters
    ----------
    name : str, default="auto"
        ``"auto"`` is the first available of CUDA, MPS and CPU.

    Returns
    -------
    torch.device

    Examples
    --------
    >>> select_device("cpu")
    device(type='cpu')
    """
    available = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    if name == "auto":
        return torch.device(next(each for each, is_available in available.items() if is_available))
    try:
        device = torch.device(name)
    except RuntimeError:
        device = None
    if device is None or not available.get(device.type, False):
        usable = ", ".join(each for each, is_available in available.items() if is_available)
        raise ParameterError(f"device must be auto or an available one ({usable}); got {name!r}")
    return device
