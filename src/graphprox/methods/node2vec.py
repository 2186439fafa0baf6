"""node2vec: DeepWalk with biased walks, which stay near their start or lead away from it."""

from __future__ import annotations

import numpy as np

from graphprox._utils.checks import MAX_BIAS
from graphprox._utils.numba_helpers import Int32Array
from graphprox.graph.graph import Graph
from graphprox.methods import MethodInfo, parameter, register_method
from graphprox.methods.deepwalk import DeepWalk
from graphprox.views.local_structure.walks import random_walks


@register_method("node2vec")
class Node2Vec(DeepWalk):
    """Skip-gram with negative sampling on second-order random walks.

    Directions of edges are ignored. A walk from an isolated node stays there.

    Parameters
    ----------
    p : float, default=1.0
        Return parameter: with smaller values, walks return to the previous node more often.
    q : float, default=1.0
        In-out parameter: with smaller values, walks move away from the previous node more often.
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
    Grover and Leskovec, node2vec: Scalable Feature Learning for Networks, KDD 2016.

    Examples
    --------
    >>> from graphprox import synthetic
    >>> Node2Vec(n_components=8, num_walks=1, walk_length=5, q=2.0).fit_transform(synthetic(nodes=140)).shape
    (140, 8)
    """

    info = MethodInfo(
        title="node2vec",
        group="walks and edges",
        uses="A",
        summary="DeepWalk with biased walks, which stay near their start or lead away from it",
        paper="Grover and Leskovec, node2vec: Scalable Feature Learning for Networks, KDD 2016",
    )

    p: float = parameter(1.0, min=1 / MAX_BIAS, max=MAX_BIAS)
    q: float = parameter(1.0, min=1 / MAX_BIAS, max=MAX_BIAS)

    def _sample_walks(self, graph: Graph, generator: np.random.Generator) -> Int32Array:
        return random_walks(
            graph, generator, num_walks=self.num_walks, walk_length=self.walk_length - 1, p=self.p, q=self.q
        )
