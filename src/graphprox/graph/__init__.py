"""The graph, its splits and statistics, and conversions from and to other libraries."""

from graphprox.graph.arguments import UNKNOWN_LABEL
from graphprox.graph.checksum import graph_checksum
from graphprox.graph.graph import Graph
from graphprox.graph.splits import EdgeSplit, NodeSplit, edge_split, random_split
from graphprox.graph.stats import Statistics, edge_homophily, statistics
from graphprox.graph.validation import GraphLike, check_graph

__all__ = [
    "UNKNOWN_LABEL",
    "EdgeSplit",
    "Graph",
    "GraphLike",
    "NodeSplit",
    "Statistics",
    "check_graph",
    "edge_homophily",
    "edge_split",
    "graph_checksum",
    "random_split",
    "statistics",
]
