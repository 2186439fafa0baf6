"""The linear probe: a logistic regression on a frozen embedding."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, f1_score
from sklearn.preprocessing import normalize

from graphprox.embedding import as_vectors
from graphprox.errors import GraphError, ParameterError
from graphprox.graph import UNKNOWN_LABEL
from graphprox.splits import NodeSplit

STRENGTHS = tuple(10.0**power for power in range(-2, 5))  # of the penalty, inverse, as scikit-learn's C
MOST_ITERATIONS = 1000


@dataclass(frozen=True)
class Score:
    """How many nodes a probe gets right: of the test nodes, and of the validation nodes, by which ``c`` was chosen."""

    accuracy: float
    macro_f1: float
    validation_accuracy: float
    c: float


def probe(embedding: ArrayLike, y: ArrayLike, split: NodeSplit) -> Score:
    """Learn classes from the training nodes by an l2-regularised logistic regression, and count on the test nodes.

    Rows are scaled to length 1. The strength of the penalty is the one that does best on the validation nodes, the
    stronger where two do; test nodes play no part in any choice.

    >>> from graphprox import random_split, synthetic
    >>> graph = synthetic()
    >>> score = probe(graph.x, graph.y, random_split(graph, seed=0))
    >>> 0.4 < score.accuracy < 0.7
    True
    """
    vectors, labels = normalize(as_vectors(embedding).astype(np.float64)), np.asarray(y)
    if labels.shape != (len(vectors),):
        raise ParameterError(f"labels must name a class per row; got shape {labels.shape} for {len(vectors)} rows")
    for name, nodes in (("train", split.train), ("validation", split.validation), ("test", split.test)):
        if len(nodes) == 0 or (labels[nodes] == UNKNOWN_LABEL).any():
            raise GraphError(f"a probe needs {name} nodes, all with a known class; got some without, or none")
    if len(np.unique(labels[split.train])) < 2:
        raise GraphError("a probe must learn from two classes or more; got one among the training nodes")
    # The intercept has no penalty, so that a shift of all rows changes nothing but how fast the solver gets there.
    vectors -= vectors[split.train].mean(axis=0)
    best: tuple[float, LogisticRegression] | None = None
    for strength in STRENGTHS:
        classifier = _fitted(vectors[split.train], labels[split.train], strength)
        right = float(accuracy_score(labels[split.validation], classifier.predict(vectors[split.validation])))
        if best is None or right > best[0]:
            best = right, classifier
    assert best is not None  # noqa: S101 - there are strengths to try
    predicted, truth = best[1].predict(vectors[split.test]), labels[split.test]
    return Score(
        accuracy=float(accuracy_score(truth, predicted)),
        macro_f1=float(f1_score(truth, predicted, average="macro")),
        validation_accuracy=best[0],
        c=float(best[1].C),
    )


def _fitted(vectors: np.ndarray, labels: np.ndarray, strength: float) -> LogisticRegression:
    with warnings.catch_warnings():
        # A weak penalty may not converge; then it does not do best on the validation nodes, or it does, and is right.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return LogisticRegression(C=strength, max_iter=MOST_ITERATIONS, tol=1e-5).fit(vectors, labels)
