"""Compare methods on one graph: accuracy, ranking of held-out edges, time and memory."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphprox._utils.figures import new_figure, save_figure
from graphprox._utils.memory import is_out_of_memory, peak_memory, reset_peak_memory
from graphprox._utils.random import RandomState, check_seed
from graphprox.datasets.dataset import Dataset
from graphprox.errors import GraphproxError, ParameterError
from graphprox.evaluation.inputs import get_labels, normalize_rows
from graphprox.evaluation.links import auc_samples, link_prediction
from graphprox.evaluation.probe import Probe, score_predictions
from graphprox.evaluation.protocols import get_protocol
from graphprox.evaluation.retrieval import neighborhood_agreement
from graphprox.evaluation.scores import ClassificationScores
from graphprox.graph.graph import Graph
from graphprox.graph.splits import EdgeSplit, NodeSplit, edge_split
from graphprox.graph.structural import has_informative_features
from graphprox.graph.validation import check_graph
from graphprox.methods import METHODS, GraphEmbedder, GraphMethod, NodeClassifier, method
from graphprox.model_selection.advice import LINKS, Contender, advise
from graphprox.preprocessing.scaling import ScaleName

ALL = "all"
OUT_OF_MEMORY = "memory ran out: compare it on a machine with more memory, or on a part of the graph"
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
    roc_auc : float, optional
        Mean over splits of the area under the ROC curve, if there are exactly two classes.
    link_auc : float, optional
        Area under the ROC curve of held-out edges, if links were compared and the method computes embeddings.
    neighborhood : float, optional
        Share of a node's ten nearest nodes by cosine that are its neighbors in the graph, out of those that could be:
        all ten, or all neighbors of a node that has fewer; if links were compared. See
        :func:`graphprox.evaluation.neighborhood_agreement`.
    samples : tuple of float
        Accuracy on each split, or what each held-out edge contributes to ``link_auc``: two methods are compared
        by a paired test over these.
    test_ratio : float
        Mean number of test nodes per training node of the splits, by which the test is corrected for their overlap; 0
        for held-out edges.
    """

    method: str
    title: str
    accuracy: float | None = None
    std: float | None = None
    macro_f1: float | None = None
    seconds: float | None = None
    peak_memory: int | None = None
    failure: str = ""
    roc_auc: float | None = None
    link_auc: float | None = None
    neighborhood: float | None = None
    samples: tuple[float, ...] = field(default=(), repr=False)
    test_ratio: float = field(default=0.0, repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Return the scores as plain values, for JSON.

        Returns
        -------
        dict
            Without ``samples`` and ``test_ratio``; ``accuracies`` are those of each split.
        """
        values = {name: value for name, value in asdict(self).items() if name not in ("samples", "test_ratio")}
        return values if self.accuracy is None else {**values, "accuracies": list(self.samples)}


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
    first_split: int = 0,
    links: bool | None = None,
    scale: ScaleName = "auto",
) -> Iterator[MethodResult]:
    """Train several methods on one graph, and yield the result of each when it is done.

    A method that fails, or for which memory runs out, does not stop the others; its result has a ``failure``.

    Parameters
    ----------
    graph : Graph or Dataset
        The name of a `Dataset` selects the presets of the methods.
    methods : sequence of str
        Names of methods, or ``"all"``; a few fast ones of each kind by default.
    protocol : {"random", "public", "grace", "dgi"}, default="random"
        How accuracy is evaluated, where there are labels; see :func:`graphprox.evaluation.classify`.
    n_splits : int, default=10
        Number of random splits.
    random_state : int, RandomState, Generator or None, default=0
        Random seed of the methods.
    first_split : int, default=0
        Random seed of the first split; the following ones use the following seeds. Also that of the held-out edges.
    links : bool, optional
        Whether a tenth of the edges is held out, the rest is embedded, and the ranking of held-out edges is scored. By
        default only without labels. With labels, every method is trained once more for it.
    scale : {"auto", "standard", "none"}, default="auto"
        Whether columns of features are standardized.

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
    splits = chosen.splits(graph, n_splits, first_split) if labeled else []
    edges = _hold_out(checked, first_split, links=not labeled if links is None else links, required=bool(links))
    for name in select_methods(methods, labeled=labeled):
        result = MethodResult(name, METHODS[name].info.title)
        try:
            made = method(name, dataset=dataset, random_state=seed, scale=scale)
            if labeled or edges is None:
                result = _score_nodes(result, evaluate_method(made, checked, splits, chosen.probe))
                result = replace(result, test_ratio=_test_ratio(splits))
            if edges is not None and isinstance(made, GraphEmbedder):
                result = _score_links(result, made, edges)
        except Exception as error:
            if not isinstance(error, GraphproxError) and not is_out_of_memory(error):
                raise
            failure = OUT_OF_MEMORY if is_out_of_memory(error) else str(error)
            result = MethodResult(name, result.title, failure=failure)
        yield result  # outside of the try: what a caller raises is no failure of the method


def _hold_out(graph: Graph, seed: int, *, links: bool, required: bool) -> EdgeSplit | None:
    if not links:
        return None
    try:
        return edge_split(graph, random_state=seed)
    except ParameterError:  # too few edges: time and memory can still be compared
        if required:
            raise
        return None


def _test_ratio(splits: Sequence[NodeSplit]) -> float:
    return float(np.mean([len(each.test) / max(len(each.train), 1) for each in splits])) if splits else 0.0


def _score_nodes(result: MethodResult, evaluation: MethodEvaluation) -> MethodResult:
    scores = evaluation.scores
    result = replace(result, seconds=evaluation.seconds, peak_memory=evaluation.peak_memory)
    if not scores.splits:
        return result
    auc = None if scores.roc_auc is None else float(scores.roc_auc.mean())
    f1, samples = float(scores.macro_f1.mean()), tuple(scores.accuracy.tolist())
    return replace(result, accuracy=scores.mean, std=scores.std, macro_f1=f1, roc_auc=auc, samples=samples)


def _score_links(result: MethodResult, method: GraphEmbedder, split: EdgeSplit) -> MethodResult:
    """Embed the remaining edges, and score the held-out ones by inner product or cosine, as validation edges select."""
    reset_peak_memory()
    start = time.perf_counter()
    vectors = method.fit_transform(split.graph)
    seconds, peak = time.perf_counter() - start, peak_memory()
    scores = link_prediction(split, vectors)
    by_cosine = scores.val_cosine_auc > scores.val_auc
    rows = normalize_rows(vectors) if by_cosine else vectors
    if result.accuracy is None:
        samples = tuple(auc_samples(rows, split.test_edges, split.test_non_edges).tolist())
        result = replace(result, seconds=seconds, peak_memory=peak, samples=samples)
    return replace(
        result,
        link_auc=scores.cosine_auc if by_cosine else scores.auc,
        neighborhood=neighborhood_agreement(split.graph, vectors),
    )


def summarize_comparison(results: Sequence[MethodResult], graph: Graph | Dataset) -> list[str]:
    """Say in words what a comparison suggests: which method to take, and whether edges hurt.

    Parameters
    ----------
    results : sequence of MethodResult
        Failed methods are left out.
    graph : Graph or Dataset
        The graph that was compared on.

    Returns
    -------
    list of str
        Sentences.

    Examples
    --------
    >>> from graphprox import load
    >>> dataset = load("synthetic:nodes=210")
    >>> sentences = summarize_comparison(list(compare(dataset, ["raw", "smoothed"], n_splits=3)), dataset)
    >>> sentences[0].startswith("Take Smoothed features")
    True
    """
    done = [each for each in results if not each.failure and each.seconds is not None]
    by_accuracy = any(each.accuracy is not None for each in done)
    contenders = [
        Contender(each.method, each.title, score, each.seconds or 0.0, each.samples)
        for each in done
        if (score := each.accuracy if by_accuracy else each.link_auc) is not None
    ]
    if done and not contenders:
        return ["Only time and memory were compared: the graph has no labels, and too few edges to hold some out."]
    measure, unit = ("accuracy", "splits") if by_accuracy else (LINKS, "held-out edges")
    return advise(
        contenders,
        measure=measure,
        unit=unit,
        test_ratio=max(each.test_ratio for each in done) if by_accuracy else 0.0,
        has_features=has_informative_features(check_graph(graph)),
    )


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
        predicted = [_predict(method.fit(graph, split), graph) for split in splits]
        seconds, peak = (time.perf_counter() - start) / len(splits), peak_memory()
        labels = get_labels(check_graph(graph))
        scores = [
            score_predictions(classes, labels, split, proba=proba)
            for (classes, proba), split in zip(predicted, splits, strict=True)
        ]
    else:
        assert isinstance(method, GraphEmbedder)  # noqa: S101 - there are two kinds of methods
        vectors = method.fit_transform(graph)
        seconds, peak = time.perf_counter() - start, peak_memory()
        scores = [probe.evaluate(vectors, get_labels(check_graph(graph)), split) for split in splits]
    return MethodEvaluation(ClassificationScores(tuple(scores)), seconds, peak)


def _predict(classifier: NodeClassifier, graph: Graph | Dataset) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """Return the predicted classes and, if there are two, their probabilities."""
    classes = classifier.predict(graph)
    return classes, classifier.predict_proba(graph) if len(classifier.classes_) == 2 else None


def plot_comparison(folder: Path, results: Sequence[MethodResult], title: str) -> list[Path]:
    """Plot accuracy, or the link AUC without labels, and time of each method as bars, the best at the top.

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
    labeled = any(each.accuracy is not None for each in done)
    scores = {each.method: each.accuracy if labeled else each.link_auc for each in done}
    done.sort(key=lambda each: (scores[each.method] or 0, -(each.seconds or 0)))
    scored = any(score is not None for score in scores.values())
    figure = new_figure(9 if scored else 5, 1 + 0.32 * len(done), layout="constrained")
    axes = figure.subplots(1, 2 if scored else 1, sharey=True, squeeze=False)[0]
    positions = range(len(done))
    if scored:
        means = [100 * (scores[each.method] or 0) for each in done]
        deviations = [100 * (each.std or 0) for each in done] if labeled else None
        axes[0].barh(positions, means, xerr=deviations, color="#4c78a8", ecolor="0.3")
        axes[0].set(xlabel="accuracy on test nodes, %" if labeled else "AUC of held-out edges, %", xlim=(0, 100))
    axes[-1].barh(positions, [each.seconds or 0 for each in done], color="#f58518")
    axes[-1].set(xlabel="seconds of one training run, logarithmic scale", xscale="log")
    axes[0].set_yticks(positions, [each.title for each in done])
    figure.suptitle(title)
    return save_figure(figure, folder, "compare")
