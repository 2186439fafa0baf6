"""Compare methods on one graph: accuracy, time and memory."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from graphprox._utils.figures import new_figure, save_figure
from graphprox._utils.memory import peak_memory, reset_peak_memory
from graphprox._utils.random import RandomState, check_seed
from graphprox.datasets.dataset import Dataset
from graphprox.errors import GraphproxError, ParameterError
from graphprox.evaluation.inputs import get_labels
from graphprox.evaluation.probe import Probe, score_predictions
from graphprox.evaluation.protocols import get_protocol
from graphprox.evaluation.scores import ClassificationScores
from graphprox.graph.graph import Graph
from graphprox.graph.splits import NodeSplit
from graphprox.graph.validation import check_graph
from graphprox.methods import METHODS, GraphEmbedder, GraphMethod, NodeClassifier, method

ALL = "all"
# A few methods of each kind, all of them fast.
DEFAULT_METHODS = (
    *("raw", "smoothed", "diffused", "untrained", "deepwalk", "dgi", "cca-ssg"),
    *("f-gcl", "t-gcl", "ft-gcl", "ft-gcl-plus", "auto"),
)


@dataclass(frozen=True)
class MethodResult:
    """Result of a method in a comparison.

    Parameters
    ----------
    method : str
        Name of the method.
    title : str
        Its title in tables and plots.
    accuracy, std : float, optional
        Mean and standard deviation over splits of the accuracy on test nodes; None without labels.
    macro_f1 : float, optional
        Mean of macro F1 over splits; None without labels.
    seconds : float, optional
        Duration of one training run. A classifier is trained on each split.
    peak_memory : int, optional
        Peak memory in bytes; None where it cannot be measured.
    failure : str
        Error message if the method failed, otherwise empty.
    """

    method: str
    title: str
    accuracy: float | None = None
    std: float | None = None
    macro_f1: float | None = None
    seconds: float | None = None
    peak_memory: int | None = None
    failure: str = ""


def select_methods(names: Sequence[str], *, labeled: bool = True) -> list[str]:
    """Return the registered names of methods, without duplicates.

    Parameters
    ----------
    names : sequence of str
        Names in any case, with hyphens or underscores; ``"all"`` for all methods (without labels, all embedders).
    labeled : bool, default=True
        Whether the graph has labels.

    Returns
    -------
    list of str

    Raises
    ------
    ParameterError
        If a name is unknown, or a method needs labels and the graph has none.

    Examples
    --------
    >>> select_methods(["FT_GCL", "raw", "ft-gcl"])
    ['ft-gcl', 'raw']
    """
    selected = list(METHODS) if ALL in names else [METHODS.lookup(name).name for name in names]
    if not labeled:
        supervised = [name for name in selected if "Y" in METHODS[name].info.uses]
        if supervised and ALL not in names:
            raise ParameterError(f"{METHODS[supervised[0]].info.title} needs labels; the graph has none: give y")
        selected = [name for name in selected if name not in supervised]
    return list(dict.fromkeys(selected))


def compare(
    graph: Graph | Dataset,
    methods: Sequence[str] = DEFAULT_METHODS,
    *,
    protocol: str = "random",
    n_splits: int = 10,
    random_state: RandomState = 0,
) -> Iterator[MethodResult]:
    """Train several methods on one graph, and yield the result of each when it is done.

    A method that fails does not stop the others; its result has a ``failure``.

    Parameters
    ----------
    graph : Graph or Dataset
        The name of a `Dataset` selects the presets of the methods. Without labels, only time and memory are compared.
    methods : sequence of str
        Names of methods, or ``"all"``; a few fast ones of each kind by default.
    protocol : {"random", "public", "grace", "dgi"}, default="random"
        How accuracy is evaluated; see :func:`graphprox.evaluation.classify`.
    n_splits : int, default=10
        Number of random splits.
    random_state : int, RandomState, Generator or None, default=0
        Random seed of the methods. Splits always begin at seed 0.

    Yields
    ------
    MethodResult

    Examples
    --------
    >>> from graphprox import load
    >>> [result.title for result in compare(load("synthetic:nodes=140"), ["raw", "smoothed"], n_splits=1)]
    ['Raw features', 'Smoothed features']
    """
    checked, chosen, seed = check_graph(graph), get_protocol(protocol), check_seed(random_state)
    labeled, dataset = checked.y is not None, graph.name if isinstance(graph, Dataset) else None
    splits = chosen.splits(graph, n_splits) if labeled else []
    for name in select_methods(methods, labeled=labeled):
        title = METHODS[name].info.title
        try:
            made = method(name, dataset=dataset, random_state=seed)
            yield _summarize(name, title, evaluate_method(made, checked, splits, chosen.probe))
        except GraphproxError as error:
            yield MethodResult(name, title, failure=str(error))


def _summarize(name: str, title: str, evaluation: MethodEvaluation) -> MethodResult:
    scores = evaluation.scores
    if not scores.splits:
        return MethodResult(name, title, seconds=evaluation.seconds, peak_memory=evaluation.peak_memory)
    f1 = float(scores.macro_f1.mean())
    return MethodResult(name, title, scores.mean, scores.std, f1, evaluation.seconds, evaluation.peak_memory)


class MethodEvaluation(NamedTuple):
    """Scores of a method on each split, the seconds of one training run, and its peak memory in bytes."""

    scores: ClassificationScores
    seconds: float
    peak_memory: int | None


def evaluate_method(
    method: GraphMethod, graph: Graph | Dataset, splits: Sequence[NodeSplit], probe: Probe
) -> MethodEvaluation:
    """Train a method, and score it on each split of the nodes.

    Parameters
    ----------
    method : GraphMethod
        An embedder, which is fitted once and evaluated by the probe, or a classifier, which is fitted on each split.
    graph : Graph or Dataset
    splits : sequence of NodeSplit
        May be empty for an embedder, which is then measured but not scored.
    probe : Probe

    Returns
    -------
    MethodEvaluation
    """
    reset_peak_memory()
    start = time.perf_counter()
    if isinstance(method, NodeClassifier):
        predicted = [method.fit(graph, split).predict(graph) for split in splits]
        seconds, peak = (time.perf_counter() - start) / len(splits), peak_memory()
        labels = get_labels(check_graph(graph))
        scores = [score_predictions(each, labels, split) for each, split in zip(predicted, splits, strict=True)]
    else:
        assert isinstance(method, GraphEmbedder)  # noqa: S101 - there are two kinds of methods
        vectors = method.fit_transform(graph)
        seconds, peak = time.perf_counter() - start, peak_memory()
        scores = [probe.evaluate(vectors, get_labels(check_graph(graph)), split) for split in splits]
    return MethodEvaluation(ClassificationScores(tuple(scores)), seconds, peak)


def plot_comparison(folder: Path, results: Sequence[MethodResult], title: str) -> list[Path]:
    """Plot accuracy, if there are labels, and time of each method as bars, the best at the top.

    Parameters
    ----------
    folder : Path
    results : sequence of MethodResult
        Failed methods are left out.
    title : str

    Returns
    -------
    list of Path
        A PNG and an SVG file.
    """
    done = [each for each in results if not each.failure]
    if not done:
        raise ParameterError("a plot needs a method that succeeded; all failed")
    done.sort(key=lambda each: (each.accuracy or 0, -(each.seconds or 0)))
    labeled = done[0].accuracy is not None
    figure = new_figure(9 if labeled else 5, 1 + 0.32 * len(done), layout="constrained")
    axes = figure.subplots(1, 2 if labeled else 1, sharey=True, squeeze=False)[0]
    positions = range(len(done))
    if labeled:
        means = [100 * (each.accuracy or 0) for each in done]
        axes[0].barh(positions, means, xerr=[100 * (each.std or 0) for each in done], color="#4c78a8", ecolor="0.3")
        axes[0].set(xlabel="accuracy on test nodes, %", xlim=(max(0.0, min(means) - 10), min(100.0, max(means) + 5)))
    axes[-1].barh(positions, [each.seconds or 0 for each in done], color="#f58518")
    axes[-1].set(xlabel="seconds of one training run", xscale="log")
    axes[0].set_yticks(positions, [each.title for each in done])
    figure.suptitle(title)
    return save_figure(figure, folder, "compare")
