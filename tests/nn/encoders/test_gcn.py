from __future__ import annotations

import numpy as np

from graphprox.nn.convolution import in_neighbor_matrix
from graphprox.nn.encoders.gcn import GCNConv


def test_propagation_matrix_is_symmetrically_normalized():
    edges = np.array([[0, 1, 1, 2], [1, 0, 2, 1]])
    matrix = GCNConv.propagation_matrix(in_neighbor_matrix(edges, None, 4)).toarray()
    degrees = np.array([2, 3, 2, 1])
    expected = np.eye(4)
    expected[edges[1], edges[0]] = 1
    np.testing.assert_allclose(matrix, expected / np.sqrt(np.outer(degrees, degrees)), rtol=1e-6)


def test_existing_self_loops_keep_their_weight():
    edges = np.array([[0, 1], [0, 1]])
    matrix = GCNConv.propagation_matrix(in_neighbor_matrix(edges, np.array([4, 0], np.float32), 3))
    # A node whose only self-loop has weight 0 has degree 0 and receives nothing; one without any gets weight 1.
    assert matrix.toarray().diagonal().tolist() == [1, 0, 1]
