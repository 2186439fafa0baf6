"""Multi-label classification: nodes that belong to several groups at once, in the protocol of DeepWalk."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.linear_model import LogisticRegression

from graphprox._utils.arrays import IntArray, to_array
from graphprox._utils.checks import check_positive
from graphprox._utils.progress import current_progress
from graphprox._utils.random import RandomState, check_seed, make_generator
from graphprox.datasets.dataset import Dataset
from graphprox.errors import GraphError, ParameterError
from graphprox.evaluation.alignment import EmbeddingLike, align_to_graph
from graphprox.evaluation.inputs import Floats, Rows, check_rows, limit_to_one_thread
from graphprox.evaluation.scores import MultilabelScores, MultilabelSplitScore
from graphprox.evaluation.span import Span
from graphprox.graph.graph import Graph
from graphprox.graph.validation import check_graph

TRAIN_SHARE = 0.5  # of the labeled nodes, as in the tables of node2vec
Indicator: TypeAlias = NDArray[np.bool_]


def classify_multilabel(
    graph: Graph | Dataset,
    embedding: EmbeddingLike,
    labels: ArrayLike | sp.csr_array,
    *,
    train_size: float = TRAIN_SHARE,
    n_splits: int = 10,
    random_state: RandomState = 0,
    C: float = 1.0,  # noqa: N803 - as scikit-learn names it
) -> MultilabelScores:
    """Measure how well the groups of nodes, of which a node may have several, are predicted from an embedding.

    The protocol is that of DeepWalk: a logistic regression for each class against the rest, on vectors that are not
    scaled, is fitted to a share of the labeled nodes. A test node that has k labels is predicted to have the k classes
    of the highest probability.

    Parameters
    ----------
    graph : Graph or Dataset
        Its own labels are ignored.
    embedding : Embedding, array-like or sparse matrix of shape (num_nodes, n_components)
        An `Embedding` is aligned to the nodes by their ids; a matrix has one row per node, in the order of the nodes.
    labels : array-like or sparse matrix of shape (num_nodes, n_classes)
        Whether a node has a label: booleans, or 0 and 1. Nodes without any label are in no part of a split;
        :func:`graphprox.io.read_label_sets` reads a file.
    train_size : float, default=0.5
        Share of the labeled nodes to train on; DeepWalk's tables have 0.1 to 0.9.
    n_splits : int, default=10
        Number of random splits.
    random_state : int, RandomState, Generator or None, default=0
        Random seed of the first split; the following ones use the following seeds.
    C : float, default=1.0
        Inverse strength of the penalty, as in scikit-learn.

    Returns
    -------
    MultilabelScores
        Micro and macro F1 on the test nodes.

    Examples
    --------
    >>> from graphprox import evaluation, synthetic
    >>> graph = synthetic()
    >>> groups = np.stack([graph.y == 0, graph.y == 1, graph.y >= 1], axis=1)  # nodes of class 1 have two labels
    >>> scores = evaluation.classify_multilabel(graph, graph.x, groups, n_splits=2)
    >>> bool(scores.micro_f1.mean() > scores.macro_f1.mean())
    True
    """
    if not 0 < train_size < 1:
        raise ParameterError(f"train_size must be a share between 0 and 1, both excluded; got {train_size!r}")
    check_positive(n_splits=n_splits)
    checked, first = check_graph(graph), check_seed(random_state)
    rows = check_rows(align_to_graph(checked, embedding))
    indicator = check_indicator(labels, n_rows=checked.num_nodes)
    nodes = np.flatnonzero(indicator.any(axis=1))
    n_train = int(train_size * len(nodes))
    if not 0 < n_train < len(nodes):
        raise GraphError(
            f"multi-label classification needs nodes to train on and to test; got {n_train} and "
            f"{len(nodes) - n_train} of {len(nodes)} nodes with labels: change train_size"
        )
    progress, scores = current_progress(), []
    for done in range(n_splits):
        if progress is not None:
            progress("splits", done, n_splits)
        order = nodes[make_generator(first + done, "multilabel").permutation(len(nodes))]
        scores.append(_score_split(rows, indicator, np.sort(order[:n_train]), np.sort(order[n_train:]), C))
    return MultilabelScores(tuple(scores))


def _score_split(rows: Rows, indicator: Indicator, train: IntArray, test: IntArray, c: float) -> MultilabelSplitScore:
    # liblinear regularizes the intercept, so that centering would change the solution.
    span = Span.from_rows(rows, train, center=False)
    with limit_to_one_thread():
        scores = _class_scores(span.coordinates, indicator[train], span.transform(rows[test]), c)
    return f1_scores(indicator[test], choose_most_probable(scores, indicator[test].sum(axis=1)))


def _class_scores(train_rows: Floats, indicator: Indicator, rows: Floats, c: float) -> Floats:
    """Return the log odds of every class for every row, (n_rows, n_classes)."""
    # The order of log odds is that of probabilities, which round to 1 for several classes at once.
    scores = np.empty((len(rows), indicator.shape[1]))
    for number, is_member in enumerate(indicator.T):
        if is_member.all() or not is_member.any():  # nothing to learn: all nodes, or none
            scores[:, number] = np.inf if is_member.all() else -np.inf
            continue
        classifier = LogisticRegression(solver="liblinear", C=c).fit(train_rows, is_member)
        scores[:, number] = classifier.decision_function(rows)
    return scores


def choose_most_probable(scores: Floats, counts: IntArray) -> Indicator:
    """Return for each row the classes of its highest scores, as many as given.

    Parameters
    ----------
    scores : ndarray of shape (n_rows, n_classes)
    counts : ndarray of shape (n_rows,)
        Number of classes of each row.

    Returns
    -------
    ndarray of bool of shape (n_rows, n_classes)

    Examples
    --------
    >>> choose_most_probable(np.array([[0.2, 0.9, 0.5], [0.1, 0.0, 0.3]]), np.array([2, 1])).astype(int)
    array([[0, 1, 1],
           [0, 0, 1]])
    """
    order = np.argsort(-scores, axis=1, kind="stable")
    chosen = np.zeros(scores.shape, bool)
    np.put_along_axis(chosen, order, np.arange(scores.shape[1]) < np.asarray(counts)[:, None], axis=1)
    return chosen


def f1_scores(true: Indicator, predicted: Indicator) -> MultilabelSplitScore:
    """Return micro and macro F1; a class that is neither true nor predicted has an F1 of 0, as in scikit-learn."""
    hits = (true & predicted).sum(axis=0)
    totals = true.sum(axis=0) + predicted.sum(axis=0)
    return MultilabelSplitScore(
        micro_f1=float(2 * hits.sum() / max(1, totals.sum())),
        macro_f1=float((2 * hits / np.maximum(1, totals)).mean()),
    )


def check_indicator(labels: ArrayLike | sp.csr_array, *, n_rows: int) -> Indicator:
    """Return labels as a boolean matrix without the classes that no node has; raise unless it is one row per node."""
    matrix: NDArray[Any] = labels.toarray() if sp.issparse(labels) else to_array(labels, "labels")
    if matrix.ndim != 2 or matrix.shape[0] != n_rows:
        raise ParameterError(
            f"labels must be a matrix of one row per node, a column per class; got shape {matrix.shape} for {n_rows} "
            "nodes: for one label per node, see classify"
        )
    if matrix.dtype.kind not in "biuf" or not np.isin(matrix, (0, 1)).all():
        raise ParameterError("labels must be booleans, or 0 and 1; got other values")
    indicator: Indicator = matrix.astype(bool)
    indicator = indicator[:, indicator.any(axis=0)]
    if indicator.shape[1] < 2:
        raise GraphError(f"multi-label classification needs at least two classes; got {indicator.shape[1]}")
    return indicator
