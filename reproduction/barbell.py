"""The barbell graph of the paper's figure: nodes of equal local structure have equal topology descriptors."""

from __future__ import annotations

import networkx as nx
import numpy as np

from graphprox._utils.arrays import FloatArray, IntArray
from graphprox.graph.graph import Graph

CLIQUE_SIZE, BRIDGE_SIZE = 6, 2


def barbell_graph() -> Graph:
    """Create the barbell graph B(6, 2): two cliques of six nodes, joined by a path over two more."""
    barbell = nx.barbell_graph(CLIQUE_SIZE, BRIDGE_SIZE)
    return Graph(np.eye(len(barbell), dtype=np.float32), np.array(barbell.edges).T)


def structure_classes(descriptors: FloatArray) -> IntArray:
    """Assign a number to each distinct row of an array.

    Parameters
    ----------
    descriptors : ndarray of shape (num_nodes, n_descriptors)

    Returns
    -------
    ndarray of shape (num_nodes,)
        Equal for nodes with equal descriptors.
    """
    return np.unique(descriptors, axis=0, return_inverse=True)[1].astype(np.int64)


def project_to_plane(descriptors: FloatArray) -> FloatArray:
    """Project descriptors to their first two principal components; equal rows stay equal.

    Parameters
    ----------
    descriptors : ndarray of shape (num_nodes, n_descriptors)

    Returns
    -------
    ndarray of shape (num_nodes, 2)
    """
    distinct, inverse = np.unique(descriptors, axis=0, return_inverse=True)
    mean = descriptors.mean(axis=0)
    _, _, components = np.linalg.svd(descriptors - mean, full_matrices=False)
    plane: FloatArray = ((distinct - mean) @ components[:2].T)[inverse].astype(np.float32)
    return plane
