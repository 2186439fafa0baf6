"""Singular vectors of many blocks against those of numpy and of one block."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from graphprox import synthetic
from graphprox.auto import row_store
from graphprox.auto.neighbor_matrix import neighbor_matrix
from graphprox.auto.row_store import RowStore
from graphprox.auto.singular_vectors import BlockedRows, NeighborRows, right_singular_vectors


@pytest.fixture
def many_blocks(monkeypatch):
    monkeypatch.setattr(row_store, "ONE_BLOCK", 10)
    monkeypatch.setattr(row_store, "BLOCK_ROWS", 37)
    monkeypatch.setattr(row_store, "PANEL_BYTES", 1 << 14)


def make_rows(num_rows=200, num_columns=60, seed=0):
    rng = np.random.default_rng(seed)
    left, right = (np.linalg.qr(rng.normal(size=(size, num_columns)))[0] for size in (num_rows, num_columns))
    return ((left * 0.8 ** np.arange(num_columns)) @ right.T).astype(np.float32)


def to_operand(matrix):
    return BlockedRows(matrix.shape, lambda rows: matrix[rows])


@pytest.mark.parametrize("in_files", [False, True])
@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("size", [1, 20, 60])
def test_vectors_of_many_blocks_are_those_of_numpy(many_blocks, is_sparse, size, in_files):
    rows = make_rows()
    _, expected, right = np.linalg.svd(rows.astype(float), full_matrices=False)
    operand = to_operand(sp.csr_array(rows) if is_sparse else rows)
    values, found = right_singular_vectors(operand, size, random_state=0, store=RowStore(in_files))
    known = expected > 1e-4  # squares of smaller ones are rounding errors of single precision
    assert found.shape == (60, size)
    np.testing.assert_allclose(values[known[:size]], expected[:size][known[:size]], rtol=1e-3)
    leading = min(size, 15)
    np.testing.assert_allclose(np.abs((found[:, :leading] * right[:leading].T).sum(0)), 1, atol=1e-4)


def test_vectors_of_many_blocks_have_the_signs_of_one(many_blocks, monkeypatch):
    rows = make_rows()
    values, found = right_singular_vectors(to_operand(rows), 10, random_state=3)
    monkeypatch.setattr(row_store, "ONE_BLOCK", 1_000)
    expected_values, expected = right_singular_vectors(to_operand(rows), 10, random_state=3)
    np.testing.assert_allclose(values, expected_values, rtol=1e-5)
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_rank_below_the_number_of_vectors_gives_values_of_zero(many_blocks):
    rng = np.random.default_rng(0)
    rows = (rng.normal(size=(90, 3)) @ rng.normal(size=(3, 40))).astype(np.float32)
    values, found = right_singular_vectors(to_operand(rows), 12, random_state=0)
    assert np.isfinite(found).all()
    assert (values[:3] > 1).all()
    assert (values[3:] < 1e-3 * values[0]).all()


def test_matrix_of_zeros_has_finite_vectors(many_blocks):
    values, found = right_singular_vectors(to_operand(np.zeros((50, 30), np.float32)), 5, random_state=0)
    assert not values.any()
    assert np.isfinite(found).all()


@pytest.mark.parametrize("in_files", [False, True])
def test_neighbors_are_multiplied_without_their_matrix(many_blocks, in_files):
    neighbors = neighbor_matrix(synthetic(nodes=300))
    rng = np.random.default_rng(0)
    lengths, weights = rng.random(300, np.float32), rng.random(300, np.float32)
    dense = lengths[:, None] * (neighbors.toarray() != 0) * weights
    found = right_singular_vectors(
        NeighborRows(neighbors, lengths, weights), 20, random_state=0, store=RowStore(in_files)
    )
    expected = right_singular_vectors(to_operand(dense.astype(np.float32)), 20, random_state=0)
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-5)
    np.testing.assert_allclose(found[1] @ found[1].T, expected[1] @ expected[1].T, atol=1e-4)
    np.testing.assert_allclose(
        next(NeighborRows(neighbors, lengths, weights).multiply(np.eye(300, dtype=np.float32))), dense
    )
