"""Which settings to take: accuracy on validation nodes with each of several."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from graphprox.evaluation.inputs import labels_of
from graphprox.evaluation.probe import probe
from graphprox.experiments.comparison import scored
from graphprox.graph import Graph
from graphprox.methods.embedders import Maker
from graphprox.proximity.descriptors import Progress
from graphprox.splits import NodeSplit, random_split


@dataclass(frozen=True)
class Trial:
    """How a method does with some settings: accuracy on validation nodes, mean and deviation over splits.

    ``seconds`` are those of one training.
    """

    settings: Mapping[str, Any]
    accuracy: float
    deviation: float
    seconds: float


def splits_to_choose_by(
    graph: Graph, count: int, *, first: int = 1000, train: float = 0.1, validation: float = 0.1
) -> list[NodeSplit]:
    """Random splits from a seed on that no table reports on."""
    return [random_split(graph, seed=first + each, train=train, validation=validation) for each in range(count)]


def combinations(values: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """Every way to take one value of each setting; the last setting changes first.

    >>> combinations({"width": [8, 16], "dropout": [0.5]})
    [{'width': 8, 'dropout': 0.5}, {'width': 16, 'dropout': 0.5}]
    """
    return [dict(zip(values, chosen, strict=True)) for chosen in product(*values.values())]


def tune(
    graph: Graph,
    makers: Sequence[tuple[Mapping[str, Any], Maker]],
    splits: Sequence[NodeSplit],
    *,
    seed: int = 0,
    progress: Progress | None = None,
) -> Iterator[Trial]:
    """A method with each of several settings, one after another as they are done; test nodes decide nothing.

    >>> from graphprox import random_split, synthetic
    >>> from graphprox.methods.registry import method_for
    >>> graph = synthetic()
    >>> makers = [({"steps": steps}, method_for("smoothed", overrides={"steps": steps})) for steps in (1, 2)]
    >>> [trial.settings for trial in tune(graph, makers, [random_split(graph, seed=0)])]
    [{'steps': 1}, {'steps': 2}]
    """
    labels_of(graph)  # what has no labels is refused before anything is trained
    for settings, maker in makers:
        result = scored(maker, graph, splits, probe, seed=seed, progress=progress)
        right = [each.validation_accuracy for each in result.scores]
        yield Trial(settings, float(np.mean(right)), float(np.std(right)), result.seconds)
