"""Smoothed features: the baseline that uses edges and features, but no training."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import scipy.sparse as sp

from graphprox._utils.arrays import Features
from graphprox._utils.progress import Progress
from graphprox.forecast import Costs
from graphprox.forecast.largest_arrays import INDEX, count_arrays
from graphprox.forecast.work import FLOAT, Size
from graphprox.graph.graph import Graph
from graphprox.methods import InductiveEmbedder, MethodInfo, parameter, register_method

MAX_DENSITY = 0.1  # a matrix with a larger share of nonzero entries is smaller and faster as a dense array


@register_method("smoothed")
class SmoothedFeatures(InductiveEmbedder):
    """Features averaged over neighbors, the input of SGC's logistic regression.

    The features are multiplied ``hops`` times by D^(-1/2) (A + I) D^(-1/2).

    Parameters
    ----------
    hops : int, default=2
        Number of times that features are averaged over neighbors.
    preset : str, default="auto"
        Has no effect: there are no presets.
    scale : {"auto", "standard", "none"}, default="auto"
        Whether columns of features are standardized: those of a table, whose units differ; all of them; or none.
    random_state : int, RandomState, Generator or None, default=0
        Has no effect: the method is deterministic.
    verbose : bool, default=False
        Has no effect: nothing is trained.

    Attributes
    ----------
    embedding_ : Embedding
    vectors_ : ndarray or csr_array of shape (num_nodes, num_features)
        Sparse where few entries are nonzero.

    References
    ----------
    Wu et al., Simplifying Graph Convolutional Networks, ICML 2019.

    Examples
    --------
    >>> from graphprox import synthetic
    >>> SmoothedFeatures(hops=1).fit_transform(synthetic(nodes=140)).shape
    (140, 32)
    """

    info = MethodInfo(
        title="Smoothed features",
        group="floor",
        uses="AX",
        summary="features averaged over neighbors, two hops by default",
        paper="Wu et al., Simplifying Graph Convolutional Networks, ICML 2019",
    )
    stochastic: ClassVar[bool] = False

    hops: int = parameter(2, min=0)

    def _memory_costs(self, graph: Graph) -> Costs:
        size = Size.of(graph)
        return count_arrays(rows=2.0 * size.nonzero, entries=(INDEX + FLOAT) * float(size.entries + size.nodes))

    def _fit(self, graph: Graph, seed: int, progress: Progress | None) -> Features:  # noqa: ARG002 - deterministic
        return smooth_features(graph, self.hops)

    def _transform(self, graph: Graph) -> Features:
        return smooth_features(graph, self.settings_["hops"])


def smooth_features(graph: Graph, hops: int) -> Features:
    """Multiply the features by D^(-1/2) (A + I) D^(-1/2) a number of times.

    Parameters
    ----------
    graph : Graph
    hops : int

    Returns
    -------
    ndarray or csr_array of shape (num_nodes, num_features)
    """
    source, target = graph.edge_index
    weight = np.ones(graph.num_entries) if graph.edge_weight is None else graph.edge_weight
    shape = (graph.num_nodes, graph.num_nodes)
    neighbors = sp.csr_array((weight, (target, source)), shape=shape) + sp.eye_array(graph.num_nodes, format="csr")
    scale = sp.diags_array(1 / np.sqrt(np.asarray(neighbors.sum(axis=1)).ravel()))
    propagation = (scale @ neighbors @ scale).tocsr().astype(np.float32)
    smoothed = graph.x
    for _ in range(hops):
        smoothed = propagation @ smoothed
        if sp.issparse(smoothed) and smoothed.nnz > MAX_DENSITY * np.prod(smoothed.shape, dtype=float):
            smoothed = smoothed.toarray()
    return smoothed
