"""Random partitions of rows."""

from __future__ import annotations

from itertools import pairwise

import numba
import numpy as np
import pytest

from graphprox.views.search.partitions import divide_rows
from graphprox.views.search.products import compact_rows


def make_rows(kind: str, size: int = 3000):
    rng = np.random.default_rng(0)
    if kind == "clusters":
        matrix = rng.standard_normal((60, 20))[rng.integers(60, size=size)] + 0.1 * rng.standard_normal((size, 20))
    elif kind == "noise":
        matrix = rng.standard_normal((size, 20))
    elif kind == "orthogonal":  # all rows are equally similar to all pivots
        matrix = np.eye(size)
    else:  # nearly equal rows, and a few others
        matrix = np.ones((size, 20)) + 1e-6 * rng.standard_normal((size, 20))
        matrix[:5] = rng.standard_normal((5, 20))
    unit = (matrix / np.linalg.norm(matrix, axis=1, keepdims=True)).astype("f4")
    return unit, compact_rows(lambda block: unit[block], len(unit))


@pytest.mark.parametrize("kind", ["clusters", "noise", "orthogonal", "nearly equal"])
def test_every_row_is_in_one_leaf_of_limited_size(kind):
    _, rows = make_rows(kind, 700)
    order, start = divide_rows(rows, 64, 0)
    np.testing.assert_array_equal(np.sort(order), np.arange(700))
    sizes = np.diff(start)
    assert start[0] == 0
    assert start[-1] == 700
    assert sizes.min() > 0
    assert sizes.max() <= 64
    assert len(sizes) < 4 * 700 / 64


def test_rows_of_a_leaf_are_similar():
    unit, rows = make_rows("clusters")
    order, start = divide_rows(rows, 128, 0)
    within = np.mean([(unit[order[a:b]] @ unit[order[a:b]].T).mean() for a, b in pairwise(start)])
    assert within > 0.4
    assert (unit @ unit.T).mean() < 0.1


def test_partition_depends_on_the_seed_and_not_on_the_number_of_threads(monkeypatch):
    _, rows = make_rows("noise")
    first, _ = divide_rows(rows, 128, 0)
    assert (divide_rows(rows, 128, 1)[0] != first).any()
    monkeypatch.setattr(numba.config, "NUMBA_NUM_THREADS", 3)
    np.testing.assert_array_equal(divide_rows(rows, 128, 0)[0], first)
