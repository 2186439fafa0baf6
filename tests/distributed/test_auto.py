"""The default method by several processes: rows are divided, and the result is that of one process up to rounding.

Covers graphprox.auto.exchange, and what processes change in the other modules of graphprox.auto.
"""

from __future__ import annotations

import numpy as np
import pytest

from graphprox.auto import row_store
from graphprox.auto.exchange import gather_rows, select_rows, to_columns, to_rows
from graphprox.auto.row_store import RowStore

SIZES = pytest.mark.parametrize("size", [2, 3])

# -- exchange -------------------------------------------------------------------------------------------------------


def make_matrix(num_columns, dtype=np.float32):
    return np.random.default_rng(0).normal(size=(50, num_columns)).astype(dtype)


def exchange_both_ways(processes, num_columns, dtype):
    """Return whether columns are those of the matrix, and whether rows come back."""
    matrix = make_matrix(num_columns, dtype)
    own, share = processes.rows(50), processes.rows(num_columns)
    columns = to_columns(processes, matrix[own], 50)
    rows = to_rows(processes, columns, num_columns)
    return np.array_equal(columns, matrix[:, share]), np.array_equal(rows, matrix[own])


@SIZES
@pytest.mark.parametrize(("num_columns", "dtype"), [(10, np.float32), (7, np.float64), (2, np.float32)])
def test_rows_are_exchanged_for_columns_and_back(workers, size, num_columns, dtype):
    assert workers(size, exchange_both_ways, num_columns, dtype) == [(True, True)] * size


def collect(processes):
    matrix, chosen = make_matrix(4), np.array([49, 0, 25, 25, 17])
    own = matrix[processes.rows(50)]
    gathered = gather_rows(processes, own, np.empty_like(matrix))
    return np.array_equal(gathered, matrix), np.array_equal(select_rows(processes, own, chosen, 50), matrix[chosen])


@SIZES
def test_rows_of_all_processes_are_collected_in_each(workers, size):
    assert workers(size, collect) == [(True, True)] * size


def fill_store(processes, in_files, panel_bytes):
    """Return the own rows of doubled columns, which are computed some at a time."""
    before, row_store.PANEL_BYTES = row_store.PANEL_BYTES, panel_bytes
    try:
        store, matrix = RowStore(in_files, processes), make_matrix(100)
        own = store.own_rows(50)
        rows = store.fill(50, 100, lambda columns: 2 * store.read_columns(matrix[own], columns, 50), np.negative)
        return np.array_equal(rows, -2 * matrix[own])
    finally:
        row_store.PANEL_BYTES = before


@SIZES
@pytest.mark.parametrize("in_files", [False, True])
@pytest.mark.parametrize("panel_bytes", [0, 1 << 29])
def test_columns_are_computed_by_all_and_rows_kept_by_their_owners(workers, size, in_files, panel_bytes):
    assert workers(size, fill_store, in_files, panel_bytes) == [True] * size
