"""The recall of an approximate search, estimated on a sample."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from graphprox.views.search import rank
from graphprox.views.search.directions import find_directions
from graphprox.views.search.recall import estimate_recall, find_highest

FORMS = [np.asarray, sp.csr_array]


def make_matrix() -> np.ndarray:
    """Return a matrix with groups of equal rows, ties, rows of zeros and rows without 12 neighbors."""
    rng = np.random.default_rng(0)
    matrix = rng.integers(0, 2, (600, 12)) * (rng.random((600, 12)) < 0.6)
    matrix[:5] = 0
    matrix[5:8] = -np.eye(3, 12)
    return matrix.astype(np.float32)


@pytest.mark.parametrize("form", FORMS)
def test_highest_similarities_are_those_of_the_exact_search(form, monkeypatch):
    monkeypatch.setattr("graphprox.views.search.unit_rows.BLOCK_ROWS", 100)
    matrix = form(make_matrix())
    directions, exact = find_directions(matrix), rank(matrix, k_max=12, engine="exact")
    rows = np.arange(0, len(directions), 3)
    highest = find_highest(directions, rows, 12)
    for row, similar in zip(rows, highest, strict=True):
        for node in directions.members[directions.start[row] : directions.start[row + 1]]:
            np.testing.assert_allclose(similar, exact.similarities[node], atol=2e-6)


@pytest.mark.parametrize("form", FORMS)
def test_recall_is_the_share_of_neighbors_found(form):
    matrix = form(make_matrix())
    exact = rank(matrix, k_max=8, engine="exact").similarities
    directions = find_directions(matrix)
    assert estimate_recall(directions, exact, seed=0) == 1
    found = exact.copy()
    found[:, 6:] = 0  # two of eight neighbors are missing
    expected = np.count_nonzero(found) / np.count_nonzero(exact)
    assert estimate_recall(directions, found, seed=0) == pytest.approx(expected)


def test_recall_without_any_direction_is_one():
    assert estimate_recall(find_directions(np.zeros((3, 2))), np.zeros((3, 1), np.float32), seed=0) == 1
