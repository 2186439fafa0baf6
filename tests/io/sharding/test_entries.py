"""Entries that are merged from files are those of the canonical form of a graph's edges."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphprox.errors import GraphError
from graphprox.graph.edges import canonicalize_edges
from graphprox.io.sharding import entries
from graphprox.io.sharding.entries import merge_entries, write_entries

NODES = 6


@pytest.fixture(autouse=True, scope="module")
def _small_buffers():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(entries, "MIN_BUFFER", 2)
        yield


EDGES = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.sampled_from([0, 0.5, 1, 3])), max_size=9)


def write_blocks(folder, blocks, *, weighted):
    files = {"forward": [], "backward": []}
    for number, block in enumerate(blocks):
        source, target, weight = (np.array([edge[i] for edge in block]) for i in range(3))
        given = weight.astype(np.float32) if weighted else None
        ends = {"forward": (source, target), "backward": (target, source)}
        for name, (first, second) in ends.items():
            path = folder / f"{name}-{number}"
            written = write_entries(path, first.astype(np.int64), second.astype(np.int64), given, num_nodes=NODES)
            files[name].append(written)
    return files["forward"], files["backward"]


@given(
    blocks=st.lists(EDGES, min_size=1, max_size=4),
    weighted=st.booleans(),
    directed=st.booleans(),
    parts=st.integers(1, 3),
)
def test_merged_entries_are_canonical(tmp_path_factory, blocks, weighted, directed, parts):
    listed = [edge for block in blocks for edge in block]
    index = np.array([[edge[0] for edge in listed], [edge[1] for edge in listed]], np.int64).reshape(2, -1)
    weight = np.array([edge[2] for edge in listed]) if weighted else None
    expected = canonicalize_edges(index, weight, num_nodes=NODES, directed=directed)
    forward, backward = write_blocks(tmp_path_factory.mktemp("entries"), blocks, weighted=weighted)
    found = []
    for part in range(parts):
        low, high = (NODES * each // parts * NODES for each in (part, part + 1))
        found += merge_entries(forward, [] if directed else backward, low=low, high=high, memory=4)
    keys = np.concatenate([each.keys for each in found]) if found else np.empty(0, np.int64)
    np.testing.assert_array_equal(keys, expected.index[0] * NODES + expected.index[1])
    assert len(listed) - sum(each.num_listed for each in found) == expected.duplicates
    if weighted and found:
        np.testing.assert_array_equal(np.concatenate([each.weights for each in found]), expected.weight)


def test_weights_that_add_up_to_too_much_are_an_error(tmp_path):
    blocks = [[(0, 1, 3e38)], [(0, 1, 3e38)]]
    forward, backward = write_blocks(tmp_path, blocks, weighted=True)
    with pytest.raises(GraphError, match=r"must add up to a float32 number; got 6e\+38"):
        list(merge_entries(forward, backward, low=0, high=36, memory=4))


def test_weights_that_add_up_to_too_much_in_one_block_are_an_error(tmp_path):
    forward, _ = write_blocks(tmp_path, [[(0, 1, 3e38), (0, 1, 3e38)]], weighted=True)
    with pytest.raises(GraphError, match=r"must add up to a float32 number; got 6e\+38"):
        list(merge_entries(forward, [], low=0, high=36, memory=4))
