"""Diffused features: the strongest baseline without training."""

from __future__ import annotations

import numpy as np
import torch
from sklearn.preprocessing import normalize
from sklearn.utils.extmath import randomized_svd

from graphprox._utils.arrays import Features, FloatArray
from graphprox._utils.outcome import warn_if_unused
from graphprox._utils.progress import Progress
from graphprox.forecast import Costs
from graphprox.forecast.largest_arrays import count_arrays
from graphprox.forecast.work import FLOAT, Size
from graphprox.graph.graph import Graph
from graphprox.methods import InductiveEmbedder, MethodInfo, parameter, register_method
from graphprox.nn.convolution import in_neighbor_matrix
from graphprox.nn.encoders.gcn import GCNConv
from graphprox.nn.propagation import diffuse, pagerank_coefficients


class _FittedDiffusion:
    """Attributes that ``fit`` sets."""

    components_: FloatArray


@register_method("diffused")
class DiffusedFeatures(_FittedDiffusion, InductiveEmbedder):
    """Features spread along edges by personalized PageRank, without training.

    Rows of the features are scaled to length 1, projected to their leading singular vectors, scaled again, and
    diffused: z ← (1 - alpha) Â z + alpha h, ``hops`` times, where Â is D^(-1/2) (A + I) D^(-1/2). Unlike after plain
    averaging, every node keeps a share ``alpha`` of its own features.

    Parameters
    ----------
    n_components : int, default=256
        Size of the embedding. If there are fewer features, it is their number: nothing is projected then. There is a
        warning if a size other than the default is given.
    alpha : float, default=0.15
        Teleport probability: the weight of a node's own features.
    hops : int, default=10
        Number of power iterations.
    preset : str, default="auto"
        Has no effect: there are no presets.
    scale : {"auto", "standard", "none"}, default="auto"
        Whether columns of features are standardized: those of a table, whose units differ; all of them; or none.
    random_state : int, RandomState, Generator or None, default=0
        Random seed of the singular vectors, which are computed by a randomized algorithm.
    verbose : bool, default=False
        Has no effect: nothing is trained.

    Attributes
    ----------
    embedding_ : Embedding
    vectors_ : ndarray of shape (num_nodes, n_components)
    components_ : ndarray of shape (num_features, n_components)
        Right singular vectors of the features; the identity where there are at most ``n_components`` features.

    References
    ----------
    Gasteiger et al., Predict then Propagate: Graph Neural Networks meet Personalized PageRank, ICLR 2019.

    Examples
    --------
    >>> from graphprox import synthetic
    >>> DiffusedFeatures(n_components=8).fit_transform(synthetic(nodes=140)).shape
    (140, 8)
    """

    info = MethodInfo(
        title="Diffused features",
        group="floor",
        uses="AX",
        summary="features spread along edges by personalized PageRank, ten hops by default",
        paper="Gasteiger et al., Predict then Propagate, ICLR 2019",
    )

    n_components: int = parameter(256, min=1)
    alpha: float = parameter(0.15, min=0, max=1)
    hops: int = parameter(10, min=0)

    def _memory_costs(self, graph: Graph) -> Costs:
        size = Size.of(graph)
        width = min(self.n_components, size.columns)
        return count_arrays(rows=2.0 * size.nodes * width, others=FLOAT * float(size.columns) * width)

    def _fit(self, graph: Graph, seed: int, progress: Progress | None) -> FloatArray:  # noqa: ARG002 - takes seconds
        self.components_ = leading_directions(normalize(graph.x), self.n_components, seed)
        used, default = self.components_.shape[1], self.parameters()["n_components"].default
        warn_if_unused(used, self.n_components, default, "exist, one for each feature: choose fewer")
        return _diffuse_features(graph, self.components_, self.alpha, self.hops)

    def _transform(self, graph: Graph) -> FloatArray:
        return _diffuse_features(graph, self.components_, self.settings_["alpha"], self.settings_["hops"])


def leading_directions(x: Features, n_components: int, random_state: int) -> FloatArray:
    """Return the leading right singular vectors of a matrix.

    Parameters
    ----------
    x : ndarray or csr_array of shape (num_nodes, num_features)
    n_components : int
    random_state : int
        Random seed of the algorithm of Halko et al.

    Returns
    -------
    ndarray of shape (num_features, n_components)
        The identity if there are at most ``n_components`` features.
    """
    num_features = x.shape[1]
    if num_features <= n_components:
        return np.eye(num_features, dtype=np.float32)
    _, _, right = randomized_svd(x, min(n_components, *x.shape), random_state=random_state % 2**32)
    return np.ascontiguousarray(right.T, dtype=np.float32)


def _diffuse_features(graph: Graph, directions: FloatArray, alpha: float, hops: int) -> FloatArray:
    rows = normalize(np.asarray(normalize(graph.x) @ directions))
    edges = GCNConv.prepare_edges(in_neighbor_matrix(graph.edge_index, graph.edge_weight, graph.num_nodes))
    h = torch.tensor(rows, dtype=torch.float32)
    return diffuse(edges, h, pagerank_coefficients(alpha, hops)).numpy()
