"""Outputs and their registry.

An output is a function of a `PreparedGraph` that returns a row for every node: its prepared features as one proximity
sees them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
import scipy.sparse as sp
import torch
from sklearn.preprocessing import normalize

from graphprox._utils.arrays import FloatArray
from graphprox._utils.registry import Registry
from graphprox.graph.graph import Graph
from graphprox.nn.convolution import Edges, in_neighbor_matrix
from graphprox.nn.encoders.gcn import GCNConv
from graphprox.nn.propagation import diffuse, pagerank_coefficients
from graphprox.views.search import rank

NUM_NEIGHBORS = 20  # of a node in the feature view

Output = Callable[["PreparedGraph"], FloatArray]
F = TypeVar("F", bound=Output)

OUTPUTS: Registry[Output] = Registry("output", package="graphprox.auto.outputs", group="graphprox.outputs")


def register_output(name: str) -> Callable[[F], F]:
    """Register the decorated function as an output of the default method.

    Parameters
    ----------
    name : str
        Its name; the first line of its docstring describes it.

    Returns
    -------
    callable
        Decorator for a function of a `PreparedGraph` that returns an array of shape (num_nodes, channels).
    """

    def register(output: F) -> F:
        OUTPUTS.add(name, output)
        return output

    return register


@dataclass(frozen=True, eq=False)
class PreparedGraph:
    """A graph and its prepared features; what several outputs need is computed once.

    Parameters
    ----------
    graph : Graph
    rows : ndarray of shape (num_nodes, channels)
        Prepared features, rows of unit length.
    seed : int
        Random seed of ties in the feature view.

    Examples
    --------
    >>> from graphprox import synthetic
    >>> graph = synthetic(nodes=140)
    >>> prepared = PreparedGraph(graph, np.asarray(graph.x), seed=0)
    >>> prepared.diffuse(prepared.edges, prepared.rows, alpha=0.15, hops=10).shape
    (140, 32)
    """

    graph: Graph
    rows: FloatArray
    seed: int

    @cached_property
    def neighbors(self) -> sp.csr_array:
        """Weights of the edges in both directions, the larger one where they differ; without self-loops."""
        matrix = in_neighbor_matrix(self.graph.edge_index, self.graph.edge_weight, self.graph.num_nodes)
        if self.graph.directed:
            matrix = matrix.maximum(matrix.T)
        matrix = sp.csr_array(matrix - sp.diags_array(matrix.diagonal()))
        matrix.eliminate_zeros()
        matrix.sort_indices()
        return matrix

    @cached_property
    def edges(self) -> Edges:
        """Edges of the graph, normalized as GCN does."""
        return GCNConv.prepare_edges(self.neighbors)

    @cached_property
    def feature_edges(self) -> Edges:
        """Edges of the feature view, which links each node with the nodes whose prepared features are most similar."""
        num_nodes = len(self.rows)
        ranking = rank(self.rows, k_max=min(NUM_NEIGHBORS, num_nodes - 1), random_state=self.seed)
        source, target = ranking.edge_index(ranking.k_max)
        matrix = sp.csr_array((np.ones(len(source), np.float32), (source, target)), shape=(num_nodes, num_nodes))
        return GCNConv.prepare_edges(sp.csr_array(matrix.maximum(matrix.T)))

    @cached_property
    def view_rows(self) -> FloatArray:
        """Features diffused over the feature view, rows of unit length."""
        rows: FloatArray = normalize(self.diffuse(self.feature_edges, self.rows, alpha=0.3, hops=5))
        return rows

    @staticmethod
    def diffuse(edges: Edges, rows: FloatArray, *, alpha: float, hops: int) -> FloatArray:
        """Return the personalized PageRank of every column.

        Parameters
        ----------
        edges : Edges
        rows : ndarray of shape (num_nodes, channels)
        alpha : float
            Teleport probability: the weight of a node's own row.
        hops : int
            Number of power iterations.

        Returns
        -------
        ndarray of shape (num_nodes, channels)
        """
        return diffuse(edges, torch.tensor(rows, dtype=torch.float32), pagerank_coefficients(alpha, hops)).numpy()
