"""Views as transforms of PyTorch Geometric."""

from __future__ import annotations

from typing import Any

import torch
from torch_geometric.data import Data
from torch_geometric.transforms import BaseTransform

from graphprox._utils.random import RandomState
from graphprox.graph.conversion import from_pyg
from graphprox.views.base import rank_view


class _Proximity(BaseTransform):  # type: ignore[misc]
    """Add edges from each node to its ``k`` most similar nodes."""

    view = ""

    def __init__(
        self, k: int = 6, *, random_state: RandomState = 0, attribute: str | None = None, **options: Any
    ) -> None:
        self.k = k
        self.random_state = random_state
        self.attribute = attribute or f"{self.view}_edge_index"
        self.options = options

    def forward(self, data: Data) -> Data:
        """Add the edges to a copy of the data."""
        graph = from_pyg(data)
        ranking = rank_view(graph, self.view, k_max=self.k, random_state=self.random_state, options=self.options)
        data[self.attribute] = torch.from_numpy(ranking.edge_index(self.k).copy())
        return data

    def __repr__(self) -> str:
        return f"{type(self).__name__}(k={self.k}, random_state={self.random_state})"


class FeatureProximity(_Proximity):
    """Add edges from each node to the nodes with the most similar features.

    Parameters
    ----------
    k : int, default=6
        Number of neighbors per node.
    random_state : int, RandomState, Generator or None, default=0
        Seed of ties.
    attribute : str, default="feature_edge_index"
        Attribute of the data that is set; ``"edge_index"`` replaces the edges of the graph.
    **options : object
        Options of `feature_descriptor`.

    Examples
    --------
    >>> from graphprox import synthetic
    >>> FeatureProximity(k=3)(synthetic(nodes=140).to_pyg()).feature_edge_index.shape
    torch.Size([2, 420])
    """

    view = "feature"


class TopologyProximity(_Proximity):
    """Add edges from each node to the nodes with the most similar local structure.

    Parameters
    ----------
    k : int, default=6
        Number of neighbors per node.
    random_state : int, RandomState, Generator or None, default=0
        Seed of random walks, landmarks and ties.
    attribute : str, default="topology_edge_index"
        Attribute of the data that is set; ``"edge_index"`` replaces the edges of the graph.
    **options : object
        Options of `topology_descriptor`.

    Examples
    --------
    >>> from graphprox import synthetic
    >>> TopologyProximity(k=3)(synthetic(nodes=140).to_pyg()).topology_edge_index.shape
    torch.Size([2, 420])
    """

    view = "topology"
