"""Evaluate the embedding of a graph: classification, link prediction, clustering, similarity.

Each task is a function of a graph and an embedding that returns scores::

    classify(graph, embedding)         accuracy of a linear probe on the test nodes of each split
    link_prediction(graph, embedding)  AUC and average precision of held-out edges
    clustering(graph, embedding)       agreement of k-means clusters with classes
    similarity(graph, embedding)       share of a node's nearest neighbors that are of its class

The embedding is never trained further, and training never sees what is measured here.

Examples
--------
>>> import graphprox
>>> from graphprox import evaluation
>>> graph = graphprox.load("synthetic").graph
>>> evaluation.classify(graph, graph.x, n_splits=3)
accuracy 54.22 ± 0.37 %, macro F1 53.84 ± 0.44 % over 3 splits
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graphprox.evaluation.classification import classify
    from graphprox.evaluation.clusters import clustering
    from graphprox.evaluation.links import link_prediction
    from graphprox.evaluation.protocols import PROTOCOLS, Protocol, get_protocol
    from graphprox.evaluation.retrieval import similarity
    from graphprox.evaluation.scores import (
        ClassificationScores,
        ClusteringScores,
        LinkScores,
        SimilarityScores,
        SplitScore,
    )

# Imported on first use: scikit-learn takes longer to import than most evaluations take to run.
_MODULES = {
    "PROTOCOLS": "protocols",
    "ClassificationScores": "scores",
    "ClusteringScores": "scores",
    "LinkScores": "scores",
    "Protocol": "protocols",
    "SimilarityScores": "scores",
    "SplitScore": "scores",
    "classify": "classification",
    "clustering": "clusters",
    "get_protocol": "protocols",
    "link_prediction": "links",
    "similarity": "retrieval",
}

__all__ = [
    "PROTOCOLS",
    "ClassificationScores",
    "ClusteringScores",
    "LinkScores",
    "Protocol",
    "SimilarityScores",
    "SplitScore",
    "classify",
    "clustering",
    "get_protocol",
    "link_prediction",
    "similarity",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
