"""Node embeddings without labels, from three kinds of proximity: edges, features, local structure.

>>> import graphprox
>>> graph = graphprox.load("synthetic").graph
>>> graph.without_labels().y is None
True
"""

from graphprox.datasets import CATALOGUE, Dataset, load_dataset, synthetic
from graphprox.errors import (
    DatasetError,
    GraphError,
    GraphproxError,
    GraphproxWarning,
    IgnoredInputWarning,
    LowRecallWarning,
    ParameterError,
    ReadError,
    StructuralFeaturesWarning,
    WriteError,
)
from graphprox.graph import Graph
from graphprox.io import read_graph, write_embedding
from graphprox.loading import load
from graphprox.splits import EdgeSplit, NodeSplit, edge_split, random_split
from graphprox.statistics import Statistics, edge_homophily, statistics

__version__ = "0.1.0"

__all__ = [
    "CATALOGUE",
    "Dataset",
    "DatasetError",
    "EdgeSplit",
    "Graph",
    "GraphError",
    "GraphproxError",
    "GraphproxWarning",
    "IgnoredInputWarning",
    "LowRecallWarning",
    "NodeSplit",
    "ParameterError",
    "ReadError",
    "Statistics",
    "StructuralFeaturesWarning",
    "WriteError",
    "edge_homophily",
    "edge_split",
    "load",
    "load_dataset",
    "random_split",
    "read_graph",
    "statistics",
    "synthetic",
    "write_embedding",
]
