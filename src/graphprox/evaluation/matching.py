"""From the rows of an embedding, which may come from anywhere, to a vector for each node of a graph."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphprox.arrays import IntArray, NodeIds
from graphprox.embedding import Embedding
from graphprox.errors import GraphproxWarning, IgnoredInputWarning, ParameterError
from graphprox.graph import Graph
from graphprox.io.ids import positions

MOST_MISSING = 0.1  # of the nodes: if more have no vector, the ids are probably those of something else


def vectors_of_nodes(graph: Graph, embedding: Embedding, *, name: str = "the embedding") -> NDArray[Any]:
    """The vector of each node of the graph, (nodes, dimensions), joined by id.

    A node without a vector gets one of zeros, after a warning: programs that read edges do not know of nodes that have
    none. To leave such nodes out would change what is measured. Vectors of other nodes are not used, after a warning.

    >>> graph = Graph(x=[[1], [2]], edge_index=[[0], [1]], node_ids=["ann", "bob"])
    >>> vectors_of_nodes(graph, Embedding([[1, 2], [3, 4]], ids=["bob", "ann"]))
    array([[3., 4.],
           [1., 2.]], dtype=float32)
    """
    row = positions(pa.array(graph.ids), pa.array(embedding.ids))
    missing = np.flatnonzero(row < 0)
    if len(missing) > MOST_MISSING * graph.num_nodes:
        raise ParameterError(
            f"an embedding must have vectors for the nodes of the graph; {name} has none for {len(missing):,} of "
            f"{graph.num_nodes:,}, such as {_shown(graph.ids[missing])}: its ids are such as {_shown(embedding.ids)}"
        )
    unused = embedding.num_nodes - (graph.num_nodes - len(missing))
    if unused:
        warnings.warn(
            f"{unused:,} rows of {name} are for nodes that the graph does not have: not used",
            IgnoredInputWarning,
            stacklevel=2,
        )
    if len(missing):
        warnings.warn(
            f"{name} has no vector for {len(missing):,} of {graph.num_nodes:,} nodes, such as "
            f"{_shown(graph.ids[missing])}: vectors of zeros stand in",
            GraphproxWarning,
            stacklevel=2,
        )
    return _in_order(embedding.vectors, row)


def _in_order(vectors: NDArray[Any], row: IntArray) -> NDArray[Any]:
    if np.array_equal(row, np.arange(len(vectors))):
        return vectors  # as they are: no need to hold a large embedding twice
    ordered = vectors[row]  # row -1, where there is none, is the last: it is overwritten
    ordered[row < 0] = 0
    return ordered


def _shown(ids: NodeIds) -> str:
    return ", ".join(map(repr, ids[:3].tolist()))
