"""Conversion of any object that describes a graph to a `Graph`."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from graphprox._utils.arrays import MatrixLike, SparseLike
from graphprox._utils.column_names import find_ends
from graphprox._utils.stacklevel import warn
from graphprox.errors import GraphError, GraphproxWarning
from graphprox.graph.conversion import to_numpy
from graphprox.graph.graph import Graph

GraphLike: TypeAlias = Any  # any of the objects that check_graph accepts
ACCEPTED = (
    "a Graph, a Dataset, a PyG Data, a networkx graph, a pair (X, A) of features and edges, a sparse adjacency matrix, "
    "or a dense feature matrix of nodes without edges"
)
NO_EDGES = np.empty((2, 0), np.int64)
# Types of columns of numbers, of pandas, polars and pyarrow.
_NUMBERS = re.compile(r"(sparse\[)?(u?int\d|float|double|halffloat|bool)", re.IGNORECASE)


def _keep(x: MatrixLike) -> MatrixLike:
    return x


def check_graph(obj: GraphLike, *, check_features: Callable[[MatrixLike], MatrixLike] = _keep) -> Graph:
    """Convert an object that describes a graph to a `Graph`.

    Parameters
    ----------
    obj : Graph, Dataset, torch_geometric.data.Data, networkx.Graph, tuple, sparse matrix or array-like
        What is accepted, and how it is interpreted:

        ==========================================  =========================================================
        object                                      interpretation
        ==========================================  =========================================================
        `Graph`                                     returned as it is
        `Dataset`                                   its ``graph``
        PyG ``Data``, networkx graph                converted by `Graph.from_pyg`, `Graph.from_networkx`
        tuple ``(X, A)``                            features, and edges as described below
        sparse matrix of shape (n, n)               adjacency matrix; features are structural
        array-like of shape (n, num_features)         features of nodes without edges; a DataFrame of numbers too
        ==========================================  =========================================================

        ``A`` is an adjacency matrix if it is sparse, or a square matrix with as many rows as ``X``; otherwise it is an
        ``edge_index`` of shape (2, num_edges). For two nodes, a dense matrix of shape (2, 2) is an adjacency matrix.
        The graph is undirected if every edge is listed in both directions, as in PyG.

        An integer array-like of shape (2, n) alone is rejected, because it is most likely an ``edge_index``, which
        does not determine the number of nodes. Features of two nodes must therefore be floats.
    check_features : callable, default=None
        Function that validates features given as a matrix, and returns them. By default they are used as they are.

    Returns
    -------
    Graph

    Raises
    ------
    GraphError
        If the object does not describe a graph.

    Examples
    --------
    >>> check_graph(([[1, 0], [0, 1], [1, 1]], [[0, 1], [1, 2]]))
    Graph(3 nodes, 2 directed edges, 2 features)
    >>> check_graph(([[1, 0], [0, 1], [1, 1]], [[0, 1, 0], [1, 0, 1], [0, 1, 0]]))
    Graph(3 nodes, 2 edges, 2 features)
    >>> check_graph([[1.0, 0.5], [0.0, 1.0], [1.0, 1.0]])
    Graph(3 nodes, 0 edges, 2 features)
    """
    if isinstance(obj, Graph):
        return obj
    if _is_instance(obj, "graphprox.datasets.dataset", "Dataset"):
        graph: Graph = obj.graph
        return graph
    if _is_instance(obj, "torch_geometric.data", "Data", "HeteroData"):
        return Graph.from_pyg(obj)
    if _is_instance(obj, "networkx", "Graph"):
        return Graph.from_networkx(obj)
    obj = to_numpy(obj)
    if isinstance(obj, tuple) and len(obj) == 2:
        return _check_pair(to_numpy(obj[0]), to_numpy(obj[1]), check_features)
    if sp.issparse(obj):
        return _check_adjacency(obj)
    _reject_frame(obj)
    if is_matrix(obj):
        _reject_edge_index(obj)
        _warn_if_edges(obj)
        return Graph(check_features(obj), NO_EDGES)
    raise GraphError(f"a graph must be {ACCEPTED}; got {type(obj).__name__}{_hint(obj)}")


def is_matrix(obj: object) -> bool:
    """Check whether an object is interpreted as a dense feature matrix: a list, or an object with ``__array__``.

    Parameters
    ----------
    obj : object
        Any object.

    Returns
    -------
    bool

    Examples
    --------
    >>> is_matrix([[1, 0], [0, 1]]), is_matrix(sp.eye_array(2)), is_matrix("Cora")
    (True, False, False)
    """
    return isinstance(obj, list) or hasattr(obj, "__array__")


def _reject_frame(obj: Any) -> None:
    """Raise an error if a DataFrame or table is not a matrix of features: it has words, or names of edges."""
    if type(obj).__name__ == "LazyFrame":
        raise GraphError("a graph must be made of tables by Graph.from_frames; got LazyFrame: call collect() first")
    is_table = hasattr(obj, "column_names") and hasattr(obj, "schema")  # of pyarrow; DataFrames have columns
    if not (is_table or (hasattr(obj, "columns") and hasattr(obj, "dtypes"))):
        return
    names = [str(name) for name in (obj.column_names if is_table else obj.columns)]
    # Columns of different kinds of numbers, such as booleans and floats, may be an array of objects together.
    is_numeric = all(_NUMBERS.match(str(kind)) for kind in (obj.schema.types if is_table else obj.dtypes))
    if not is_numeric or find_ends(names) is not None:
        raise GraphError(
            f"a graph must be made of tables by Graph.from_frames(edges, features); got {type(obj).__name__} alone, "
            f"with the columns {', '.join(names[:5])}"
        )


def _warn_if_edges(obj: Any) -> None:
    """Warn if a dense matrix, which is read as features, looks like an adjacency matrix or a list of edges."""
    try:
        array = np.asarray(obj)
    except ValueError:  # rows of different lengths
        return
    if array.ndim != 2 or array.dtype.kind not in "biuf" or len(array) < 3:
        return
    rows, columns = array.shape
    if rows == columns and not array.diagonal().any() and np.array_equal(array, array.T):
        kind, remedy = "an adjacency matrix", "pass scipy.sparse.csr_array(A), or the pair (X, A)"
    elif columns == 2 and array.dtype.kind in "iu" and array.min() >= 0 and len(np.unique(array)) > rows / 2:
        kind, remedy = "a list of edges", "pass Graph(x, edges.T), or the pair (X, edges.T)"
    else:
        return
    warn(
        f"a dense matrix alone is read as features of nodes without edges; this one looks like {kind}: {remedy}",
        GraphproxWarning,
    )


def _is_instance(obj: object, module: str, *names: str) -> bool:
    """Check whether an object is an instance of classes of a module, without importing the module."""
    library = sys.modules.get(module)
    return library is not None and isinstance(obj, tuple(getattr(library, name) for name in names))


def _check_pair(x: Any, edges: Any, check_features: Callable[[MatrixLike], MatrixLike]) -> Graph:
    if _is_flat(x) and _is_flat(edges):
        _reject_edge_index((x, edges))
    x = check_features(x)
    if sp.issparse(edges):
        return Graph.from_scipy(edges, x)
    try:
        array = np.asarray(edges)
    except ValueError:  # rows of different lengths
        array = np.empty(0)
    num_nodes = int(np.shape(x)[0])
    if array.shape == (num_nodes, num_nodes) and array.dtype.kind in "biuf":
        return Graph.from_scipy(sp.csr_array(array), x)
    if array.ndim == 2 and array.shape[0] == 2:
        return Graph(x, array, directed=None)
    raise GraphError(
        f"A of a pair (X, A) must be an adjacency matrix, sparse or {num_nodes} × {num_nodes} as X has {num_nodes} "
        f"rows, or an edge_index of two rows; got {type(edges).__name__} of shape {np.shape(array)}"
    )


def _check_adjacency(adjacency: SparseLike) -> Graph:
    shape = np.shape(adjacency)
    if len(shape) != 2 or shape[0] != shape[1]:
        raise GraphError(
            f"a sparse matrix alone is interpreted as an adjacency matrix, which must be square; got shape {shape}: "
            "pass features as a dense matrix, or as X of a pair (X, A)"
        )
    return Graph.from_scipy(adjacency)


def _reject_edge_index(obj: Any) -> None:
    """Raise an error if an array-like consists of two rows of integers."""
    try:
        if len(obj) != 2:
            return
        array = np.asarray(obj)
    except (TypeError, ValueError):  # an array without dimensions; rows of different lengths
        return
    if array.ndim == 2 and array.dtype.kind in "iu":
        raise GraphError(
            f"an edge_index alone does not determine the number of nodes; got integers of shape {array.shape}: pass "
            "the pair (X, edge_index) or Graph(X, edge_index), with num_nodes if there are no features X; "
            "features of two nodes must be floats"
        )


def _is_flat(obj: Any) -> bool:
    """Check whether an object is a list of scalars or an array with one dimension."""
    if isinstance(obj, list | tuple):
        return not any(hasattr(each, "__len__") for each in obj[:1])
    return getattr(obj, "ndim", None) == 1


def _hint(obj: object) -> str:
    return ": read it with graphprox.load" if isinstance(obj, str | os.PathLike) else ""
