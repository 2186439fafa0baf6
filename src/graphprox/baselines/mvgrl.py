"""MVGRL: nodes seen along edges are to tell the summary of the graph seen along diffusion, and the other way round."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, cast

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor, nn
from torch.nn import functional

from graphprox.arrays import FloatArray, IntArray
from graphprox.baselines.base import About, EmbeddingBaseline, setting
from graphprox.baselines.neural import as_embedding, minimise, seeded
from graphprox.graph import Graph
from graphprox.nn.convolutions import GCN, Edges, glorot, in_neighbours
from graphprox.nn.encoder import PReLU
from graphprox.nn.features import FeatureMatrix
from graphprox.nn.sparse import Pattern
from graphprox.proximity.descriptors import Progress

NUMBERS_AT_ONCE = 1 << 22  # of the diffusion matrix, while it is dense: 16 MiB
TOLERANCE = 0.1  # a walk ends once all further steps would add about this share of the threshold


@dataclass(frozen=True)
class MVGRL(EmbeddingBaseline):
    """A layer of GCN along edges and one along diffusion; nodes of each are told from shuffled ones by the other.

    In each epoch it sees ``parts`` of ``part_size`` nodes each, drawn anew, or the whole of a smaller graph.

    >>> from graphprox import synthetic
    >>> MVGRL(width=8, epochs=2).embed(synthetic(nodes=140), seed=0).shape
    (140, 8)
    """

    about = About(
        title="MVGRL",
        group="contrast",
        uses="AX",
        paper="Hassani and Khasahmadi, Contrastive Multi-View Representation Learning on Graphs, ICML 2020",
        summary="nodes seen along edges against a summary of the graph seen along diffusion, and the reverse",
    )
    # The authors' for CiteSeer: of 1e-5, ..., 1e-2 the threshold that leaves about as many entries as there are edges.
    # On WebKB, where edges join unlike nodes, diffusion that stays near its node tells eight to twelve points more of
    # validation nodes than the authors' of 0.2: graphprox tune Wisconsin --method mvgrl --set scaled=true
    # --over teleport=0.2,0.5,0.8 --splits 10 --train 0.48 --validation 0.32.
    presets: ClassVar = {
        "CiteSeer": {"threshold": 1e-2, "scaled": True},
        **{name: {"teleport": 0.8, "scaled": True} for name in ("Texas", "Cornell", "Cornell-2021", "Wisconsin")},
    }

    width: int = setting(512, least=1)
    teleport: float = setting(0.2, least=0.01, most=1)
    threshold: float = setting(1e-4, least=1e-6, most=1)
    scaled: bool = setting(False)  # the diffusion's columns, to a largest entry of 1
    parts: int = setting(4, least=1)
    part_size: int = setting(2000, least=2)
    epochs: int = setting(3000, least=0)
    patience: int = setting(20, least=1)
    learning_rate: float = setting(1e-3, least=0)

    def embed(self, graph: Graph, seed: int, *, progress: Progress | None = None) -> FloatArray:
        """Train on parts of the graph, and embed the whole."""
        views = _Views.of(graph, self)
        with seeded(seed) as rng:
            model = _Model(graph.num_features, self.width, rng)
            draw = np.random.default_rng(seed)
            whole = views.whole()

            def loss() -> Tensor:
                if graph.num_nodes <= self.part_size:
                    return model.loss(whole, rng)
                drawn = [draw.choice(graph.num_nodes, self.part_size, replace=False) for _ in range(self.parts)]
                return model.loss(views.batch(drawn), rng)

            minimise(
                model,
                loss,
                epochs=self.epochs,
                patience=self.patience,
                learning_rate=self.learning_rate,
                progress=progress,
            )
            with torch.no_grad():
                first, second = (model.seen(view, whole) for view in (0, 1))
                return as_embedding(first + second)


@dataclass(frozen=True, eq=False)
class _Batch:
    """Parts of a graph of one size: rows of features, and edges of each view, block by block along the diagonal."""

    parts: int
    features: FeatureMatrix  # of all nodes that are in any part
    place: Tensor  # (parts * size,) the row of each
    edges: tuple[Edges, Edges]


@dataclass(frozen=True, eq=False)
class _Views:
    """A graph along its edges and along diffusion, to cut parts from.

    The diffusion matrix is full: 1.5 GiB for 20,000 nodes, and as many products for each epoch. So its small entries
    are left out, once, before training. What is left grows with the nodes, and so does nothing that is ever dense.
    """

    graph: Graph
    matrices: tuple[sp.csr_array, sp.csr_array]

    @classmethod
    def of(cls, graph: Graph, method: MVGRL) -> _Views:
        along_edges = GCN.matrix(in_neighbours(graph.edge_index, graph.edge_weight, graph.num_nodes))
        diffusion = diffused(along_edges, method.teleport, threshold=method.threshold)
        if method.scaled:
            largest = np.maximum(diffusion.max(axis=0).toarray(), method.threshold)  # a column may have no entry left
            diffusion = sp.csr_array(diffusion @ sp.diags_array(1 / largest))
        return cls(graph, (along_edges, diffusion))

    def whole(self) -> _Batch:
        """The graph as one part."""
        return self._of(1, np.arange(self.graph.num_nodes), [_edges(matrix) for matrix in self.matrices])

    def batch(self, drawn: list[IntArray]) -> _Batch:
        """Several parts, which may overlap."""
        cut = [sp.block_diag([matrix[part][:, part] for part in drawn], format="csr") for matrix in self.matrices]
        return self._of(len(drawn), np.concatenate(drawn), [_edges(matrix) for matrix in cut])

    def _of(self, parts: int, nodes: IntArray, edges: list[Edges]) -> _Batch:
        seen, place = np.unique(nodes, return_inverse=True)
        features = FeatureMatrix.of(self.graph.x[seen], normalize="rows")
        return _Batch(parts, features, torch.from_numpy(place), (edges[0], edges[1]))


def _edges(matrix: sp.csr_array) -> Edges:
    return Edges(Pattern.of(sp.csr_array(matrix)), torch.tensor(matrix.data, dtype=torch.float32))


def diffused(matrix: sp.csr_array, teleport: float, *, threshold: float) -> sp.csr_array:
    """Personalised PageRank along a matrix A, a(I - (1 - a)A)^-1 with teleport a, less all entries below a threshold.

    Some columns at a time, by adding up the steps of walkers that go on along the matrix with chance 1 - a.

    >>> swap = sp.csr_array([[0.0, 1.0], [1.0, 0.0]])
    >>> diffused(swap, 0.5, threshold=1e-3).toarray().round(3)
    array([[0.667, 0.333],
           [0.333, 0.667]], dtype=float32)
    """
    nodes = matrix.shape[0]
    onward = (matrix * (1 - teleport)).astype(np.float32)
    size = max(1, NUMBERS_AT_ONCE // nodes)
    blocks = []
    for start in range(0, nodes, size):
        columns = np.arange(start, min(start + size, nodes))
        step = np.zeros((nodes, len(columns)), np.float32)
        step[columns, columns - start] = teleport
        total = step.copy()
        while step.max() * (1 - teleport) > TOLERANCE * threshold * teleport:
            step = onward @ step
            total += step
        total[total < threshold] = 0
        blocks.append(sp.csc_array(total))
    return sp.csr_array(sp.hstack(blocks, format="csr"))


class _Model(nn.Module):
    """A layer of GCN for each view, and one bilinear form that scores a node by a summary."""

    def __init__(self, features: int, width: int, rng: torch.Generator) -> None:
        super().__init__()
        self.convolutions = nn.ModuleList(GCN(features, width, rng=rng) for _ in range(2))
        self.activations = nn.ModuleList(PReLU(width) for _ in range(2))
        self.form = glorot(width, width, rng=rng)
        self.offset = nn.Parameter(torch.zeros(()))

    def loss(self, batch: _Batch, rng: torch.Generator) -> Tensor:
        """How badly nodes are told from those of the same part with shuffled features."""
        size = len(batch.place) // batch.parts
        order = torch.randperm(size, generator=rng)
        every = (torch.arange(batch.parts)[:, None] * size + order).ravel()
        true, shuffled = zip(*(self._both(view, batch, every) for view in (0, 1)), strict=True)
        summaries = [torch.sigmoid(h.view(batch.parts, size, -1).mean(1)) for h in true]
        positive = [self.scores(true[1 - view], summaries[view]) for view in (0, 1)]
        negative = [self.scores(shuffled[1 - view], summaries[view]) for view in (0, 1)]
        # Minus the logarithm of the chance to be right, by nodes of both views, true and shuffled.
        return (functional.softplus(-torch.cat(positive)).mean() + functional.softplus(torch.cat(negative)).mean()) / 2

    def scores(self, h: Tensor, summaries: Tensor) -> Tensor:
        """Of each node by the summary of its part, (nodes,)."""
        wanted = summaries @ self.form.T
        # A batched product with single columns takes several times as long.
        by_part = zip(h.chunk(len(summaries)), wanted, strict=True)
        return torch.cat([part @ each for part, each in by_part]) + self.offset

    def seen(self, view: int, batch: _Batch) -> Tensor:
        """The nodes of a batch in one view, (nodes, width)."""
        return self._propagated(view, self._projected(view, batch), batch)

    def _both(self, view: int, batch: _Batch, order: Tensor) -> tuple[Tensor, Tensor]:
        projected = self._projected(view, batch)
        # To shuffle what the weight made of the rows is to shuffle the rows, and costs a hundredth.
        return self._propagated(view, projected, batch), self._propagated(view, projected[order], batch)

    def _projected(self, view: int, batch: _Batch) -> Tensor:
        return self._convolution(view).project(batch.features.times)[batch.place]

    def _propagated(self, view: int, projected: Tensor, batch: _Batch) -> Tensor:
        h: Tensor = self.activations[view](self._convolution(view).propagate(projected, batch.edges[view]))
        return h

    def _convolution(self, view: int) -> GCN:
        return cast("GCN", self.convolutions[view])
