"""Whatever somebody has, as a Graph: ours, PyG's, networkx's, matrices."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from graphprox.arrays import MatrixLike, SparseLike
from graphprox.errors import GraphError
from graphprox.graph import Graph
from graphprox.interop import without_torch

GraphLike: TypeAlias = Any  # one of those that as_graph lists
ACCEPTED = (
    "a Graph, a PyG Data, a networkx graph, a pair (X, A) of features and edges, a sparse adjacency matrix, or a dense "
    "matrix of features for nodes without edges"
)
NO_EDGES = np.empty((2, 0), np.int64)


def _as_they_are(x: MatrixLike) -> MatrixLike:
    return x


def as_graph(given: GraphLike, *, checked: Callable[[MatrixLike], MatrixLike] = _as_they_are) -> Graph:
    """The graph that something describes; features that come as a matrix of their own go through ``checked`` first.

    | given                                                | how it is read                                         |
    |------------------------------------------------------|--------------------------------------------------------|
    | `Graph`, PyG ``Data``, networkx graph                | as it is                                               |
    | a tuple ``(X, A)``                                   | features, and edges by the rule below                  |
    | a sparse matrix                                      | adjacency, row to column; features are structural ones |
    | a dense matrix, DataFrame, or list of rows           | features of nodes that have no edges at all            |

    Of a pair, ``A`` is an adjacency matrix if it is sparse, or as high and as wide as ``X`` is high; else it is an
    ``edge_index`` if it holds integers in two rows. Of two nodes, a dense 2 × 2 matrix is an adjacency. Edges that are
    not all listed both ways are directed, as in PyG.

    >>> as_graph(([[1, 0], [0, 1], [1, 1]], [[0, 1], [1, 2]]))
    Graph(3 nodes, 2 directed edges, 2 features)
    >>> as_graph(([[1, 0], [0, 1], [1, 1]], [[0, 1, 0], [1, 0, 1], [0, 1, 0]]))
    Graph(3 nodes, 2 edges, 2 features)
    >>> as_graph([[1, 0], [0, 1], [1, 1]])
    Graph(3 nodes, 0 edges, 2 features)
    """
    if isinstance(given, Graph):
        return given
    if _is_one_of(given, "torch_geometric.data", "Data", "HeteroData"):
        return Graph.from_pyg(given)
    if _is_one_of(given, "networkx", "Graph"):
        return Graph.from_networkx(given)
    if isinstance(given, tuple) and len(given) == 2:
        return _from_pair(checked(without_torch(given[0])), without_torch(given[1]))
    if sp.issparse(given):
        return _from_adjacency(given)
    if is_matrix(given):
        return Graph(checked(without_torch(given)), NO_EDGES)
    raise GraphError(f"a graph must be {ACCEPTED}; got {type(given).__name__}{_hint(given)}")


def is_matrix(given: object) -> bool:
    """Whether something is taken for a dense matrix of features: a list, or what numpy makes an array of.

    >>> is_matrix([[1, 0], [0, 1]]), is_matrix(sp.eye_array(2)), is_matrix("Cora")
    (True, False, False)
    """
    return isinstance(given, list) or hasattr(given, "__array__")


def _is_one_of(given: object, module: str, *names: str) -> bool:
    """Whether something is of a class of a library; one that nobody has imported has made nothing, and stays so."""
    library = sys.modules.get(module)
    return library is not None and isinstance(given, tuple(getattr(library, name) for name in names))


def _from_pair(x: MatrixLike, edges: Any) -> Graph:
    if sp.issparse(edges):
        return Graph.from_scipy(edges, x)
    try:
        listed = np.asarray(edges)
    except ValueError:  # rows of different lengths
        listed = np.empty(0)
    nodes = int(np.shape(x)[0])
    if listed.shape == (nodes, nodes) and listed.dtype.kind in "biuf":
        return Graph.from_scipy(sp.csr_array(listed), x)
    if listed.ndim == 2 and listed.shape[0] == 2:
        return Graph(x, listed, directed=None)
    raise GraphError(
        f"A of a pair (X, A) must be an adjacency matrix, sparse or {nodes} × {nodes} as X has {nodes} rows, or an "
        f"edge_index of two rows; got {type(edges).__name__} of shape {np.shape(listed)}"
    )


def _from_adjacency(adjacency: SparseLike) -> Graph:
    shape = np.shape(adjacency)
    if len(shape) != 2 or shape[0] != shape[1]:
        raise GraphError(
            f"a sparse matrix alone is taken for the adjacency of a graph, which must be square; got shape {shape}: "
            "give features as a dense matrix, or as X of a pair (X, A)"
        )
    return Graph.from_scipy(adjacency)


def _hint(given: object) -> str:
    return ": give its .graph" if isinstance(getattr(given, "graph", None), Graph) else ""
