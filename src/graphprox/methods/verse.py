"""VERSE: inner products that approximate personalized PageRank, by noise-contrastive estimation."""

from __future__ import annotations

import math

import numpy as np

from graphprox._utils.arrays import FloatArray, IntArray
from graphprox._utils.checks import sample_seed
from graphprox._utils.hashing import GOLDEN, stream, uniform
from graphprox._utils.numba_helpers import Float32Array, Int32Array, njit_fast
from graphprox._utils.outcome import raise_if_diverged, warn_if_collapsed
from graphprox._utils.progress import Progress
from graphprox.graph.graph import Graph
from graphprox.methods import GraphEmbedder, MethodInfo, parameter, register_method
from graphprox.methods._skipgram import allocate_buffers, iterate_chunks, update_vectors
from graphprox.views.local_structure.adjacency import Adjacency, to_adjacency
from graphprox.views.local_structure.walks import sample_neighbor


@register_method("verse")
class VERSE(GraphEmbedder):
    """Vectors whose inner products approximate personalized PageRank.

    A positive pair is a random node and the end of a random walk from it, which continues with probability
    ``damping`` at every step; negative samples are uniform. Directions of edges are ignored.

    Parameters
    ----------
    n_components : int, default=128
        Size of the embedding.
    damping : float, default=0.85
        Probability that a walk continues; the paper's alpha.
    epochs : int, default=10000
        Number of epochs. An epoch samples as many positive pairs as the graph has nodes, with replacement. 0 keeps the
        random initial vectors.
    num_negatives : int, default=3
        Number of negative samples per positive pair.
    learning_rate : float, default=0.0025
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
    Tsitsulin et al., VERSE: Versatile Graph Embeddings from Similarity Measures, WWW 2018.

    Examples
    --------
    >>> from graphprox import synthetic
    >>> VERSE(n_components=8, epochs=2).fit_transform(synthetic(nodes=140)).shape
    (140, 8)
    """

    info = MethodInfo(
        title="VERSE",
        group="walks and edges",
        uses="A",
        summary="inner products approximate personalized PageRank, by noise-contrastive estimation",
        paper="Tsitsulin et al., VERSE: Versatile Graph Embeddings from Similarity Measures, WWW 2018",
    )

    n_components: int = parameter(128, min=1)
    damping: float = parameter(0.85, min=0, max=0.999)
    epochs: int = parameter(10_000, min=0)
    num_negatives: int = parameter(3, min=1)
    learning_rate: float = parameter(0.0025, above=0)

    def _fit(self, graph: Graph, seed: int, progress: Progress | None) -> FloatArray:
        generator, adjacency = np.random.default_rng(seed), to_adjacency(graph)
        vectors = generator.random((graph.num_nodes, self.n_components), np.float32) - np.float32(0.5)
        stream_seed = sample_seed(generator)
        for first, end in iterate_chunks(self.epochs * graph.num_nodes, progress):
            _train(adjacency, self.damping, vectors, self.num_negatives, self.learning_rate, stream_seed, first, end)
        return warn_if_collapsed(raise_if_diverged(vectors, "lower learning_rate"))


@njit_fast
def sample_walk_end(
    start: IntArray,
    neighbor: Int32Array,
    keep: Float32Array,
    other: Int32Array,
    damping: float,
    source: int,
    state: np.uint64,
) -> tuple[int, np.uint64]:
    """Return the last node of a walk that continues with probability ``damping``, and the next random state."""
    steps = int(math.log(1 - uniform(state)) / math.log(damping)) if damping > 0 else 0
    state += GOLDEN
    node = source
    if start[node] < start[node + 1]:
        for _ in range(steps):
            node = sample_neighbor(start, neighbor, keep, other, node, state)
            state += GOLDEN
    return node, state


@njit_fast
def _train(
    adjacency: Adjacency,
    damping: float,
    vectors: Float32Array,
    num_negatives: int,
    learning_rate: float,
    seed: np.uint64,
    first: int,
    end: int,
) -> None:
    start, neighbor, keep, other = adjacency.start, adjacency.neighbor, adjacency.keep, adjacency.other
    num_nodes, rate = len(vectors), np.float32(learning_rate)
    # Negative samples are uniform: minus the logarithm of the probability that a given node is one.
    bias, noise_bias = math.log(num_nodes), math.log(num_nodes / num_negatives)
    targets = np.empty(1 + num_negatives, np.int64)
    score, x, change = allocate_buffers(num_negatives, vectors.shape[1])
    state = stream(seed, first, 0)
    for _ in range(first, end):
        source = int(uniform(state) * num_nodes)
        state += GOLDEN
        targets[0], state = sample_walk_end(start, neighbor, keep, other, damping, source, state)
        for k in range(1, len(targets)):
            targets[k] = int(uniform(state) * num_nodes)
            state += GOLDEN
        update_vectors(vectors, source, vectors, targets, len(targets), bias, noise_bias, rate, score, x, change)
