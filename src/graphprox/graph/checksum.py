"""A checksum of everything in a graph that an embedding method uses."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphprox._utils.mapped import release_pages
from graphprox.graph.graph import Graph

BLOCK_VALUES = 1 << 22


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
        if part is None:
            add_nothing(digest)
        else:
            add_blocks(digest, part.shape, _read_blocks(part), dtype=part.dtype)


def _read_blocks(array: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """Yield the values of an array in blocks, which a memory map lets go of."""
    values = array.reshape(-1)
    for start in range(0, len(values), BLOCK_VALUES):
        yield values[start : start + BLOCK_VALUES]
        release_pages(array)


def add_nothing(digest: Any) -> None:
    """Update a digest with an array that is None.

    Parameters
    ----------
    digest : hashlib hash object
    """
    digest.update(b"none;")


def add_blocks(digest: Any, shape: Sequence[int], blocks: Iterable[NDArray[Any]], *, dtype: np.dtype[Any]) -> None:
    """Update a digest with an array, including its type and shape to keep the encoding unambiguous.

    Parameters
    ----------
    digest : hashlib hash object
    shape : sequence of int
        Shape of the array.
    blocks : iterable of ndarray
        Its values in C order, in as many blocks as there are.
    dtype : dtype
        Its type; integers of any size and booleans count as int64.
    """
    # scipy chooses int32 or int64 for sparse indices; the checksum must not depend on it.
    wanted = dtype if dtype.kind == "f" else np.dtype(np.int64)
    digest.update(f"{wanted.str}{tuple(shape)};".encode())
    for block in blocks:
        plain = np.ascontiguousarray(block, wanted)
        digest.update(plain.data if plain.size else b"")
