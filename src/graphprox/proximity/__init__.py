"""From a graph to its proximity views, in the order the data flows.

graph ─► descriptor (descriptors, topology) ─► search ─► Ranking ─► ranking.graph(k): the view's edges
"""

from graphprox.proximity.descriptors import Descriptor, features, neighbourhood
from graphprox.proximity.quality import Quality, homophily_at, quality
from graphprox.proximity.ranking import Ranking
from graphprox.proximity.search import rank
from graphprox.proximity.subgraphs import sampled_subgraph
from graphprox.proximity.topology import topology
from graphprox.proximity.views import VIEWS, rank_view

__all__ = [
    "VIEWS",
    "Descriptor",
    "Quality",
    "Ranking",
    "features",
    "homophily_at",
    "neighbourhood",
    "quality",
    "rank",
    "rank_view",
    "sampled_subgraph",
    "topology",
]
