"""LINE: embeds neighbors close together (first order), or nodes that share neighbors (second order)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from graphprox._utils.arrays import FloatArray
from graphprox._utils.checks import sample_seed
from graphprox._utils.hashing import GOLDEN, stream
from graphprox._utils.numba_helpers import Float32Array, Int32Array, njit_fast
from graphprox._utils.outcome import raise_if_diverged, warn_if_collapsed
from graphprox._utils.progress import Progress
from graphprox.forecast import Costs
from graphprox.forecast.largest_arrays import count_arrays
from graphprox.forecast.work import FLOAT
from graphprox.graph.graph import Graph
from graphprox.methods import GraphEmbedder, MethodInfo, parameter, register_method
from graphprox.methods._skipgram import (
    NOISE_POWER,
    AliasTable,
    allocate_buffers,
    decay_learning_rate,
    init_vectors,
    iterate_chunks,
    sample_entry,
    sample_negative_targets,
    update_vectors,
)


@register_method("line")
class LINE(GraphEmbedder):
    """First-order and second-order proximity by negative sampling of edges, trained separately and concatenated.

    Edges are sampled in proportion to their weight. For the first order both ends of an edge share one matrix of
    vectors; for the second order the target has a separate context vector, which is discarded after training. Each
    part of a vector is scaled to unit length. Directions of edges and self-loops are ignored. An isolated node keeps
    its random initial vector.

    Parameters
    ----------
    n_components : int, default=128
        Size of the embedding; with both orders the first has half of it, rounded down.
    order : {"both", "first", "second"}, default="both"
        Proximity to preserve.
    epochs : int, default=1000
        Number of epochs. An epoch samples as many positive pairs as the graph has edges in both directions, self-loops
        left out, with replacement; each order is trained for so many. 0 keeps the random initial vectors.
    num_negatives : int, default=5
        Number of negative samples per edge.
    learning_rate : float, default=0.025
        Initial learning rate, which decays linearly.
    preset : str, default="auto"
        Settings selected for a data set; see :class:`~graphprox.methods.base.GraphMethod`.
    scale : {"auto", "standard", "none"}, default="auto"
        Has no effect: features are not read.
    random_state : int, RandomState, Generator or None, default=0
        Random seed.
    verbose : bool, default=False
        Whether to print progress on stderr.

    Attributes
    ----------
    embedding_ : Embedding
    vectors_ : ndarray of shape (num_nodes, n_components)

    References
    ----------
    Tang et al., LINE: Large-scale Information Network Embedding, WWW 2015.

    Examples
    --------
    >>> from graphprox import synthetic
    >>> LINE(n_components=8, epochs=2).fit_transform(synthetic(nodes=140)).shape
    (140, 8)
    """

    info = MethodInfo(
        title="LINE",
        group="walks and edges",
        uses="A",
        summary="negative sampling of edges, for neighbors and for nodes that share neighbors",
        paper="Tang et al., LINE: Large-scale Information Network Embedding, WWW 2015",
    )

    n_components: int = parameter(128, min=1)
    order: str = parameter("both", choices=("both", "first", "second"))
    epochs: int = parameter(1000, min=0)
    num_negatives: int = parameter(5, min=1)
    learning_rate: float = parameter(0.025, above=0)

    def _memory_costs(self, graph: Graph) -> Costs:
        entries = 4.0 * FLOAT * graph.num_entries  # two nodes, and an alias with its probability
        return count_arrays(rows=2.0 * graph.num_nodes * self.n_components, entries=entries)

    def _fit(self, graph: Graph, seed: int, progress: Progress | None) -> FloatArray:
        generator, edges, half = np.random.default_rng(seed), EdgeSampler.of(graph), self.n_components // 2
        sizes = {"first": half, "second": self.n_components - half}
        if self.order != "both":
            sizes = {self.order: self.n_components}
        parts = [self._train_order(edges, order, size, generator, progress) for order, size in sizes.items() if size]
        return warn_if_collapsed(raise_if_diverged(np.concatenate(parts, axis=1), "lower learning_rate"))

    def _train_order(
        self, edges: EdgeSampler, order: str, size: int, generator: Generator, progress: Progress | None
    ) -> FloatArray:
        """Return unit vectors that preserve one order of proximity, (num_nodes, size)."""
        vectors = init_vectors(generator, edges.num_nodes, size)
        contexts = vectors if order == "first" else np.zeros_like(vectors)
        seed, total = sample_seed(generator), self.epochs * len(edges.source)
        for first, end in iterate_chunks(total, progress, f"{order} order"):
            first_rate, last_rate = (decay_learning_rate(done, total, self.learning_rate) for done in (first, end))
            _train(
                edges.source, edges.target, edges.by_weight, edges.by_degree, vectors, contexts,
                self.num_negatives, first_rate, last_rate, seed, first, end,
            )  # fmt: skip
        length = np.linalg.norm(vectors, axis=1, keepdims=True)
        length[length == 0] = 1
        vectors /= length
        return vectors


@dataclass(frozen=True, eq=False)
class EdgeSampler:
    """Both directions of every edge, and the distributions to sample edges and negative nodes from."""

    num_nodes: int
    source: Int32Array  # (num_entries,)
    target: Int32Array  # (num_entries,)
    by_weight: AliasTable  # of entries
    by_degree: AliasTable  # of nodes

    @classmethod
    def of(cls, graph: Graph) -> EdgeSampler:
        """Return the sampler of a graph."""
        graph = graph.to_undirected() if graph.directed else graph
        source, target = graph.edge_index.astype(np.int32)
        weight = np.ones(len(source), np.float32) if graph.edge_weight is None else graph.edge_weight
        is_edge = source != target
        source, target, weight = source[is_edge], target[is_edge], weight[is_edge]
        degree = np.bincount(source, weight, minlength=graph.num_nodes)
        return cls(graph.num_nodes, source, target, AliasTable.of(weight), AliasTable.of(degree**NOISE_POWER))


@njit_fast
def _train(
    source: Int32Array,
    target: Int32Array,
    by_weight: AliasTable,
    by_degree: AliasTable,
    vectors: Float32Array,
    contexts: Float32Array,
    num_negatives: int,
    first_rate: float,
    last_rate: float,
    seed: np.uint64,
    first: int,
    end: int,
) -> None:
    keep, other, node_keep, node_other = by_weight.keep, by_weight.other, by_degree.keep, by_degree.other
    targets = np.empty(1 + num_negatives, np.int64)
    score, x, change = allocate_buffers(num_negatives, vectors.shape[1])
    state = stream(seed, first, 0)
    for step in range(first, end):
        rate = np.float32(first_rate + (last_rate - first_rate) * (step - first) / (end - first))
        edge = sample_entry(keep, other, state)
        state += GOLDEN
        targets[0] = target[edge]
        count, state = sample_negative_targets(node_keep, node_other, targets, source[edge], state)
        update_vectors(vectors, source[edge], contexts, targets, count, 0.0, 0.0, rate, score, x, change)
