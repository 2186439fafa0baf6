"""Evaluate the embedding of a graph: classification, link prediction, clustering, similarity.

Each task is a function of a graph and an embedding that returns scores::

    classify(graph, embedding)                     accuracy of a linear probe on the test nodes of each split
    classify_multilabel(graph, embedding, labels)  F1 scores of nodes that belong to several groups
    link_prediction(graph, embedding)              AUC and average precision of held-out edges
    clustering(graph, embedding)                   agreement of k-means clusters with classes
    similarity(graph, embedding)                   share of a node's nearest neighbors that are of its class

The embedding is not trained further, and training does not depend on the results.

Examples
--------
>>> import graphprox
>>> from graphprox import evaluation
>>> graph = graphprox.load("synthetic").graph
>>> evaluation.classify(graph, graph.x, n_splits=3)
accuracy 55.46 ± 0.98 %, macro F1 53.46 ± 2.15 % over 3 splits
"""

import lazy_loader

# Imported on first use, as the stub lists them: scikit-learn takes longer to import than most evaluations take to run.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
