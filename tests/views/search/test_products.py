"""Inner products of small groups of rows, stored as integers."""

from __future__ import annotations

import numpy as np
import pytest

from graphprox.views.search import products
from graphprox.views.search.products import (
    compact_rows,
    decode_rows,
    multiply_rows,
    multiply_with_code,
    multiply_with_each_other,
    pad_rows,
    reorder_rows,
)


def make_unit_rows(size: int, columns: int) -> np.ndarray:
    rows = np.random.default_rng(0).standard_normal((size, columns))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype("f4")


def decode(rows, chosen) -> np.ndarray:
    decoded = np.empty((pad_rows(len(chosen)), rows.codes.shape[1]), np.float32)
    decode_rows(rows.codes, rows.scale, chosen, decoded)
    return decoded


@pytest.mark.parametrize(("limit", "dtype", "error"), [(2**32, np.int16, 5e-5), (0, np.int8, 5e-3)])
@pytest.mark.parametrize("columns", [1, 16, 50])
def test_compact_rows_have_nearly_the_same_products(monkeypatch, limit, dtype, error, columns):
    monkeypatch.setattr(products, "MAX_PRECISE_BYTES", limit)
    monkeypatch.setattr("graphprox.views.search.unit_rows.BLOCK_ROWS", 7)
    unit = make_unit_rows(23, columns)
    rows = compact_rows(lambda block: unit[block], len(unit))
    assert rows.codes.dtype == dtype
    chosen = np.array([3, 22, 3, 0, 7])
    decoded = decode(rows, chosen)
    np.testing.assert_array_equal(decoded[5:], 0)
    np.testing.assert_allclose((decoded @ decoded.T)[:5, :5], unit[chosen] @ unit[chosen].T, atol=error)
    one = multiply_with_code(decoded[1], rows.codes[7]) * rows.scale[7]
    assert one == pytest.approx(unit[22] @ unit[7], abs=error)


@pytest.mark.parametrize(("left", "right"), [(1, 1), (4, 8), (5, 13)])
def test_products_agree_with_those_of_a_matrix_product(left, right):
    unit = make_unit_rows(18, 32)
    rows = compact_rows(lambda block: unit[block], len(unit))
    one, other = decode(rows, np.arange(left)), decode(rows, np.arange(18 - right, 18))
    out = np.full((8, 16), np.nan, np.float32)
    multiply_rows(one, left, other, right, out)
    np.testing.assert_allclose(out[:left, :right], one[:left] @ other[:right].T, atol=1e-6)
    out = np.full((16, 16), np.nan, np.float32)
    multiply_with_each_other(other, right, out)
    np.testing.assert_array_equal(out[:right, :right], out[:right, :right].T)
    np.testing.assert_allclose(out[:right, :right], other[:right] @ other[:right].T, atol=1e-6)


def test_rows_are_reordered_in_place():
    unit = make_unit_rows(50, 9)
    rows = compact_rows(lambda block: unit[block], len(unit))
    codes, scale = rows.codes.copy(), rows.scale.copy()
    order = np.random.default_rng(1).permutation(50).astype(np.int32)
    reorder_rows(rows, order)
    np.testing.assert_array_equal(rows.codes, codes[order])
    np.testing.assert_array_equal(rows.scale, scale[order])
