"""Align an embedding from any source to the nodes of a graph."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from graphprox._utils.arrays import IntArray, NodeIds
from graphprox._utils.stacklevel import warn
from graphprox.embedding import Embedding, check_vectors
from graphprox.errors import GraphproxWarning, IgnoredInputWarning, ParameterError
from graphprox.graph.graph import Graph
from graphprox.io.ids import positions

EmbeddingLike: TypeAlias = Embedding | ArrayLike | sp.csr_array

MAX_MISSING = 0.1  # share of the nodes: if more have no vector, the ids are probably those of another graph


def align_to_graph(graph: Graph, embedding: EmbeddingLike, *, name: str = "the embedding") -> Any:
    """Return the vectors of the nodes of a graph, in the order of the nodes.

    Parameters
    ----------
    graph : Graph
    embedding : Embedding, array-like or sparse matrix of shape (num_nodes, n_components)
        An `Embedding` is aligned by ids. A node without a vector gets zeros, with a warning: isolated nodes are missing
        in edge lists and thus in many embeddings. Vectors of other nodes are ignored, with a warning. A matrix must
        have one row per node.
    name : str, default="the embedding"
        Name of the embedding in messages.

    Returns
    -------
    ndarray or csr_array of shape (num_nodes, n_components)

    Raises
    ------
    ParameterError
        If more than a tenth of the nodes have no vector, or a matrix has another number of rows.

    Examples
    --------
    >>> graph = Graph(x=[[1], [2]], edge_index=[[0], [1]], node_ids=["ann", "bob"])
    >>> align_to_graph(graph, Embedding([[1, 2], [3, 4]], ids=["bob", "ann"]))
    array([[3., 4.],
           [1., 2.]], dtype=float32)
    """
    if isinstance(embedding, Embedding):
        return _align_by_id(graph, embedding, name)
    rows = embedding if sp.issparse(embedding) else check_vectors(embedding)
    if rows.shape[0] != graph.num_nodes:
        raise ParameterError(
            f"an embedding without ids must have one row per node; {name} has {rows.shape[0]:,} rows for "
            f"{graph.num_nodes:,} nodes"
        )
    return rows


def _align_by_id(graph: Graph, embedding: Embedding, name: str) -> NDArray[Any]:
    row = positions(pa.array(graph.ids), pa.array(embedding.ids))
    missing = np.flatnonzero(row < 0)
    if len(missing) > MAX_MISSING * graph.num_nodes:
        raise ParameterError(
            f"an embedding must have vectors for the nodes of the graph; {name} has none for {len(missing):,} of "
            f"{graph.num_nodes:,}, such as {_show(graph.ids[missing])}: its ids are such as {_show(embedding.ids)}"
        )
    n_unused = embedding.num_nodes - (graph.num_nodes - len(missing))
    if n_unused:
        warn(
            f"{n_unused:,} rows of {name} are for nodes that the graph does not have: they are ignored; nodes without "
            "edges are in a graph only if it is read with its features",
            IgnoredInputWarning,
        )
    if len(missing):
        warn(
            f"{name} has no vector for {len(missing):,} of {graph.num_nodes:,} nodes, such as "
            f"{_show(graph.ids[missing])}: zeros are used",
            GraphproxWarning,
        )
    return _reorder(embedding.vectors, row)


def _reorder(vectors: NDArray[Any], row: IntArray) -> NDArray[Any]:
    if np.array_equal(row, np.arange(len(vectors))):
        return vectors  # a large embedding is not copied
    ordered = vectors[row]  # -1, for no row, takes the last one, which is overwritten
    ordered[row < 0] = 0
    return ordered


def _show(ids: NodeIds) -> str:
    return ", ".join(map(repr, ids[:3].tolist()))
