"""Spreading of rows: over edges, and over the nodes that are most similar."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
import torch

from graphprox._utils.arrays import FloatArray
from graphprox._utils.progress import current_progress
from graphprox.nn.convolution import Edges
from graphprox.nn.encoders.gcn import GCNConv
from graphprox.nn.propagation import diffuse, pagerank_coefficients
from graphprox.views.search import rank

NUM_SIMILAR = 20  # nodes that each node is linked with
LARGE = 10_000  # nodes; the search for similar ones in a smaller graph is too short to be shown


def similar_edges(rows: FloatArray, *, random_state: int) -> Edges:
    """Link each node with the nodes whose rows are most similar by cosine, in both directions.

    Parameters
    ----------
    rows : ndarray of shape (num_nodes, channels)
    random_state : int
        Random seed of ties.

    Returns
    -------
    Edges
        Normalized as GCN does.

    Examples
    --------
    >>> edges = similar_edges(np.eye(3, dtype=np.float32) + 1, random_state=0)
    >>> diffuse_rows(edges, np.eye(3, dtype=np.float32), 0.5, 1)[0].round(2)
    array([0.67, 0.17, 0.17], dtype=float32)
    """
    num_nodes = len(rows)
    # The search takes most of the time in a large graph, and says how far it is.
    progress = current_progress() if num_nodes >= LARGE else None
    ranking = rank(rows, k_max=min(NUM_SIMILAR, num_nodes - 1), random_state=random_state, progress=progress)
    source, target = ranking.edge_index(ranking.k_max)
    matrix = sp.csr_array((np.ones(len(source), np.float32), (source, target)), shape=(num_nodes, num_nodes))
    return GCNConv.prepare_edges(sp.csr_array(matrix.maximum(matrix.T)))


def diffuse_rows(edges: Edges, rows: FloatArray, alpha: float, hops: int) -> FloatArray:
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
