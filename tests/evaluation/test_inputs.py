"""Validation of vectors and labels, which is the same in all tasks."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from graphprox import ParameterError
from graphprox.evaluation.clusters import score_clusters
from graphprox.evaluation.dgi_probe import DGIProbe
from graphprox.evaluation.grace_probe import GRACEProbe, grace_split
from graphprox.evaluation.inputs import normalize_rows
from graphprox.evaluation.links import score_pairs
from graphprox.evaluation.probe import LinearProbe
from graphprox.evaluation.retrieval import score_neighbors
from graphprox.graph.splits import random_split

TASKS = ["probe", "grace", "dgi", "links", "clustering", "similarity"]
FORMS = {"dense": np.asarray, "sparse": sp.csr_array}


@pytest.mark.parametrize("form", FORMS)
def test_rows_of_any_length_are_scaled_to_unit_length(form):
    rows = np.array([[3, 4], [0, 0], [-1e300, 1e300], [5e-324, 0], [3e-300, -4e-300], [0, -2]])
    unit = normalize_rows(FORMS[form](rows))
    assert type(unit) is (sp.csr_array if form == "sparse" else np.ndarray)
    found = unit.toarray() if form == "sparse" else unit
    half = np.sqrt(0.5)
    assert found == pytest.approx(np.array([[0.6, 0.8], [0, 0], [-half, half], [1, 0], [0.6, -0.8], [0, -1]]))


def test_duplicate_entries_of_sparse_rows_are_summed():
    rows = sp.csr_array((np.array([1.0, 2.0, 4.0]), np.array([0, 0, 1]), np.array([0, 3])), shape=(1, 2))
    assert normalize_rows(rows).toarray() == pytest.approx(np.array([[0.6, 0.8]]))
    assert rows.nnz == 3


@pytest.mark.parametrize("form", FORMS)
def test_normalization_does_not_modify_its_input(form):
    rows = FORMS[form](np.array([[3.0, 4.0], [0.0, 0.0], [1e300, 1e300]]))
    before = rows.copy()
    normalize_rows(rows)
    assert (rows != before).sum() == 0


@pytest.fixture
def tasks(graph):
    """Every task as a function that returns the scores of the rows."""
    return {
        "probe": lambda rows: LinearProbe().evaluate(rows, graph.y, random_split(graph, random_state=0)),
        "grace": lambda rows: GRACEProbe(cs=(1.0, 8.0)).evaluate(rows, graph.y, grace_split(graph, random_state=0)),
        "dgi": lambda rows: DGIProbe(epochs=100).evaluate(rows, graph.y, random_split(graph, random_state=0)),
        "links": lambda rows: score_pairs(rows, [[0], [1]], [[2], [3]]),
        "clustering": lambda rows: score_clusters(rows, graph.y),
        "similarity": lambda rows: score_neighbors(rows, graph.y),
    }


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_vectors_must_be_finite(tasks, graph, task, form, value):
    rows = graph.x.copy()
    rows[17, 3] = value
    with pytest.raises(ParameterError, match=f"vectors must be finite; node 17 has {value}"):
        tasks[task](FORMS[form](rows))


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize(
    "rows", [np.empty((0, 3)), np.empty((840, 0)), sp.csr_array((840, 0)), np.zeros(840), [["a"], ["b"]]]
)
def test_vectors_must_be_a_matrix_of_numbers(tasks, task, rows):
    with pytest.raises(ParameterError, match="an embedding must be a matrix of numbers, a row per node"):
        tasks[task](rows)


@pytest.mark.parametrize("task", TASKS)
def test_sparse_and_dense_vectors_give_equal_scores(tasks, graph, task):
    rows = np.where(graph.x > 1, graph.x, 0)
    dense, sparse = (values(tasks[task](each)) for each in (rows, sp.csr_array(rows)))
    assert dense == pytest.approx(sparse, abs=0.005)


def values(scores):
    """All numbers of any kind of score."""
    parts = scores if isinstance(scores, tuple) else vars(scores).values()
    return [number for each in parts if each is not None for number in np.ravel(each)]


def test_labels_must_be_one_integer_per_row(graph):
    for score in (score_clusters, score_neighbors):
        with pytest.raises(ParameterError, match="labels must have one entry per row"):
            score(graph.x, graph.y[:-1])
        with pytest.raises(ParameterError, match="labels must be integers"):
            score(graph.x, graph.y.astype(float))
