"""What the tests of reading and writing share."""

from __future__ import annotations

import numpy as np
import pytest


@pytest.fixture(scope="session")
def listed():
    """The edges of a graph by the ids of their ends, to be held against what was written."""

    def listed(graph):
        pairs = graph.ids[graph.edges_once()].T.tolist()
        ends = [tuple(pair) if graph.directed else frozenset(pair) for pair in pairs]
        if graph.edge_weight is None:
            return set(ends)
        once = graph.edge_index[0] <= graph.edge_index[1] if not graph.directed else np.full(graph.num_entries, True)
        return set(zip(ends, graph.edge_weight[once].tolist(), strict=True))

    return listed


@pytest.fixture
def write(tmp_path):
    """Write a file of some name, from text or bytes, and return its path."""

    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write
