"""DeepWalk: word2vec with nodes as words and random walks as sentences."""

from __future__ import annotations

import numpy as np

from graphprox._utils.arrays import FloatArray
from graphprox._utils.numba_helpers import Int32Array
from graphprox._utils.outcome import raise_if_diverged, warn_if_collapsed
from graphprox._utils.progress import Progress
from graphprox.forecast import Costs
from graphprox.forecast.largest_arrays import count_arrays
from graphprox.forecast.work import FLOAT
from graphprox.graph.graph import Graph
from graphprox.methods import GraphEmbedder, MethodInfo, parameter, register_method
from graphprox.methods._skipgram import train_skip_gram
from graphprox.views.local_structure.walks import random_walks


@register_method("deepwalk")
class DeepWalk(GraphEmbedder):
    """Skip-gram with negative sampling on random walks from every node.

    Directions of edges are ignored. A walk from an isolated node stays there.

    Parameters
    ----------
    n_components : int, default=128
        Size of the embedding.
    num_walks : int, default=10
        Number of walks from each node.
    walk_length : int, default=80
        Number of nodes of a walk.
    window_size : int, default=10
        Largest distance on a walk between a node and its context.
    num_negatives : int, default=5
        Number of negative samples per positive pair.
    epochs : int, default=1
        Number of passes over the walks. 0 keeps the random initial vectors.
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
    Perozzi et al., DeepWalk: Online Learning of Social Representations, KDD 2014.

    Examples
    --------
    >>> from graphprox import synthetic
    >>> DeepWalk(n_components=8, num_walks=1, walk_length=5).fit_transform(synthetic(nodes=140)).shape
    (140, 8)
    """

    info = MethodInfo(
        title="DeepWalk",
        group="walks and edges",
        uses="A",
        summary="skip-gram with negative sampling on random walks",
        paper="Perozzi et al., DeepWalk: Online Learning of Social Representations, KDD 2014",
    )

    n_components: int = parameter(128, min=1)
    num_walks: int = parameter(10, min=1)
    walk_length: int = parameter(80, min=2)
    window_size: int = parameter(10, min=1)
    num_negatives: int = parameter(5, min=1)
    # Two or five passes over the walks have the same validation accuracy.
    epochs: int = parameter(1, min=0)
    learning_rate: float = parameter(0.025, above=0)

    def _memory_costs(self, graph: Graph) -> Costs:
        walks = FLOAT * float(graph.num_nodes) * self.num_walks * self.walk_length
        return count_arrays(rows=2.0 * graph.num_nodes * self.n_components, entries=walks)

    def _fit(self, graph: Graph, seed: int, progress: Progress | None) -> FloatArray:
        generator = np.random.default_rng(seed)
        vectors = train_skip_gram(
            self._sample_walks(graph, generator).reshape(-1, self.walk_length),
            generator,
            num_nodes=graph.num_nodes,
            n_components=self.n_components,
            window_size=self.window_size,
            num_negatives=self.num_negatives,
            epochs=self.epochs,
            learning_rate=self.learning_rate,
            progress=progress,
        )
        return warn_if_collapsed(raise_if_diverged(vectors, "lower learning_rate"))

    def _sample_walks(self, graph: Graph, generator: np.random.Generator) -> Int32Array:
        return random_walks(graph, generator, num_walks=self.num_walks, walk_length=self.walk_length - 1)
