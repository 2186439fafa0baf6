"""Distinct directions of the rows of a matrix."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics.pairwise import cosine_similarity

from graphprox.views.search import rank
from graphprox.views.search.directions import find_directions

FORMS = [np.asarray, sp.csr_array]

small_matrices = st.tuples(st.integers(1, 25), st.integers(1, 4)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=st.sampled_from([0.0, 0.0, 1.0, 2.0, -1.0, 0.5]))
)


@given(small_matrices, st.sampled_from(FORMS))
def test_rows_of_equal_direction_are_grouped(matrix, form):
    found = find_directions(form(matrix))
    assert sorted(found.members) == np.flatnonzero(matrix.any(axis=1)).tolist()
    assert (found.of_node[found.members] == np.repeat(np.arange(len(found)), np.diff(found.start))).all()
    every = cosine_similarity(matrix)
    for one, group in enumerate(found.of_node):
        for other, other_group in enumerate(found.of_node):
            if group >= 0 and other_group >= 0:
                assert (group == other_group) == (every[one, other] > 1 - 1e-9)


def test_hash_collisions_do_not_merge_rows(monkeypatch):
    monkeypatch.setattr("graphprox.views.search.directions._hash_rows", lambda rows: np.zeros(rows.shape[0], np.uint64))
    matrix = np.random.default_rng(0).random((30, 4))
    assert len(find_directions(matrix)) == 30
    twice = np.concatenate([matrix, matrix])
    np.testing.assert_allclose(rank(twice).similarities[:, 0], 1)
