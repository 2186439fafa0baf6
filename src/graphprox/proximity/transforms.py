"""The proximity views as transforms of PyG: ``T.Compose([T.NormalizeFeatures(), FeatureProximity(k=6)])``."""

from __future__ import annotations

from typing import Any

import torch
from torch_geometric.data import Data
from torch_geometric.transforms import BaseTransform

from graphprox.interop import from_pyg
from graphprox.proximity.views import rank_view


class _Proximity(BaseTransform):  # type: ignore[misc]
    """Adds edges from each node to its ``k`` nearest as ``data[attribute]``; ``edge_index`` replaces the graph's."""

    view = ""

    def __init__(self, k: int = 6, *, seed: int = 0, attribute: str | None = None, **options: Any) -> None:
        self.k = k
        self.seed = seed
        self.attribute = attribute or f"{self.view}_edge_index"
        self.options = options

    def forward(self, data: Data) -> Data:
        ranking = rank_view(from_pyg(data), self.view, k_max=self.k, seed=self.seed, options=self.options)
        data[self.attribute] = torch.from_numpy(ranking.graph(self.k).copy())
        return data

    def __repr__(self) -> str:
        return f"{type(self).__name__}(k={self.k}, seed={self.seed})"


class FeatureProximity(_Proximity):
    """Adds ``feature_edge_index``: edges from each node to the ``k`` nodes of the most similar features."""

    view = "feature"


class TopologyProximity(_Proximity):
    """Adds ``topology_edge_index``: edges from each node to the ``k`` nodes of the most similar local structure."""

    view = "topology"
