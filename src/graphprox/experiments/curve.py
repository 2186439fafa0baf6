"""How long to train: accuracy on validation nodes after more and more steps of one training."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from graphprox.arrays import FloatArray
from graphprox.evaluation.inputs import labels_of
from graphprox.evaluation.probe import probe
from graphprox.graph import Graph
from graphprox.memory import pages_kept
from graphprox.splits import NodeSplit
from graphprox.training.fitting import ranked_views
from graphprox.training.model import chosen_device
from graphprox.training.recipe import Recipe
from graphprox.training.trainer import Trainer


@dataclass(frozen=True)
class Mark:
    """Where a training stood after some steps: accuracy on validation nodes, mean and deviation over splits."""

    steps: int
    loss: float | None
    accuracy: float
    deviation: float


def trained_to(
    graph: Graph, recipe: Recipe, marks: Iterable[int], *, device: str = "auto"
) -> Iterator[tuple[list[float], FloatArray]]:
    """Train once; after so many steps as each of the ``marks`` says, the losses so far and the embedding."""
    trainer = Trainer(graph, ranked_views(graph, recipe), recipe, device=chosen_device(device))
    for mark in sorted(marks):
        with pages_kept():
            while len(trainer.losses) < mark:
                trainer.step()
        yield list(trainer.losses), trainer.model.embed(graph)


def curve(
    graph: Graph, recipe: Recipe, splits: Sequence[NodeSplit], marks: Sequence[int], *, device: str = "auto"
) -> Iterator[Mark]:
    """Train once, and probe after so many steps as ``marks`` say; test nodes are never looked at.

    >>> from graphprox import random_split, synthetic
    >>> graph = synthetic()
    >>> recipe = Recipe(encoder={"width": 16}, head={"width": 16})
    >>> [mark.steps for mark in curve(graph, recipe, [random_split(graph, seed=0)], [0, 2])]
    [0, 2]
    """
    labels = labels_of(graph)
    for losses, embedding in trained_to(graph.without_labels(), recipe, marks, device=device):
        scores = [probe(embedding, labels, split).validation_accuracy for split in splits]
        loss = losses[-1] if losses else None
        yield Mark(len(losses), loss, float(np.mean(scores)), float(np.std(scores)))
