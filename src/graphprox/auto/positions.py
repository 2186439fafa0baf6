"""Positions of nodes: the neighbors of a node, read as its words.

A column stands for a node of the fitted graph. A node of another graph is known if it has the id of a fitted one and,
in a graph with features, the same features: numbers 0, 1, 2, ... are the ids of any graph that has none. If features of
most nodes differ, none is known.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from graphprox._utils.arrays import FloatArray, IntArray, NodeIds
from graphprox.auto.preparation import Preparation
from graphprox.errors import ParameterError
from graphprox.graph.graph import Graph


@dataclass(frozen=True, eq=False)
class Positions:
    """Nodes of the fitted graph, and how rows of neighbors are reduced.

    Parameters
    ----------
    ids : ndarray of shape (num_nodes,)
        Ids of the nodes of the fitted graph.
    signatures : ndarray of shape (num_nodes,) or None
        A number for the features of each; None in a graph without features.
    preparation : Preparation
        Weights and directions of the columns.

    Examples
    --------
    >>> from graphprox import synthetic
    >>> graph = synthetic(nodes=140)
    >>> Positions.fit(graph, has_features=True, random_state=0).transform(graph).shape
    (140, 140)
    """

    ids: NodeIds
    signatures: FloatArray | None
    preparation: Preparation

    @classmethod
    def fit(cls, graph: Graph, *, has_features: bool, random_state: int) -> Positions:
        """Compute weights and directions of the neighbors of all nodes.

        Parameters
        ----------
        graph : Graph
        has_features : bool
            Whether nodes of another graph are recognized by their features, too.
        random_state : int
            Random seed of the singular vectors.

        Returns
        -------
        Positions
        """
        matrix = _neighbor_words(graph, np.arange(graph.num_nodes), graph.num_nodes)
        signatures = sign_features(graph) if has_features else None
        return cls(graph.ids, signatures, Preparation.fit(matrix, random_state=random_state, centered=False))

    def transform(self, graph: Graph) -> FloatArray:
        """Return the reduced rows of neighbors.

        Parameters
        ----------
        graph : Graph

        Returns
        -------
        ndarray of shape (num_nodes, num_directions)
            Zero for nodes without known neighbors.
        """
        return self.preparation.transform(_neighbor_words(graph, self._find_known(graph), len(self.ids)))

    def _find_known(self, graph: Graph) -> IntArray:
        """Return the number of each node in the fitted graph, or -1."""
        number = {each: place for place, each in enumerate(self.ids.tolist())}
        known = np.array([number.get(each, -1) for each in graph.ids.tolist()], dtype=np.int64)
        if self.signatures is not None:
            tolerance = 1e-6 * float(np.abs(self.signatures).max(initial=0))
            same = np.abs(self.signatures[known] - sign_features(graph)) <= tolerance
            shared = known >= 0
            if 2 * np.count_nonzero(same & shared) < np.count_nonzero(shared):  # another graph, and some chance
                same[:] = False
            known[~same] = -1
        elif (known < 0).all():
            raise ParameterError(
                "a graph without features must share nodes with the one that auto was fitted on, as nodes are "
                "described by their neighbors; none of its ids is known: call fit_transform on that graph"
            )
        return known


def sign_features(graph: Graph) -> FloatArray:
    """Return a number for the features of each node: their product with fixed random weights.

    Parameters
    ----------
    graph : Graph

    Returns
    -------
    ndarray of shape (num_nodes,)
    """
    weights = np.random.default_rng(0).normal(size=graph.num_features)
    return np.asarray(graph.x @ weights, dtype=np.float64)


def _neighbor_words(graph: Graph, known: IntArray, num_known: int) -> sp.csr_array:
    """Return a row for each node, with a one in the column of each neighbor that is known."""
    source, target = graph.edge_index
    if graph.edge_weight is not None:
        source, target = graph.edge_index[:, graph.edge_weight != 0]
    if graph.directed:
        source, target = np.concatenate([source, target]), np.concatenate([target, source])
    listed = (known[target] >= 0) & (source != target)
    entries = (source[listed], known[target[listed]])
    matrix = sp.csr_array((np.ones(len(entries[0]), np.float32), entries), shape=(graph.num_nodes, num_known))
    matrix.data[:] = 1  # both directions of an edge were added up
    return matrix
