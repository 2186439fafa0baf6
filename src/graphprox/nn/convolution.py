"""Base class of graph convolutions, each split into a projection without edges and a propagation along edges.

The first projection of an encoder is the same for a graph and all of its views, so it is computed once and propagated
along the edges of each. A node aggregates from its in-neighbors, as in PyG.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Generator, Tensor, nn

from graphprox._utils.arrays import FloatArray, IntArray
from graphprox.nn.part import WHOLE, Part
from graphprox.nn.sparse import SparsePattern, spmm

# Multiplies the input of a layer, (num_nodes, in_channels), by a weight: features.matmul, or the mm of a dense tensor.
MatMul = Callable[[Tensor], Tensor]


@dataclass(frozen=True, eq=False)
class Edges:
    """Edges in the form in which one kind of convolution propagates along them.

    Parameters
    ----------
    pattern : SparsePattern
        Row i holds the in-neighbors of node i.
    values : Tensor of shape (num_entries,)
        Value of each entry of the pattern.
    part : Part, default=WHOLE
        The nodes that rows stand for. Columns stand for the completed rows of the part.
    """

    pattern: SparsePattern
    values: Tensor
    part: Part = WHOLE

    @classmethod
    def of(cls, matrix: sp.csr_array, device: torch.device | str = "cpu", part: Part = WHOLE) -> Edges:
        """Create edges from a sparse matrix whose row i holds the in-neighbors of node i.

        Parameters
        ----------
        matrix : csr_array of shape (num_nodes, num_nodes)
            Of a part, its shape is (num_rows, num_completed).
        device : device or str, default="cpu"
        part : Part, default=WHOLE

        Returns
        -------
        Edges
        """
        return cls(
            SparsePattern.of(matrix, device), torch.tensor(matrix.data, dtype=torch.float32, device=device), part
        )

    def complete(self, rows: Tensor) -> Tensor:
        """Return the rows that columns of the pattern stand for: the given ones, if the part is the whole graph.

        Parameters
        ----------
        rows : Tensor of shape (num_rows, channels)

        Returns
        -------
        Tensor of shape (num_columns, channels)
        """
        return self.part.complete(rows)

    def matmul(self, rows: Tensor) -> Tensor:
        """Multiply the matrix of the edges by completed rows, of which some columns at a time are fetched.

        Parameters
        ----------
        rows : Tensor of shape (num_rows, channels)

        Returns
        -------
        Tensor of shape (num_rows, channels)
            Differentiable in ``rows``, here and in the other parts.
        """
        return spmm(self.pattern, self.values, rows, self.part)


class Convolution(nn.Module, ABC):
    """Graph convolution: a projection of the features followed by a propagation along edges.

    Parameters
    ----------
    in_channels : int
        Number of input channels.
    out_channels : int
        Number of output channels.
    generator : torch.Generator
        Source of the initial weights.
    """

    def __init__(self, in_channels: int, out_channels: int, *, generator: Generator) -> None:
        super().__init__()
        projected = self.projected_channels(out_channels)
        self.weight = glorot(in_channels, projected, generator=generator, fan_out=out_channels)
        self.bias = nn.Parameter(torch.zeros(out_channels))

    @staticmethod
    def projected_channels(out_channels: int) -> int:
        """Return the number of channels of a projection, by default that of the output."""
        return out_channels

    @staticmethod
    def propagation_matrix(neighbors: sp.csr_array, part: Part = WHOLE) -> sp.csr_array:  # noqa: ARG004
        """Return the matrix along which the convolution propagates.

        Parameters
        ----------
        neighbors : csr_array of shape (num_nodes, num_nodes)
            In-neighbors of each node, from :func:`in_neighbor_matrix`. It is not modified. Of a part, its shape is
            (num_rows, num_completed), and so is that of the result.
        part : Part, default=WHOLE
            The node of row i is that of column ``part.first + i``.

        Returns
        -------
        csr_array of shape (num_nodes, num_nodes)
        """
        return neighbors

    @classmethod
    def prepare_edges(cls, neighbors: sp.csr_array, device: torch.device | str = "cpu", part: Part = WHOLE) -> Edges:
        """Prepare edges for any number of propagations.

        Parameters
        ----------
        neighbors : csr_array of shape (num_nodes, num_nodes)
            In-neighbors of each node, from :func:`in_neighbor_matrix`.
        device : device or str, default="cpu"
        part : Part, default=WHOLE

        Returns
        -------
        Edges
        """
        # A convolution that knows no parts need not have that parameter.
        matrix = cls.propagation_matrix(neighbors) if part.is_whole else cls.propagation_matrix(neighbors, part)
        return Edges.of(matrix, device, part)

    def project(self, matmul: MatMul) -> Tensor:
        """Project the input of the layer, without edges.

        Parameters
        ----------
        matmul : callable
            Multiplies the input of the layer by a weight, such as ``features.matmul`` or ``h.mm``.

        Returns
        -------
        Tensor of shape (num_nodes, projected_channels)
        """
        return matmul(self.weight)

    @abstractmethod
    def propagate(self, projected: Tensor, edges: Edges) -> Tensor:
        """Aggregate projected features along edges.

        Rows that edges come from are those of ``edges.complete(projected)``, which has more of them if the graph is
        divided among processes. Products with the matrix of the edges are ``edges.matmul(projected)``, which needs less
        memory.

        Parameters
        ----------
        projected : Tensor of shape (num_nodes, projected_channels)
            Output of :meth:`project`. It is not modified, so that several views can share it.
        edges : Edges
            Output of :meth:`prepare_edges`.

        Returns
        -------
        Tensor of shape (num_nodes, out_channels)
        """


def in_neighbor_matrix(edge_index: IntArray, edge_weight: FloatArray | None, num_nodes: int) -> sp.csr_array:
    """Return the sparse matrix of in-neighbors.

    Parameters
    ----------
    edge_index : ndarray of shape (2, num_edges)
        Source and target of each edge.
    edge_weight : ndarray of shape (num_edges,) or None
        Weights; None means ones.
    num_nodes : int

    Returns
    -------
    csr_array of shape (num_nodes, num_nodes)
        Row i contains the weights of the edges whose target is node i. Indices are sorted.

    Examples
    --------
    >>> in_neighbor_matrix(np.array([[0, 1], [1, 2]]), None, 3).toarray().tolist()
    [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    """
    source, target = edge_index
    weight = np.ones(edge_index.shape[1], np.float32) if edge_weight is None else edge_weight
    matrix = sp.csr_array((weight, (target, source)), shape=(num_nodes, num_nodes))
    matrix.sort_indices()
    return matrix


def glorot(in_channels: int, out_channels: int, *, generator: Generator, fan_out: int | None = None) -> nn.Parameter:
    """Create a weight with Glorot's uniform initialization.

    Parameters
    ----------
    in_channels : int
    out_channels : int
    generator : torch.Generator
        Source of the random numbers.
    fan_out : int, optional
        Number of outputs that defines the range, by default ``out_channels``. It is smaller where several weights are
        stacked in one matrix.

    Returns
    -------
    Parameter of shape (in_channels, out_channels)
    """
    limit = (6 / (in_channels + (fan_out or out_channels))) ** 0.5
    return nn.Parameter((2 * torch.rand(in_channels, out_channels, generator=generator) - 1) * limit)


def invert_positive(values: NDArray[Any]) -> FloatArray:
    """Return the reciprocal of each positive value, and 0 for all others."""
    inverse: FloatArray = np.divide(1, values, out=np.zeros_like(values), where=values > 0)
    return inverse
