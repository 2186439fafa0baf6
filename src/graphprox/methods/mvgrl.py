"""MVGRL: contrasts nodes along edges with a summary of the graph along diffusion, and the reverse."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor, nn
from torch.nn import functional

from graphprox._utils.arrays import FloatArray, IntArray
from graphprox._utils.outcome import warn_if_collapsed
from graphprox._utils.progress import Progress
from graphprox.forecast import Costs
from graphprox.forecast.largest_arrays import count_arrays
from graphprox.forecast.work import FLOAT, Size
from graphprox.graph.graph import Graph
from graphprox.methods import InductiveEmbedder, MethodInfo, parameter, register_method
from graphprox.methods._neural import fork_rng, minimize, to_vectors
from graphprox.nn.activation import PReLU
from graphprox.nn.convolution import Edges, glorot, in_neighbor_matrix
from graphprox.nn.encoders.gcn import GCNConv
from graphprox.nn.features import FeatureMatrix

MAX_DENSE_ENTRIES = 1 << 22  # of a dense block of the diffusion matrix: 16 MiB
TOLERANCE = 0.1  # the series is truncated when its remainder is about this share of the threshold
VIEWS = (0, 1)  # the graph along its edges, and along diffusion


@register_method("mvgrl")
class MVGRL(InductiveEmbedder):
    """A GCN layer along edges and one along diffusion; nodes of each view are scored by the summary of the other.

    Each epoch trains on random subgraphs, or on the whole graph if it has at most ``subgraph_size`` nodes.

    Parameters
    ----------
    n_components : int, default=512
        Size of the embedding.
    alpha : float, default=0.2
        Teleport probability of personalized PageRank, the diffusion.
    threshold : float, default=1e-4
        Entries of the diffusion matrix below it are dropped.
    scale_diffusion : bool, default=False
        Whether columns of the diffusion matrix are scaled to a maximum of 1.
    num_subgraphs : int, default=4
        Number of subgraphs per epoch.
    subgraph_size : int, default=2000
        Number of nodes of a subgraph.
    epochs : int, default=3000
        Largest number of epochs.
    patience : int, default=20
        Number of epochs without a new lowest loss after which training stops.
    learning_rate : float, default=1e-3
    preset : str, default="auto"
        Settings selected for a data set; see :class:`~graphprox.methods.base.GraphMethod`.
    scale : {"auto", "standard", "none"}, default="auto"
        Whether columns of features are standardized: those of a table, whose units differ; all of them; or none.
    random_state : int, RandomState, Generator or None, default=0
        Random seed.
    verbose : bool, default=False
        Whether to print progress on stderr.

    Attributes
    ----------
    embedding_ : Embedding
    vectors_ : ndarray of shape (num_nodes, n_components)
    model_ : nn.Module
        The trained layers of both views.

    References
    ----------
    Hassani and Khasahmadi, Contrastive Multi-View Representation Learning on Graphs, ICML 2020.

    Examples
    --------
    >>> from graphprox import synthetic
    >>> MVGRL(n_components=8, epochs=2).fit_transform(synthetic(nodes=140)).shape
    (140, 8)
    """

    info = MethodInfo(
        title="MVGRL",
        group="contrast",
        uses="AX",
        summary="nodes along edges against a summary of the graph along diffusion, and the reverse",
        paper="Hassani and Khasahmadi, Contrastive Multi-View Representation Learning on Graphs, ICML 2020",
    )
    # CiteSeer: the authors' settings, with the threshold in 1e-5, ..., 1e-2 that keeps about as many entries as edges.
    # WebKB: edges join nodes of different classes, and diffusion that stays near its node has a validation accuracy
    # that is eight to twelve points above that of the authors' alpha=0.2:
    # graphprox tune Wisconsin --method mvgrl --set scale_diffusion=true --over alpha=0.2,0.5,0.8 --splits 10
    # --train 0.48 --val 0.32
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "CiteSeer": {"threshold": 1e-2, "scale_diffusion": True},
        **{name: {"alpha": 0.8, "scale_diffusion": True} for name in ("Texas", "Cornell", "Cornell-2021", "Wisconsin")},
    }

    n_components: int = parameter(512, min=1)
    alpha: float = parameter(0.2, min=0.01, max=1)
    threshold: float = parameter(1e-4, min=1e-6, max=1)
    scale_diffusion: bool = parameter(False)
    num_subgraphs: int = parameter(4, min=1)
    subgraph_size: int = parameter(2000, min=2)
    epochs: int = parameter(3000, min=0)
    patience: int = parameter(20, min=1)
    learning_rate: float = parameter(1e-3, above=0)

    def _memory_costs(self, graph: Graph) -> Costs:
        size, n = Size.of(graph), self.n_components
        batch = size.nodes if size.nodes <= self.subgraph_size else self.num_subgraphs * self.subgraph_size
        dense = 2.0 * FLOAT * min(size.nodes**2, max(MAX_DENSE_ENTRIES, size.nodes))
        rows, weights = max(4.0 * batch, 2.0 * size.nodes) * n, 2.0 * size.columns * n + n**2
        return count_arrays(rows=rows, weights=weights, others=dense)

    def _fit(self, graph: Graph, seed: int, progress: Progress | None) -> FloatArray:
        views = self._make_views(graph, self.settings())
        whole, sampler = views.whole(), np.random.default_rng(seed)
        with fork_rng(seed) as generator:
            model = MVGRLModel(graph.num_features, self.n_components, generator)

            def compute_loss() -> Tensor:
                if graph.num_nodes <= self.subgraph_size:
                    return model.compute_loss(whole, generator)
                subgraphs = [
                    sampler.choice(graph.num_nodes, self.subgraph_size, replace=False)
                    for _ in range(self.num_subgraphs)
                ]
                return model.compute_loss(views.batch(subgraphs), generator)

            minimize(
                model,
                compute_loss,
                epochs=self.epochs,
                patience=self.patience,
                learning_rate=self.learning_rate,
                progress=progress,
            )
        self.model_ = model
        return warn_if_collapsed(self._encode(whole))

    def _transform(self, graph: Graph) -> FloatArray:
        return self._encode(self._make_views(graph, self.settings_).whole())

    @staticmethod
    def _make_views(graph: Graph, settings: Mapping[str, Any]) -> GraphViews:
        return GraphViews.of(
            graph,
            alpha=settings["alpha"],
            threshold=settings["threshold"],
            scale_diffusion=settings["scale_diffusion"],
        )

    @torch.no_grad()
    def _encode(self, whole: SubgraphBatch) -> FloatArray:
        along_edges, along_diffusion = (self.model_.encode(view, whole) for view in VIEWS)
        return to_vectors(along_edges + along_diffusion)


@dataclass(frozen=True, eq=False)
class SubgraphBatch:
    """Subgraphs of equal size: rows of features, and the edges of each view as a block-diagonal matrix."""

    num_subgraphs: int
    features: FeatureMatrix  # of the nodes that are in any subgraph
    row: Tensor  # (num_subgraphs * subgraph_size,) row of the features of each node
    edges: tuple[Edges, Edges]


@dataclass(frozen=True, eq=False)
class GraphViews:
    """A graph along its edges and along diffusion, to take subgraphs of.

    The diffusion matrix is dense: 1.5 GiB for 20,000 nodes. Its small entries are therefore dropped before training;
    the number of remaining entries grows linearly with the number of nodes.
    """

    graph: Graph
    matrices: tuple[sp.csr_array, sp.csr_array]

    @classmethod
    def of(cls, graph: Graph, *, alpha: float, threshold: float, scale_diffusion: bool) -> GraphViews:
        """Return the views of a graph; the arguments are those of `MVGRL`."""
        edges = GCNConv.propagation_matrix(in_neighbor_matrix(graph.edge_index, graph.edge_weight, graph.num_nodes))
        diffusion = diffuse(edges, alpha, threshold=threshold)
        if scale_diffusion:
            largest = np.maximum(diffusion.max(axis=0).toarray(), threshold)  # a column may have no entry left
            diffusion = sp.csr_array(diffusion @ sp.diags_array(1 / largest))
        return cls(graph, (edges, diffusion))

    def whole(self) -> SubgraphBatch:
        """Return the whole graph as a batch of one."""
        return self._make_batch(1, np.arange(self.graph.num_nodes), self.matrices)

    def batch(self, subgraphs: list[IntArray]) -> SubgraphBatch:
        """Return the subgraphs of several sets of nodes, which may overlap."""
        blocks = ([matrix[nodes][:, nodes] for nodes in subgraphs] for matrix in self.matrices)
        matrices = [sp.csr_array(sp.block_diag(each, format="csr")) for each in blocks]
        return self._make_batch(len(subgraphs), np.concatenate(subgraphs), matrices)

    def _make_batch(self, num_subgraphs: int, nodes: IntArray, matrices: Iterable[sp.csr_array]) -> SubgraphBatch:
        distinct, row = np.unique(nodes, return_inverse=True)
        features = FeatureMatrix.of(self.graph.x[distinct], normalize="rows")
        along_edges, along_diffusion = (Edges.of(matrix) for matrix in matrices)
        return SubgraphBatch(num_subgraphs, features, torch.from_numpy(row), (along_edges, along_diffusion))


def diffuse(matrix: sp.csr_array, alpha: float, *, threshold: float) -> sp.csr_array:
    """Return the matrix of personalized PageRank, a (I - (1 - a) A)^-1 with teleport probability a.

    It is computed a block of columns at a time, as the series of the powers of (1 - a) A.

    Parameters
    ----------
    matrix : csr_array of shape (num_nodes, num_nodes)
        The normalized adjacency matrix A.
    alpha : float
        Teleport probability.
    threshold : float
        Entries below it are dropped.

    Returns
    -------
    csr_array of shape (num_nodes, num_nodes)

    Examples
    --------
    >>> swap = sp.csr_array([[0.0, 1.0], [1.0, 0.0]])
    >>> diffuse(swap, 0.5, threshold=1e-3).toarray().round(3)
    array([[0.667, 0.333],
           [0.333, 0.667]], dtype=float32)
    """
    num_nodes = matrix.shape[0]
    transition = (matrix * (1 - alpha)).astype(np.float32)
    block_size = max(1, MAX_DENSE_ENTRIES // num_nodes)
    blocks = []
    for start in range(0, num_nodes, block_size):
        columns = np.arange(start, min(start + block_size, num_nodes))
        term = np.zeros((num_nodes, len(columns)), np.float32)
        term[columns, columns - start] = alpha
        total = term.copy()
        while term.max() * (1 - alpha) > TOLERANCE * threshold * alpha:
            term = transition @ term
            total += term
        total[total < threshold] = 0
        blocks.append(sp.csc_array(total))
    return sp.csr_array(sp.hstack(blocks, format="csr"))


class MVGRLModel(nn.Module):
    """A GCN layer for each view, and a bilinear form that scores nodes by a summary.

    Parameters
    ----------
    num_features : int
    n_components : int
    generator : torch.Generator
        Source of the initial weights.
    """

    def __init__(self, num_features: int, n_components: int, generator: torch.Generator) -> None:
        super().__init__()
        self.convolutions = nn.ModuleList(GCNConv(num_features, n_components, generator=generator) for _ in VIEWS)
        self.activations = nn.ModuleList(PReLU(n_components) for _ in VIEWS)
        self.weight = glorot(n_components, n_components, generator=generator)
        self.bias = nn.Parameter(torch.zeros(()))

    def compute_loss(self, batch: SubgraphBatch, generator: torch.Generator) -> Tensor:
        """Return the cross-entropy of discriminating nodes from those with features shuffled in their subgraph."""
        size = len(batch.row) // batch.num_subgraphs
        order = torch.randperm(size, generator=generator)
        shuffled_rows = (torch.arange(batch.num_subgraphs)[:, None] * size + order).ravel()
        nodes, shuffled = zip(*(self._encode_both(view, batch, shuffled_rows) for view in VIEWS), strict=True)
        summaries = [torch.sigmoid(h.view(batch.num_subgraphs, size, -1).mean(1)) for h in nodes]
        positive = [self.score(nodes[1 - view], summaries[view]) for view in VIEWS]
        negative = [self.score(shuffled[1 - view], summaries[view]) for view in VIEWS]
        return (functional.softplus(-torch.cat(positive)).mean() + functional.softplus(torch.cat(negative)).mean()) / 2

    def score(self, h: Tensor, summaries: Tensor) -> Tensor:
        """Return the score of each node by the summary of its subgraph.

        Parameters
        ----------
        h : Tensor of shape (num_subgraphs * subgraph_size, n_components)
        summaries : Tensor of shape (num_subgraphs, n_components)

        Returns
        -------
        Tensor of shape (num_subgraphs * subgraph_size,)
        """
        projected = summaries @ self.weight.T
        # A batched product with single columns takes several times as long.
        by_subgraph = zip(h.chunk(len(summaries)), projected, strict=True)
        return torch.cat([nodes @ summary for nodes, summary in by_subgraph]) + self.bias

    def encode(self, view: int, batch: SubgraphBatch) -> Tensor:
        """Return the vectors of the nodes of a batch in one view, (num_subgraphs * subgraph_size, n_components)."""
        return self._propagate(view, self._project(view, batch), batch)

    def _encode_both(self, view: int, batch: SubgraphBatch, shuffled_rows: Tensor) -> tuple[Tensor, Tensor]:
        projected = self._project(view, batch)
        # Shuffling projected rows equals projecting shuffled rows, and takes a hundredth of the time.
        return self._propagate(view, projected, batch), self._propagate(view, projected[shuffled_rows], batch)

    def _project(self, view: int, batch: SubgraphBatch) -> Tensor:
        return self._convolution(view).project(batch.features.matmul)[batch.row]

    def _propagate(self, view: int, projected: Tensor, batch: SubgraphBatch) -> Tensor:
        h: Tensor = self.activations[view](self._convolution(view).propagate(projected, batch.edges[view]))
        return h

    def _convolution(self, view: int) -> GCNConv:
        return cast("GCNConv", self.convolutions[view])
