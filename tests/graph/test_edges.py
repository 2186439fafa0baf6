from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphprox.graph.edges import canonicalize_edges, is_symmetric

NODES = 6
ends = st.integers(0, NODES - 1)
listed_edges = st.lists(st.tuples(ends, ends, st.integers(0, 9)), max_size=40)


def as_arrays(listed):
    index = np.array([(a, b) for a, b, _ in listed], np.int64).reshape(-1, 2).T
    return index, np.array([w for _, _, w in listed], float)


def canonicalize_in_python(listed, *, directed):
    """Reference implementation in plain Python."""
    one_way: dict[tuple[int, int], float] = defaultdict(float)
    for a, b, weight in listed:
        one_way[a, b] += weight
    if directed:
        return dict(one_way)
    pairs = set(one_way) | {(b, a) for a, b in one_way}
    return {(a, b): max(one_way.get((a, b), 0), one_way.get((b, a), 0)) for a, b in pairs}


@given(listed_edges, st.booleans())
def test_weighted_edges_equal_the_reference(listed, directed):
    index, weight = as_arrays(listed)
    found = canonicalize_edges(index, weight, num_nodes=NODES, directed=directed)
    entries = list(zip(*found.index.tolist(), strict=True))
    assert dict(zip(entries, found.weight.tolist(), strict=True)) == canonicalize_in_python(listed, directed=directed)
    assert entries == sorted(entries)


@given(listed_edges, st.booleans())
def test_weights_do_not_change_the_index(listed, directed):
    index, weight = as_arrays(listed)
    with_weights = canonicalize_edges(index, weight, num_nodes=NODES, directed=directed)
    without = canonicalize_edges(index, None, num_nodes=NODES, directed=directed)
    assert np.array_equal(with_weights.index, without.index)
    assert with_weights.duplicates == without.duplicates == len(listed) - len({(a, b) for a, b, _ in listed})


@given(listed_edges, st.booleans())
def test_canonical_edges_are_a_fixed_point(listed, directed):
    index, weight = as_arrays(listed)
    once = canonicalize_edges(index, weight, num_nodes=NODES, directed=directed)
    twice = canonicalize_edges(once.index, once.weight, num_nodes=NODES, directed=directed)
    assert np.array_equal(once.index, twice.index)
    assert np.array_equal(once.weight, twice.weight)
    assert twice.duplicates == 0


@given(listed_edges, st.randoms(use_true_random=False))
def test_the_order_of_listed_edges_is_ignored(listed, random):
    shuffled = random.sample(listed, len(listed))
    one, other = (canonicalize_edges(*as_arrays(each), num_nodes=NODES, directed=False) for each in (listed, shuffled))
    assert np.array_equal(one.index, other.index)
    assert np.array_equal(one.weight, other.weight)


@pytest.mark.parametrize(
    ("index", "weight", "symmetric"),
    [
        ([[0, 1], [1, 0]], None, True),
        ([[0, 1], [1, 2]], None, False),
        ([[0, 1], [1, 0]], [2.0, 2.0], True),
        ([[0, 1], [1, 0]], [2.0, 1.0], False),
        ([[0], [0]], None, True),
        ([[], []], None, True),
    ],
)
def test_symmetry_requires_equal_entries_and_weights(index, weight, symmetric):
    weight = None if weight is None else np.array(weight)
    assert is_symmetric(np.array(index, np.int64), weight, num_nodes=3) is symmetric
