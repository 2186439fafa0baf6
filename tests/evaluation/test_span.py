"""Training rows in few coordinates."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression

from graphprox import random_split
from graphprox.evaluation.inputs import unit_rows
from graphprox.evaluation.span import Span

WIDTHS = [20, 200]  # fewer and more columns than there are training rows
FORMS = {"dense": np.asarray, "sparse": sp.csr_array}


@pytest.fixture(params=WIDTHS)
def rows(request, graph, smoothed):
    return unit_rows(smoothed(graph, request.param))


@pytest.fixture(scope="module")
def train(graph):
    return random_split(graph, seed=3).train


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("centred", [True, False])
def test_products_with_training_rows_stay(rows, train, form, centred):
    span = Span.of(FORMS[form](rows), train, centred=centred)
    shift = rows[train].mean(axis=0) if centred else 0
    expected = (rows - shift) @ (rows[train] - shift).T
    assert span.coordinates.shape[1] <= min(rows.shape[1], len(train) - centred)  # n points lie in n - 1 dimensions
    assert span.located(FORMS[form](rows)) @ span.coordinates.T == pytest.approx(expected, abs=1e-8)
    assert span.located(FORMS[form](rows)[train]) == pytest.approx(span.coordinates, abs=1e-8)


@pytest.mark.parametrize("form", FORMS)
def test_weights_give_the_same_scores_in_columns_as_in_coordinates(rows, train, form):
    span = Span.of(FORMS[form](rows), train, centred=True)
    along = np.random.default_rng(0).normal(size=(7, span.coordinates.shape[1]))
    assert span.scores(FORMS[form](rows), along) == pytest.approx(span.located(FORMS[form](rows)) @ along.T, abs=1e-7)
    assert span.weights(along).shape == (7, rows.shape[1])


@pytest.mark.parametrize("solver", ["lbfgs", "liblinear"])
def test_a_regression_learns_the_same_in_fewer_coordinates(graph, rows, train, solver):
    """Centred for a free intercept, as it is for one with a penalty: every node has the same odds."""
    odds, labels = [], graph.y[train] % 2
    span = Span.of(rows, train, centred=solver == "lbfgs")
    for vectors in (rows, span.located(rows)):
        classifier = LogisticRegression(C=10, max_iter=10**5, tol=1e-9, solver=solver)
        odds.append(classifier.fit(vectors[train], labels).predict_proba(vectors))
    assert odds[0] == pytest.approx(odds[1], abs=1e-4)


def test_rows_that_do_not_differ_have_one_coordinate_of_zeros():
    span = Span.of(np.ones((6, 9)), np.arange(4), centred=True)
    assert span.coordinates.tolist() == np.zeros((4, 1)).tolist()
    assert span.scores(np.ones((6, 9)), np.ones((3, 1))).tolist() == np.zeros((6, 3)).tolist()
