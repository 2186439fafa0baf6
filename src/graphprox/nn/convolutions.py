"""Graph convolutions, each in two halves: a projection that no edge plays a part in, and a propagation along edges.

The halves are apart because the first layer's projection is the same for a graph and all its views: it is computed
once. Values and gradients are those of PyG's GATConv, SAGEConv, GCNConv and GINConv; a node aggregates from its
in-neighbours.
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
from torch.nn import functional

from graphprox.arrays import FloatArray, IntArray
from graphprox.nn.sparse import Pattern, attend, product

Project = Callable[[Tensor], Tensor]  # a weight matrix to what it makes of a layer's input
NEGATIVE_SLOPE = 0.2


@dataclass(frozen=True, eq=False)
class Edges:
    """Edges as one kind of convolution wants them: row i of the pattern lists the in-neighbours of node i."""

    pattern: Pattern
    values: Tensor


def in_neighbours(edge_index: IntArray, edge_weight: FloatArray | None, num_nodes: int) -> sp.csr_array:
    """The matrix whose row i holds the weights (or ones) of the edges that lead to node i."""
    source, target = edge_index
    weight = np.ones(edge_index.shape[1], np.float32) if edge_weight is None else edge_weight
    matrix = sp.csr_array((weight, (target, source)), shape=(num_nodes, num_nodes))
    matrix.sort_indices()
    return matrix


class Convolution(nn.Module, ABC):
    """What all convolutions share: a weight, a bias, and edges in a form of their own."""

    def __init__(self, inputs: int, outputs: int, *, rng: Generator) -> None:
        super().__init__()
        self.weight = glorot(inputs, self.projected(outputs), rng=rng, outputs=outputs)
        self.bias = nn.Parameter(torch.zeros(outputs))

    @staticmethod
    def projected(outputs: int) -> int:
        """The width of what :meth:`project` makes."""
        return outputs

    @staticmethod
    def matrix(neighbours: sp.csr_array) -> sp.csr_array:
        """The matrix along which the convolution propagates, from that of `in_neighbours`."""
        return neighbours

    @classmethod
    def edges(cls, neighbours: sp.csr_array, device: torch.device | str = "cpu") -> Edges:
        """The edges, prepared once for any number of propagations."""
        matrix = cls.matrix(neighbours)
        return Edges(Pattern.of(matrix, device), torch.tensor(matrix.data, dtype=torch.float32, device=device))

    def project(self, times: Project) -> Tensor:
        """The half without edges; ``times`` multiplies the layer's input by a matrix."""
        return times(self.weight)

    @abstractmethod
    def propagate(self, projected: Tensor, edges: Edges) -> Tensor:
        """The half along edges, (nodes, outputs)."""


class Dense(Convolution):
    """No convolution: edges play no part, for comparison."""

    def propagate(self, projected: Tensor, edges: Edges) -> Tensor:  # noqa: ARG002
        """The projection and a bias."""
        return projected + self.bias


class GCN(Convolution):
    """Kipf and Welling's: neighbours and the node itself, each divided by the roots of both in-degrees."""

    @staticmethod
    def matrix(neighbours: sp.csr_array) -> sp.csr_array:
        """With a self-loop of weight 1 where a node has none, divided by the roots of the sums of both ends' rows."""
        rows = _rows(neighbours)
        missing = np.ones(neighbours.shape[0], np.float32)
        missing[rows[rows == neighbours.indices]] = 0  # a self-loop of weight 0 is one, too
        looped = sp.csr_array(neighbours + sp.diags_array(missing))
        divided = sp.diags_array(_inverse(np.sqrt(looped.sum(axis=1))))
        return sp.csr_array(divided @ looped @ divided)

    def propagate(self, projected: Tensor, edges: Edges) -> Tensor:
        """A weighted sum."""
        return product(edges.pattern, edges.values, projected).add_(self.bias)


class SAGE(Convolution):
    """Hamilton's GraphSAGE: the mean of the neighbours and the node itself, each with weights of its own."""

    @staticmethod
    def projected(outputs: int) -> int:
        """One half is for the neighbours, one for the node."""
        return 2 * outputs

    @staticmethod
    def matrix(neighbours: sp.csr_array) -> sp.csr_array:
        """Rows that sum to 1."""
        return sp.csr_array(sp.diags_array(_inverse(neighbours.sum(axis=1))) @ neighbours)

    def propagate(self, projected: Tensor, edges: Edges) -> Tensor:
        """The mean of one half and the other half itself."""
        neighbours, itself = projected.chunk(2, dim=1)
        return product(edges.pattern, edges.values, neighbours).add_(itself).add_(self.bias)


