"""Embedders: whatever makes an embedding of a graph, behind one interface, by name.

Those without training cost nothing and keep the others honest: what they reach is in the data, not in what was learned.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from graphprox.arrays import FloatArray
from graphprox.errors import ParameterError
from graphprox.graph import Graph
from graphprox.methods.family import AUTO, METHODS, recipe_for
from graphprox.training.fitting import fit
from graphprox.training.recipe import Recipe
from graphprox.training.tables import did_you_mean, plain

RAW, SMOOTHED, UNTRAINED = "raw", "smoothed", "untrained"
TITLES = {RAW: "Raw features", SMOOTHED: "Smoothed features", UNTRAINED: "Untrained encoder"}
TITLES |= {name: method.title for name, method in METHODS.items()}
DENSE_FROM = 0.1  # of the entries: a matrix with more is smaller and faster as an array


class Embedder(Protocol):
    """Makes a row for every node of a graph, from its edges and features alone."""

    @property
    def settings(self) -> dict[str, Any]:
        """All that the embedding depends on beside the graph and the seed."""

    @property
    def drawn(self) -> bool:
        """Whether chance plays a part, so that another seed gives another embedding."""

    def embed(self, graph: Graph, seed: int) -> FloatArray | sp.csr_array:
        """The embedding, (nodes, width)."""


@dataclass(frozen=True)
class RawFeatures:
    """The features as they are."""

    drawn = False

    @property
    def settings(self) -> dict[str, Any]:
        """There is nothing to set."""
        return {}

    def embed(self, graph: Graph, seed: int) -> FloatArray | sp.csr_array:  # noqa: ARG002 - all embedders take one
        """The features, dense or sparse as the graph has them."""
        return graph.x


@dataclass(frozen=True)
class SmoothedFeatures:
    """Features averaged over neighbours, some steps long: what SGC feeds to its logistic regression."""

    steps: int = 2
    drawn = False

    @property
    def settings(self) -> dict[str, Any]:
        """How often features are averaged."""
        return {"steps": self.steps}

    def embed(self, graph: Graph, seed: int) -> FloatArray | sp.csr_array:  # noqa: ARG002 - all embedders take one
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


@dataclass(frozen=True)
class Trained:
    """What a recipe trains; one of no steps is an encoder as it was drawn."""

    recipe: Recipe
    drawn = True

    @property
    def settings(self) -> dict[str, Any]:
        """The recipe, less its name for people and the seed, which come with each trial."""
        fields: dict[str, Any] = plain(self.recipe)
        return {name: value for name, value in fields.items() if name not in ("method", "seed")}

    def embed(self, graph: Graph, seed: int) -> FloatArray:
        """Train from a seed, and embed."""
        return fit(graph, self.recipe.merged({"seed": seed})).embedding


def embedder_for(
    method: str, *, dataset: str | None = None, preset: str = AUTO, overrides: Mapping[str, Any] | None = None
) -> Embedder:
    """The embedder of a name, with the settings for a data set and whatever is overridden.

    >>> embedder_for("smoothed").settings
    {'steps': 2}
    >>> embedder_for("untrained", dataset="Cora").settings["steps"]
    0
    """
    changes = dict(overrides or {})
    if method == UNTRAINED:
        return Trained(recipe_for("ft-gcl", preset=preset, dataset=dataset, overrides={**changes, "steps": 0}))
    if method in METHODS:
        return Trained(recipe_for(method, preset=preset, dataset=dataset, overrides=changes))
    if method not in (RAW, SMOOTHED):
        raise ParameterError(f"a method must be a known one; got {method!r}: {did_you_mean(method, TITLES)}")
    if changes:
        raise ParameterError(f"{method} has nothing that could be changed; got {', '.join(changes)}")
    return RawFeatures() if method == RAW else SmoothedFeatures()
