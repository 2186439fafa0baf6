"""Embedders and classifiers: whatever makes something of a graph, behind one interface each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, runtime_checkable

import scipy.sparse as sp

from graphprox.arrays import FloatArray, IntArray
from graphprox.graph import Graph
from graphprox.proximity.descriptors import Progress
from graphprox.splits import NodeSplit
from graphprox.training.fitting import fit
from graphprox.training.recipe import Recipe
from graphprox.training.tables import plain
from graphprox.training.trainer import Step


class _Made(Protocol):
    @property
    def settings(self) -> dict[str, Any]:
        """All that the result depends on beside the graph and the seed."""

    @property
    def drawn(self) -> bool:
        """Whether chance plays a part, so that another seed gives another result."""


@runtime_checkable
class Embedder(_Made, Protocol):
    """Makes a row for every node of a graph, from its edges and features alone."""

    def embed(self, graph: Graph, seed: int, *, progress: Progress | None = None) -> FloatArray | sp.csr_array:
        """The embedding, (nodes, width)."""


@runtime_checkable
class Classifier(_Made, Protocol):
    """Learns from the labels of training nodes which class every node is of, and stops by those of validation nodes."""

    def predict(self, graph: Graph, split: NodeSplit, seed: int, *, progress: Progress | None = None) -> IntArray:
        """The class of every node, (nodes,)."""


Maker: TypeAlias = Embedder | Classifier


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

    def embed(self, graph: Graph, seed: int, *, progress: Progress | None = None) -> FloatArray:
        """Train from a seed, and embed."""
        recipe = self.recipe.merged({"seed": seed})
        return fit(graph, recipe, progress=progress, on_step=_told(progress, recipe.steps)).embedding


def _told(progress: Progress | None, steps: int) -> list[Callable[[Step], None]]:
    return [] if progress is None else [lambda step: progress("training", step.step, steps)]
