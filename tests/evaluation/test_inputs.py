"""What every task asks of rows and labels."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from graphprox import ParameterError
from graphprox.evaluation.clustering import cluster
from graphprox.evaluation.compat import compat_probe, compat_split
from graphprox.evaluation.descent import descent_probe
from graphprox.evaluation.inputs import unit_rows
from graphprox.evaluation.links import score_links
from graphprox.evaluation.probe import probe
from graphprox.evaluation.similar import similarity_scores
from graphprox.splits import random_split

AS = {"dense": np.asarray, "sparse": sp.csr_array}


@pytest.mark.parametrize("form", AS)
def test_rows_of_any_length_become_unit_rows(form):
    rows = np.array([[3, 4], [0, 0], [-1e300, 1e300], [5e-324, 0], [3e-300, -4e-300], [0, -2]])
    unit = unit_rows(AS[form](rows))
    assert type(unit) is (sp.csr_array if form == "sparse" else np.ndarray)
    found = unit.toarray() if form == "sparse" else unit
    half = np.sqrt(0.5)
    assert found == pytest.approx(np.array([[0.6, 0.8], [0, 0], [-half, half], [1, 0], [0.6, -0.8], [0, -1]]))


def test_numbers_in_parts_add_up():
    rows = sp.csr_array((np.array([1.0, 2.0, 4.0]), np.array([0, 0, 1]), np.array([0, 3])), shape=(1, 2))
    assert unit_rows(rows).toarray() == pytest.approx(np.array([[0.6, 0.8]]))
    assert rows.nnz == 3


@pytest.mark.parametrize("form", AS)
def test_what_is_given_stays_as_it_was(form):
    rows = AS[form](np.array([[3.0, 4.0], [0.0, 0.0], [1e300, 1e300]]))
    before = rows.copy()
    unit_rows(rows)
    assert (rows != before).sum() == 0


@pytest.fixture
def tasks(graph):
    """Every task as a function of the rows alone."""
    return {
        "probe": lambda rows: probe(rows, graph.y, random_split(graph, seed=0)),
        "compat": lambda rows: compat_probe(rows, graph.y, compat_split(graph, seed=0)),
        "descent": lambda rows: descent_probe(rows, graph.y, random_split(graph, seed=0)),
        "links": lambda rows: score_links(rows, [[0], [1]], [[2], [3]]),
        "clustering": lambda rows: cluster(rows, graph.y),
        "similarity": lambda rows: similarity_scores(rows, graph.y),
    }


@pytest.mark.parametrize("task", ["probe", "compat", "descent", "links", "clustering", "similarity"])
@pytest.mark.parametrize("form", AS)
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_rows_must_be_finite(tasks, graph, task, form, value):
    rows = graph.x.copy()
    rows[17, 3] = value
    with pytest.raises(ParameterError, match=f"vectors must be finite; node 17 has {value}"):
        tasks[task](AS[form](rows))


@pytest.mark.parametrize("task", ["probe", "compat", "descent", "links", "clustering", "similarity"])
@pytest.mark.parametrize(
    "rows", [np.empty((0, 3)), np.empty((840, 0)), sp.csr_array((840, 0)), np.zeros(840), [["a"], ["b"]]]
)
def test_rows_must_be_a_matrix_of_numbers(tasks, task, rows):
    with pytest.raises(ParameterError, match="an embedding must be a matrix of numbers, a row per node"):
        tasks[task](rows)


@pytest.mark.parametrize("task", ["probe", "compat", "descent", "links", "clustering", "similarity"])
def test_sparse_rows_count_as_dense_ones(tasks, graph, task):
    rows = np.where(graph.x > 1, graph.x, 0)
    dense, sparse = tasks[task](rows), tasks[task](sp.csr_array(rows))
    for name in dense if isinstance(dense, dict) else dense.__dataclass_fields__:
        ours, theirs = (each[name] if isinstance(each, dict) else getattr(each, name) for each in (dense, sparse))
        assert ours == pytest.approx(theirs, abs=0.005)


def test_labels_must_go_with_the_rows(graph):
    for score in (cluster, similarity_scores):
        with pytest.raises(ParameterError, match="labels must name a class per row"):
            score(graph.x, graph.y[:-1])
        with pytest.raises(ParameterError, match="labels must be class numbers"):
            score(graph.x, graph.y.astype(float))
