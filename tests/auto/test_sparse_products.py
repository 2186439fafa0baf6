"""Compiled products against scipy's."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from graphprox.auto.sparse_products import add_transposed_product, average_rows, multiply_sparse, sum_over_neighbors


def make_matrix(rows=40, columns=30, seed=0):
    rng = np.random.default_rng(seed)
    dense = rng.normal(size=(rows, columns)) * (rng.random((rows, columns)) < 0.2)
    dense[3] = 0
    return sp.csr_array(dense.astype(np.float32))


@pytest.mark.parametrize("channels", [1, 5, 70])
def test_products_are_those_of_scipy(channels):
    rng = np.random.default_rng(1)
    matrix = make_matrix()
    right, left = (rng.normal(size=(size, channels)).astype(np.float32) for size in (30, 40))
    np.testing.assert_allclose(multiply_sparse(matrix, right), matrix @ right, atol=1e-5)
    total = np.ones((30, channels))
    add_transposed_product(matrix, left, total)
    np.testing.assert_allclose(total, 1 + matrix.T @ left, atol=1e-5)


def test_sum_over_neighbors_ignores_weights():
    matrix, rng = make_matrix(30, 30), np.random.default_rng(1)
    rows, scale = rng.normal(size=(30, 4)).astype(np.float32), rng.random(30, np.float32)
    expected = scale[:, None] * ((matrix != 0).astype(np.float32) @ rows)
    np.testing.assert_allclose(sum_over_neighbors(matrix, scale, rows), expected, atol=1e-5)


def test_average_has_the_bits_of_a_product_with_a_diagonal_matrix():
    matrix, rng = make_matrix(30, 30), np.random.default_rng(1)
    rows, scale = rng.normal(size=(30, 9)).astype(np.float32), rng.random(30)
    expected = (sp.diags_array(scale) @ matrix.astype(np.float64) @ rows).astype(np.float32)
    assert np.array_equal(average_rows(matrix, scale, rows), expected)


def test_average_of_huge_weights_is_finite():
    path = sp.csr_array(np.array([[0, 3e38], [3e38, 0]], np.float32))
    found = average_rows(path, np.full(2, 1 / 3e38), np.eye(2, dtype=np.float32))
    np.testing.assert_allclose(found, [[0, 1], [1, 0]], rtol=1e-6)
