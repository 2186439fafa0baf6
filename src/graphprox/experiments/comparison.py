"""Methods side by side on one graph: how well classes show, how long it took, how much memory."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from graphprox.datasets.dataset import Dataset
from graphprox.errors import GraphproxError, ParameterError
from graphprox.evaluation.inputs import labels_of
from graphprox.evaluation.probe import Score, score
from graphprox.evaluation.protocols import PROTOCOLS
from graphprox.experiments.figures import new_figure, save_figure
from graphprox.graph import Graph
from graphprox.memory import forget_peak, peak_memory
from graphprox.methods.embedders import Classifier, Maker
from graphprox.methods.registry import METHODS, method_for, method_named
from graphprox.proximity.descriptors import Progress
from graphprox.splits import NodeSplit

ALL = "all"
# What is compared unless told: a few of each kind, none of which takes long.
USUAL = ("raw", "smoothed", "untrained", "deepwalk", "dgi", "cca-ssg", "f-gcl", "t-gcl", "ft-gcl", "ft-gcl-plus")


@dataclass(frozen=True)
class Outcome:
    """What a method made of a graph. Scores are a mean over splits, None without labels.

    ``failure`` says in a sentence why there is nothing, where there is nothing. What learns classes by itself does so
    on each split: ``seconds`` are those of one.
    """

    method: str
    title: str
    accuracy: float | None = None
    deviation: float | None = None
    macro_f1: float | None = None
    seconds: float | None = None
    peak_memory: int | None = None
    failure: str = ""


def chosen_methods(names: Sequence[str], *, labelled: bool) -> list[str]:
    """The methods of some names; "all" is every one that there is, less those that need labels where there are none.

    >>> chosen_methods(["FT_GCL", "raw"], labelled=False)
    ['ft-gcl', 'raw']
    """
    wanted = list(METHODS) if ALL in names else [method_named(name).name for name in names]
    if labelled:
        return list(dict.fromkeys(wanted))
    learning = [name for name in wanted if "Y" in METHODS[name].about.uses]
    if learning and ALL not in names:
        raise ParameterError(
            f"{METHODS[learning[0]].about.title} learns from labels; the graph has none: give --labels"
        )
    return [name for name in dict.fromkeys(wanted) if name not in learning]


def compare(
    dataset: Dataset,
    methods: Sequence[str],
    *,
    protocol: str = "random",
    splits: int = 10,
    seed: int = 0,
    progress: Progress | None = None,
) -> Iterator[Outcome]:
    """Each method on one graph, one after another as they are done; one that fails does not stop the others.

    >>> from graphprox import load
    >>> [outcome.title for outcome in compare(load("synthetic:nodes=140"), ["raw", "smoothed"], splits=1)]
    ['Raw features', 'Smoothed features']
    """
    labelled = dataset.graph.y is not None
    of_nodes = PROTOCOLS[protocol].splits(dataset, count=splits) if labelled else []
    for name in chosen_methods(methods, labelled=labelled):
        title = METHODS[name].about.title
        try:
            yield _outcome(name, method_for(name, dataset=dataset.name), dataset, protocol, of_nodes, seed, progress)
        except GraphproxError as error:
            yield Outcome(name, title, failure=str(error))


def _outcome(
    name: str,
    maker: Maker,
    dataset: Dataset,
    protocol: str,
    splits: list[NodeSplit],
    seed: int,
    progress: Progress | None,
) -> Outcome:
    result = scored(maker, dataset.graph, splits, PROTOCOLS[protocol].probe, seed=seed, progress=progress)
    return Outcome(name, METHODS[name].about.title, *_summary(result.scores), result.seconds, result.peak_memory)


class Scored(NamedTuple):
    """Scores of a method by split, the seconds of one training, and the most memory that it held."""

    scores: list[Score]
    seconds: float
    peak_memory: int | None


def scored(
    maker: Maker,
    graph: Graph,
    splits: Sequence[NodeSplit],
    probe: Callable[..., Score],
    *,
    seed: int,
    progress: Progress | None = None,
) -> Scored:
    """One embedding, probed on each split; what learns classes by itself learns them anew on each."""
    forget_peak()
    began = time.perf_counter()
    if isinstance(maker, Classifier):
        told = [maker.predict(graph, split, seed, progress=progress) for split in splits]
        seconds, peak = (time.perf_counter() - began) / len(splits), peak_memory()
        scores = [score(each, labels_of(graph), split) for each, split in zip(told, splits, strict=True)]
    else:
        embedding = maker.embed(graph.without_labels(), seed, progress=progress)
        seconds, peak = time.perf_counter() - began, peak_memory()
        scores = [probe(embedding, labels_of(graph), split) for split in splits]
    return Scored(scores, seconds, peak)


def _summary(scores: list[Score]) -> tuple[float | None, float | None, float | None]:
    if not scores:
        return None, None, None
    accuracies = [each.accuracy for each in scores]
    return float(np.mean(accuracies)), float(np.std(accuracies)), float(np.mean([each.macro_f1 for each in scores]))


def draw(folder: Path, outcomes: Sequence[Outcome], title: str) -> list[Path]:
    """Bars of accuracy, where there are labels, and of seconds, the best at the top, as PNG and SVG in ``folder``."""
    done = [each for each in outcomes if not each.failure]
    if not done:
        raise ParameterError("a picture needs a method that came to an end; none did")
    done.sort(key=lambda each: (each.accuracy or 0, -(each.seconds or 0)))
    labelled = done[0].accuracy is not None
    figure = new_figure(9 if labelled else 5, 1 + 0.32 * len(done), layout="constrained")
    axes = figure.subplots(1, 2 if labelled else 1, sharey=True, squeeze=False)[0]
    places, titles = range(len(done)), [each.title for each in done]
    if labelled:
        means = [100 * (each.accuracy or 0) for each in done]
        axes[0].barh(places, means, xerr=[100 * (each.deviation or 0) for each in done], color="#4c78a8", ecolor="0.3")
        axes[0].set(xlabel="accuracy on test nodes, %", xlim=(max(0.0, min(means) - 10), min(100.0, max(means) + 5)))
    axes[-1].barh(places, [each.seconds or 0 for each in done], color="#f58518")
    axes[-1].set(xlabel="seconds of one embedding", xscale="log")
    axes[0].set_yticks(places, titles)
    figure.suptitle(title)
    return save_figure(figure, folder, "compare")
