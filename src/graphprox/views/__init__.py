"""Proximity views of a graph.

graph ─► descriptor (feature, topology, neighborhood) ─► search ─► Ranking ─► ranking.edge_index(k)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from graphprox.views.base import VIEWS, Descriptor, View, ViewOptions, rank_view, register_view
from graphprox.views.feature import FeatureOptions, feature_descriptor
from graphprox.views.neighborhood import neighborhood_descriptor
from graphprox.views.ranking import Ranking
from graphprox.views.search import rank
from graphprox.views.summary import ViewStatistics, homophily_at, view_statistics
from graphprox.views.topology import TopologyOptions, topology_descriptor

if TYPE_CHECKING:
    from graphprox.views._transforms import FeatureProximity, TopologyProximity
    from graphprox.views.local_structure.subgraphs import sample_subgraph
    from graphprox.views.local_structure.walks import random_walks

# Imported on first access: torch and numba take seconds to import.
_LAZY = {
    "FeatureProximity": "_transforms",
    "TopologyProximity": "_transforms",
    "random_walks": "local_structure.walks",
    "sample_subgraph": "local_structure.subgraphs",
}

__all__ = [
    "VIEWS",
    "Descriptor",
    "FeatureOptions",
    "FeatureProximity",
    "Ranking",
    "TopologyOptions",
    "TopologyProximity",
    "View",
    "ViewOptions",
    "ViewStatistics",
    "feature_descriptor",
    "homophily_at",
    "neighborhood_descriptor",
    "random_walks",
    "rank",
    "rank_view",
    "register_view",
    "sample_subgraph",
    "topology_descriptor",
    "view_statistics",
]


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_LAZY[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
