"""The paper's figure of a barbell graph: nodes of equal local structure coincide in the topology space."""

from __future__ import annotations

import networkx as nx
import numpy as np

from graphprox.arrays import FloatArray, IntArray
from graphprox.graph import Graph

CLIQUE, BRIDGE = 6, 2


def barbell() -> Graph:
    """The barbell B(6, 2): two cliques of six nodes, joined by a path over two more."""
    made = nx.barbell_graph(CLIQUE, BRIDGE)
    return Graph(np.eye(len(made), dtype=np.float32), np.array(made.edges).T)


def structure_classes(representations: FloatArray) -> IntArray:
    """A number for each distinct row: nodes of the same number have the same local structure, (nodes,)."""
    return np.unique(representations, axis=0, return_inverse=True)[1].astype(np.int64)


def in_the_plane(representations: FloatArray) -> FloatArray:
    """The two directions in which the rows differ most, (nodes, 2); equal rows stay equal."""
    distinct, place = np.unique(representations, axis=0, return_inverse=True)
    centred = distinct - representations.mean(axis=0)
    _, _, directions = np.linalg.svd(representations - representations.mean(axis=0), full_matrices=False)
    plane: FloatArray = (centred @ directions[:2].T)[place].astype(np.float32)
    return plane
