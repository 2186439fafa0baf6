"""The floor: what needs no training, and keeps the others honest: what it reaches is in the data, and not learned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy.sparse as sp

from graphprox.arrays import FloatArray
from graphprox.baselines.base import About, EmbeddingBaseline, setting
from graphprox.graph import Graph
from graphprox.proximity.descriptors import Progress

DENSE_FROM = 0.1  # of the entries: a matrix with more is smaller and faster as an array


@dataclass(frozen=True)
class RawFeatures(EmbeddingBaseline):
    """The features as they are."""

    about = About(title="Raw features", group="floor", uses="X", paper="", summary="the features as they are")
    drawn: ClassVar[bool] = False

    def embed(self, graph: Graph, seed: int, *, progress: Progress | None = None) -> FloatArray | sp.csr_array:  # noqa: ARG002 - as all
        """The features, dense or sparse as the graph has them."""
        return graph.x


@dataclass(frozen=True)
class SmoothedFeatures(EmbeddingBaseline):
    """Features averaged over neighbours, some steps long: what SGC feeds to its logistic regression.

    >>> from graphprox import synthetic
    >>> SmoothedFeatures(steps=1).embed(synthetic(nodes=140), seed=0).shape
    (140, 32)
    """

    about = About(
        title="Smoothed features",
        group="floor",
        uses="AX",
        paper="Wu et al., Simplifying Graph Convolutional Networks, ICML 2019",
        summary="features averaged over neighbours, two steps long",
    )
    drawn: ClassVar[bool] = False

    steps: int = setting(2, least=0)

    def embed(self, graph: Graph, seed: int, *, progress: Progress | None = None) -> FloatArray | sp.csr_array:  # noqa: ARG002 - as all
        """Multiply by D^(-1/2) (A + I) D^(-1/2) so many times."""
        source, target = graph.edge_index
        weight = np.ones(graph.num_entries) if graph.edge_weight is None else graph.edge_weight
        shape = (graph.num_nodes, graph.num_nodes)
        joined = sp.csr_array((weight, (target, source)), shape=shape) + sp.eye_array(graph.num_nodes, format="csr")
        scale = sp.diags_array(1 / np.sqrt(np.asarray(joined.sum(axis=1)).ravel()))
        spread = (scale @ joined @ scale).tocsr().astype(np.float32)
        smoothed = graph.x
        for _ in range(self.steps):
            smoothed = spread @ smoothed
            if sp.issparse(smoothed) and smoothed.nnz > DENSE_FROM * np.prod(smoothed.shape, dtype=float):
                smoothed = smoothed.toarray()
        return smoothed
