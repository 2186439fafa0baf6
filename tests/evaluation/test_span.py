"""The subspace spanned by training rows."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression

from graphprox import random_split
from graphprox.evaluation.inputs import normalize_rows
from graphprox.evaluation.span import Span

SIZES = [20, 200]  # fewer and more columns than training rows
FORMS = {"dense": np.asarray, "sparse": sp.csr_array}


@pytest.fixture(params=SIZES)
def rows(request, graph, embed_untrained):
    return normalize_rows(embed_untrained(graph, request.param))


@pytest.fixture(scope="module")
def train(graph):
    return random_split(graph, random_state=3).train


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("center", [True, False])
def test_products_with_training_rows_are_preserved(rows, train, form, center):
    span = Span.from_rows(FORMS[form](rows), train, center=center)
    shift = rows[train].mean(axis=0) if center else 0
    expected = (rows - shift) @ (rows[train] - shift).T
    assert span.coordinates.shape[1] <= min(rows.shape[1], len(train) - center)  # n points span n - 1 dimensions
    assert np.allclose(span.transform(FORMS[form](rows)) @ span.coordinates.T, expected, rtol=0, atol=1e-8)
    assert np.allclose(span.transform(FORMS[form](rows)[train]), span.coordinates, rtol=0, atol=1e-8)


@pytest.mark.parametrize("form", FORMS)
def test_weights_give_equal_scores_in_columns_and_in_coordinates(rows, train, form):
    span = Span.from_rows(FORMS[form](rows), train, center=True)
    weights = np.random.default_rng(0).normal(size=(7, span.coordinates.shape[1]))
    expected = span.transform(FORMS[form](rows)) @ weights.T
    assert np.allclose(span.decision_function(FORMS[form](rows), weights), expected, rtol=0, atol=1e-7)
    assert span.to_column_weights(weights).shape == (7, rows.shape[1])


@pytest.mark.parametrize("solver", ["lbfgs", "liblinear"])
def test_a_regression_predicts_the_same_probabilities_in_the_span(graph, rows, train, solver):
    probabilities, labels = [], graph.y[train] % 2
    # Only lbfgs leaves the intercept unregularized, for which the rows may be centered.
    span = Span.from_rows(rows, train, center=solver == "lbfgs")
    for vectors in (rows, span.transform(rows)):
        classifier = LogisticRegression(C=10, max_iter=10**5, tol=1e-9, solver=solver)
        probabilities.append(classifier.fit(vectors[train], labels).predict_proba(vectors))
    assert np.allclose(probabilities[0], probabilities[1], rtol=0, atol=1e-4)


def test_identical_rows_have_one_coordinate_of_zeros():
    span = Span.from_rows(np.ones((6, 9)), np.arange(4), center=True)
    assert span.coordinates.tolist() == np.zeros((4, 1)).tolist()
    assert span.decision_function(np.ones((6, 9)), np.ones((3, 1))).tolist() == np.zeros((6, 3)).tolist()
