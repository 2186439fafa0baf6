"""The matrix of neighbors against scipy's sums."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from graphprox import Graph, GraphError
from graphprox.auto import neighbor_matrix as module
from graphprox.auto.neighbor_matrix import neighbor_matrix


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("loops", [False, True])
def test_matrix_has_the_larger_weight_of_both_directions(directed, weighted, loops):
    rng = np.random.default_rng(0)
    edges = rng.integers(0, 20, size=(2, 80))
    if not loops:
        edges = edges[:, edges[0] != edges[1]]
    weight = rng.integers(0, 4, edges.shape[1]).astype(np.float32) if weighted else None
    graph = Graph(np.ones((20, 1)), edges, edge_weight=weight, directed=directed)
    dense = graph.to_scipy().toarray()
    expected = np.maximum(dense, dense.T)
    np.fill_diagonal(expected, 0)
    found = neighbor_matrix(graph)
    assert isinstance(found, sp.csr_array)
    assert found.has_sorted_indices
    assert found.data.all()
    assert np.array_equal(found.toarray(), expected)


def test_too_many_edges_are_one_sentence(monkeypatch):
    monkeypatch.setattr(module, "MAX_ENTRIES", 3)
    with pytest.raises(GraphError, match=r"must have at most 1 edges; got 2: leave out"):
        neighbor_matrix(Graph(np.eye(3), [[0, 1], [1, 2]]))
