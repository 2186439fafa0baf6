"""A checksum of all that an embedder sees of a graph: another one if a feature or an edge differs."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphprox.graph import Graph


def graph_checksum(graph: Graph) -> str:
    """SHA-256 of features, edges and weights; labels and node ids are no part of it.

    >>> graph = Graph(x=[[1], [2]], edge_index=[[0], [1]], y=[0, 1])
    >>> graph_checksum(graph) == graph_checksum(graph.without_labels())
    True
    """
    digest = hashlib.sha256()
    add_graph(digest, graph)
    return digest.hexdigest()


def add_graph(digest: Any, graph: Graph) -> None:
    """Add a graph to a digest of hashlib."""
    x = graph.x
    parts = (x.data, x.indices, x.indptr) if isinstance(x, sp.csr_array) else (x,)
    for part in (np.array([*x.shape, graph.directed]), *parts, graph.edge_index, graph.edge_weight):
        _add(digest, part)


def _add(digest: Any, array: NDArray[Any] | None) -> None:
    """Add an array with its type and shape, or two arrays could be read as two others; or that there is none."""
    if array is None:
        digest.update(b"none;")
        return
    # Positions in a sparse matrix are int32 or int64, as scipy pleases.
    plain = np.ascontiguousarray(array if array.dtype.kind == "f" else array.astype(np.int64))
    digest.update(f"{plain.dtype.str}{plain.shape};".encode())
    digest.update(plain.data if plain.size else b"")
