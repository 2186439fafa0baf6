"""Fixtures of the tests of reading and writing."""

from __future__ import annotations

import numpy as np
import pytest


@pytest.fixture(scope="session")
def read_edge_set():
    """Function that returns the edges of a graph as pairs of ids, for comparison with what was written."""

    def read_edge_set(graph):
        pairs = graph.ids[graph.edges_once()].T.tolist()
        ends = [tuple(pair) if graph.directed else frozenset(pair) for pair in pairs]
        if graph.edge_weight is None:
            return set(ends)
        once = graph.edge_index[0] <= graph.edge_index[1] if not graph.directed else np.full(graph.num_entries, True)
        return set(zip(ends, graph.edge_weight[once].tolist(), strict=True))

    return read_edge_set


@pytest.fixture
def write(tmp_path):
    """Write a file of some name, from text or bytes, and return its path."""

    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write
