"""Node embeddings without labels, from three kinds of proximity: edges, features, local structure.

>>> import graphprox
>>> graph = graphprox.load("synthetic").graph
>>> graphprox.FTGCL(steps=2, width=8).fit_transform(graph).shape
(840, 8)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from graphprox.datasets import CATALOGUE, Dataset, load_dataset, synthetic
from graphprox.embedding import Embedding
from graphprox.errors import (
    DamagedCheckpointWarning,
    DatasetError,
    GraphError,
    GraphproxError,
    GraphproxWarning,
    IgnoredInputWarning,
    LowRecallWarning,
    ParameterError,
    ReadError,
    SameVectorsWarning,
    StructuralFeaturesWarning,
    TrainingError,
    WriteError,
)
from graphprox.graph import Graph
from graphprox.io import read_embedding, read_graph, write_embedding
from graphprox.loading import load
from graphprox.similarity import nearest
from graphprox.splits import EdgeSplit, NodeSplit, edge_split, random_split
from graphprox.statistics import Statistics, edge_homophily, statistics

if TYPE_CHECKING:
    from graphprox.methods.estimators import FGCL, FTGCL, FTGCLNL, FTGRACE, GRACE, PEGCL, TGCL, FTGCLPlus, GraphEmbedder
    from graphprox.methods.family import recipe_for
    from graphprox.training.recipe import Recipe

__version__ = "0.1.0"

# What is imported when it is asked for: torch takes longer to import than most of the rest takes to run.
_LATER = {
    **dict.fromkeys(
        ("FGCL", "FTGCL", "FTGCLNL", "FTGCLPlus", "FTGRACE", "GRACE", "GraphEmbedder", "PEGCL", "TGCL"),
        "methods.estimators",
    ),
    "Recipe": "training.recipe",
    "recipe_for": "methods.family",
}

__all__ = [
    "CATALOGUE",
    "FGCL",
    "FTGCL",
    "FTGCLNL",
    "FTGRACE",
    "GRACE",
    "PEGCL",
    "TGCL",
    "DamagedCheckpointWarning",
    "Dataset",
    "DatasetError",
    "EdgeSplit",
    "Embedding",
    "FTGCLPlus",
    "Graph",
    "GraphEmbedder",
    "GraphError",
    "GraphproxError",
    "GraphproxWarning",
    "IgnoredInputWarning",
    "LowRecallWarning",
    "NodeSplit",
    "ParameterError",
    "ReadError",
    "Recipe",
    "SameVectorsWarning",
    "Statistics",
    "StructuralFeaturesWarning",
    "TrainingError",
    "WriteError",
    "edge_homophily",
    "edge_split",
    "load",
    "load_dataset",
    "nearest",
    "random_split",
    "read_embedding",
    "read_graph",
    "recipe_for",
    "statistics",
    "synthetic",
    "write_embedding",
]


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'graphprox' has no attribute {name!r}")
    return getattr(import_module(f"graphprox.{_LATER[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
