"""Node ids: their numbers, positions and duplicates."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from graphprox.io.ids import find_duplicate, number_nodes, positions, to_node_ids


@pytest.mark.parametrize(
    ("source", "target", "ids"),
    [
        ([0, 2], [1, 0], None),  # 0 to 2: no ids of their own
        ([5, 3], [3, 9], [3, 5, 9]),  # small, by a table
        ([-7, 10**15], [10**15, 4], [-7, 4, 10**15]),  # sparse or negative, by sorting
        (["bob", "ann"], ["ann", "Ünal"], ["ann", "bob", "Ünal"]),
    ],
)
def test_ends_of_edges_are_numbered_in_the_order_of_sorted_ids(source, target, ids):
    index, found = number_nodes(pa.array(source), pa.array(target))
    known = range(3) if ids is None else ids
    assert (found is None) == (ids is None)
    assert found is None or found.tolist() == ids
    assert index.dtype == np.int32
    assert [[known[number] for number in row] for row in index] == [source, target]


def test_no_edges_have_no_nodes():
    index, ids = number_nodes(pa.array([], pa.int64()), pa.array([], pa.int64()))
    assert (index.shape, ids) == ((2, 0), None)


def test_missing_ids_have_the_position_minus_one():
    assert positions(pa.array([7, 1, 5]), pa.array([5, 7])).tolist() == [1, -1, 0]
    assert positions(pa.array(["7", "x"]), pa.array([5, 7])).tolist() == [1, -1]


def test_duplicate_is_found():
    assert find_duplicate(pa.array(["a", "b", "a"])) == "a"
    assert find_duplicate(pa.array([3, 1, 2])) is None


def test_consecutive_integers_are_no_ids_of_their_own():
    assert to_node_ids(pa.array([0, 1, 2])) is None
    assert to_node_ids(pa.array([1, 0, 2])).tolist() == [1, 0, 2]
    named = to_node_ids(pa.array(["0", "1"]))
    assert (named.dtype, named.tolist()) == (object, ["0", "1"])
