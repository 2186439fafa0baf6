"""Node classification by a linear probe."""

from __future__ import annotations

from collections.abc import Sequence

from graphprox._utils.progress import current_progress
from graphprox._utils.random import RandomState
from graphprox.datasets.dataset import Dataset
from graphprox.errors import ParameterError
from graphprox.evaluation.alignment import EmbeddingLike, align_to_graph
from graphprox.evaluation.inputs import get_labels
from graphprox.evaluation.protocols import Protocol, get_protocol
from graphprox.evaluation.scores import ClassificationScores
from graphprox.graph.graph import Graph
from graphprox.graph.splits import NodeSplit
from graphprox.graph.validation import check_graph


def classify(
    graph: Graph | Dataset,
    embedding: EmbeddingLike,
    *,
    protocol: str | Protocol = "random",
    n_splits: int = 10,
    random_state: RandomState = 0,
    splits: Sequence[NodeSplit] | None = None,
) -> ClassificationScores:
    """Measure how well a linear classifier predicts the classes of nodes from an embedding.

    Parameters
    ----------
    graph : Graph or Dataset
        A graph with labels. The protocols ``"public"`` and ``"dgi"`` need a `Dataset` with published splits.
    embedding : Embedding, array-like or sparse matrix of shape (num_nodes, n_components)
        An `Embedding` is aligned to the nodes by their ids; a matrix has one row per node, in the order of the nodes.
    protocol : {"random", "public", "grace", "dgi"} or Protocol, default="random"
        How nodes are split, and which probe is fitted.
    n_splits : int, default=10
        Number of random splits. Published splits are all used.
    random_state : int, RandomState, Generator or None, default=0
        Random seed of the first split; the following ones use the following seeds.
    splits : sequence of NodeSplit, optional
        Splits to use instead of those of the protocol.

    Returns
    -------
    ClassificationScores

    Examples
    --------
    >>> from graphprox import evaluation, synthetic
    >>> graph = synthetic()
    >>> scores = evaluation.classify(graph, graph.x, n_splits=2)
    >>> scores
    accuracy 54.76 ± 0.00 %, macro F1 52.42 ± 1.91 % over 2 splits
    >>> round(scores.mean, 4)
    0.5476
    """
    chosen = protocol if isinstance(protocol, Protocol) else get_protocol(protocol)
    if splits is None:
        splits = chosen.splits(graph, n_splits, random_state)
    elif not splits:
        raise ParameterError("splits must have at least one split; got none: leave it out for those of the protocol")
    checked = check_graph(graph)
    labels, vectors = get_labels(checked), align_to_graph(checked, embedding)
    progress, scores = current_progress(), []
    for done, split in enumerate(splits):
        if progress is not None:
            progress("splits", done, len(splits))
        scores.append(chosen.probe.evaluate(vectors, labels, split))
    return ClassificationScores(tuple(scores))