class GIN(Convolution):
    """Xu's graph isomorphism network: the sum of the neighbours and the node, then a layer of its own and another."""

    def __init__(self, inputs: int, outputs: int, *, rng: Generator) -> None:
        super().__init__(inputs, outputs, rng=rng)
        self.second = glorot(outputs, outputs, rng=rng)
        self.second_bias = nn.Parameter(torch.zeros(outputs))

    def propagate(self, projected: Tensor, edges: Edges) -> Tensor:
        """Two layers above the sum; the first one's product was taken before the sum, which is the same."""
        total = product(edges.pattern, edges.values, projected).add_(projected).add_(self.bias)
        return torch.addmm(self.second_bias, torch.relu_(total), self.second)


class GAT(Convolution):
    """Velickovic's graph attention, of one or more heads; with edge weights an attention term of theirs."""

    def __init__(
        self,
        inputs: int,
        outputs: int,
        *,
        rng: Generator,
        heads: int = 1,
        weighted: bool = False,
        dropout: float = 0.0,
    ) -> None:
        super().__init__(inputs, outputs, rng=rng)
        self.heads, self.dropout = heads, dropout
        width = outputs // heads
        self.source = glorot(heads, width, rng=rng)
        self.target = glorot(heads, width, rng=rng)
        self.edge = nn.Parameter(torch.zeros(heads)) if weighted else None

    @staticmethod
    def matrix(neighbours: sp.csr_array) -> sp.csr_array:
        """Each node has one self-loop, of the mean weight of the other edges that lead to it."""
        rows, nodes = _rows(neighbours), neighbours.shape[0]
        kept: NDArray[Any] = rows != neighbours.indices
        sums = np.bincount(rows[kept], weights=neighbours.data[kept], minlength=nodes)
        counts = np.bincount(rows[kept], minlength=nodes)
        return _with_diagonal(neighbours, kept, sums / np.maximum(counts, 1))

    def propagate(self, projected: Tensor, edges: Edges) -> Tensor:
        """The mean by attention."""
        bias = None if self.edge is None else edges.values[:, None] * self.edge
        scorer, factors = attention_scorer(self.source, self.target), self.factors(edges.pattern)
        mean = attend(edges.pattern, projected, scorer, bias, heads=self.heads, slope=NEGATIVE_SLOPE, factors=factors)
        return mean.add_(self.bias)

    def factors(self, pattern: Pattern) -> Tensor | None:
        """What dropout of attention multiplies it by, drawn anew; nothing where there is none, or after training."""
        return attention_factors(pattern, self.heads, self.dropout) if self.dropout and self.training else None


def attention_scorer(source: Tensor, target: Tensor) -> Tensor:
    """The vectors (heads, width) as blocks of one matrix, (heads * width, 2 heads), so that one product scores all."""
    if len(source) == 1:
        return torch.cat([source, target]).T
    parts = (source[:, :, None], target[:, :, None])
    return torch.cat([torch.block_diag(*part) for part in parts], 1)  # type: ignore[no-untyped-call]


def attention_factors(pattern: Pattern, heads: int, dropout: float) -> Tensor:
    """0 for a share of all entries' attention and 1 / (1 - share) for the others, (entries, heads)."""
    return functional.dropout(torch.ones(pattern.num_entries, heads), dropout)


CONVOLUTIONS: dict[str, type[Convolution]] = {"gat": GAT, "sage": SAGE, "gcn": GCN, "gin": GIN, "mlp": Dense}


def _rows(matrix: sp.csr_array) -> NDArray[Any]:
    return np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))


def _inverse(sums: NDArray[Any]) -> FloatArray:
    """One divided by each sum; 0 where nothing was added."""
    inverse: FloatArray = np.divide(1, sums, out=np.zeros_like(sums), where=sums > 0)
    return inverse


def _with_diagonal(matrix: sp.csr_array, kept: NDArray[Any], diagonal: NDArray[Any]) -> sp.csr_array:
    """The kept entries and a diagonal, which may hold zeros: they are entries all the same."""
    nodes = np.arange(matrix.shape[0])
    rows, columns = np.concatenate([_rows(matrix)[kept], nodes]), np.concatenate([matrix.indices[kept], nodes])
    values = np.concatenate([matrix.data[kept], diagonal]).astype(np.float32)
    result = sp.csr_array((values, (rows, columns)), shape=matrix.shape)
    result.sort_indices()
    return result


def glorot(inputs: int, width: int, *, rng: Generator, outputs: int | None = None) -> nn.Parameter:
    """A matrix (inputs, width) drawn as Glorot and Bengio do; ``outputs`` counts where the width is more than one."""
    limit = (6 / (inputs + (outputs or width))) ** 0.5
    return nn.Parameter((2 * torch.rand(inputs, width, generator=rng) - 1) * limit)
