"""A checksum of everything in a graph that an embedding method uses."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphprox.graph.graph import Graph


def graph_checksum(graph: Graph) -> str:
    """Compute the SHA-256 of a graph's features, edges and weights; labels and node ids are ignored.

    Parameters
    ----------
    graph : Graph
        The graph.

    Returns
    -------
    str
        64 hexadecimal digits.

    Examples
    --------
    >>> graph = Graph(x=[[1], [2]], edge_index=[[0], [1]], y=[0, 1])
    >>> graph_checksum(graph) == graph_checksum(graph.without_labels())
    True
    """
    digest = hashlib.sha256()
    add_graph(digest, graph)
    return digest.hexdigest()


def add_graph(digest: Any, graph: Graph) -> None:
    """Update a digest with a graph's features, edges and weights.

    Parameters
    ----------
    digest : hashlib hash object
        The digest to update in place.
    graph : Graph
        The graph.
    """
    x = graph.x
    parts = (x.data, x.indices, x.indptr) if isinstance(x, sp.csr_array) else (x,)
    for part in (np.array([*x.shape, graph.directed]), *parts, graph.edge_index, graph.edge_weight):
        _add_array(digest, part)


def _add_array(digest: Any, array: NDArray[Any] | None) -> None:
    """Update a digest with an array, including its dtype and shape to keep the encoding unambiguous."""
    if array is None:
        digest.update(b"none;")
        return
    # scipy chooses int32 or int64 for sparse indices; the checksum must not depend on it.
    plain = np.ascontiguousarray(array if array.dtype.kind == "f" else array.astype(np.int64))
    digest.update(f"{plain.dtype.str}{plain.shape};".encode())
    digest.update(plain.data if plain.size else b"")
