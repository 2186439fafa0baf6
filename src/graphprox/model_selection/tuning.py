"""Select settings of a method by validation accuracy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

from sklearn.base import clone

from graphprox._utils.defaults import AUTO
from graphprox._utils.random import RandomState, check_seed
from graphprox.datasets.dataset import Dataset
from graphprox.evaluation.inputs import get_labels
from graphprox.evaluation.probe import LinearProbe
from graphprox.graph.graph import Graph
from graphprox.graph.splits import NodeSplit, random_split
from graphprox.graph.validation import check_graph
from graphprox.methods import GraphMethod, method
from graphprox.model_selection.comparison import evaluate_method

FIRST_SEED = 1000  # of the splits for selection: results are reported on splits from seed 0 on


@dataclass(frozen=True)
class TuningResult:
    """Validation accuracy of a method with some settings.

    Parameters
    ----------
    settings : mapping of str to object
        The settings that were varied.
    accuracy, std : float
        Mean and standard deviation over splits of the accuracy on validation nodes.
    seconds : float
        Duration of one training run.
    """

    settings: Mapping[str, Any]
    accuracy: float
    std: float
    seconds: float


class Candidate(NamedTuple):
    """A method, and the settings in which it differs from other candidates.

    Parameters
    ----------
    settings : mapping of str to object
        The settings that are varied.
    method : GraphMethod
        The method with these settings.
    """

    settings: Mapping[str, Any]
    method: GraphMethod


def parameter_grid(values: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """Return all combinations of settings; the last setting varies fastest.

    Parameters
    ----------
    values : mapping of str to sequence
        Values to try, by setting.

    Returns
    -------
    list of dict

    Examples
    --------
    >>> parameter_grid({"n_components": [8, 16], "dropout": [0.5]})
    [{'n_components': 8, 'dropout': 0.5}, {'n_components': 16, 'dropout': 0.5}]
    """
    return [dict(zip(values, combination, strict=True)) for combination in product(*values.values())]


def make_candidates(
    name: str,
    grid: Mapping[str, Sequence[Any]],
    *,
    preset: str = AUTO,
    dataset: str | None = None,
    **parameters: Any,
) -> list[Candidate]:
    """Make a method with each combination of settings.

    Parameters
    ----------
    name : str
        Name of the method.
    grid : mapping of str to sequence
        Values to try, by setting.
    preset : str, default="auto"
        Settings to start from; see :func:`graphprox.method`.
    dataset : str, optional
        Name of the data set, for the preset.
    **parameters
        Settings that all candidates share.

    Returns
    -------
    list of Candidate

    Examples
    --------
    >>> [candidate.settings for candidate in make_candidates("smoothed", {"hops": [1, 2]})]
    [{'hops': 1}, {'hops': 2}]
    """
    return [
        Candidate(settings, method(name, preset=preset, dataset=dataset, **{**parameters, **settings}))
        for settings in parameter_grid(grid)
    ]


def selection_splits(
    graph: Graph | Dataset,
    n_splits: int = 5,
    *,
    random_state: RandomState = FIRST_SEED,
    train: float = 0.1,
    val: float = 0.1,
) -> list[NodeSplit]:
    """Make random splits for selecting settings, which differ from those used for results.

    Parameters
    ----------
    graph : Graph or Dataset
        A graph with labels.
    n_splits : int, default=5
    random_state : int, RandomState, Generator or None, default=1000
        Random seed of the first split; the following ones use the following seeds.
    train, val : float, default=0.1
        Shares of the training and validation nodes.

    Returns
    -------
    list of NodeSplit

    Examples
    --------
    >>> from graphprox import synthetic
    >>> selection_splits(synthetic(), 1)
    [NodeSplit(84 train, 84 val, 672 test)]
    """
    get_labels(check_graph(graph))  # without them, all nodes would be split and none could be scored
    first = check_seed(random_state)
    return [random_split(graph, random_state=first + each, train=train, val=val) for each in range(n_splits)]


def tune(
    graph: Graph | Dataset,
    candidates: Sequence[Candidate],
    splits: Sequence[NodeSplit] | None = None,
    *,
    random_state: RandomState = None,
) -> Iterator[TuningResult]:
    """Evaluate candidates by validation accuracy, and yield the result of each when it is done.

    Labels of test nodes are ignored. An embedder is evaluated by a linear probe, a classifier is trained on each split.

    Parameters
    ----------
    graph : Graph or Dataset
        A graph with labels.
    candidates : sequence of Candidate
        See :func:`make_candidates`.
    splits : sequence of NodeSplit, optional
        The splits of :func:`selection_splits` by default.
    random_state : int, RandomState, Generator or None, default=None
        Random seed of the methods; None for that of each candidate.

    Yields
    ------
    TuningResult

    Examples
    --------
    >>> from graphprox import synthetic
    >>> results = list(tune(synthetic(), make_candidates("smoothed", {"hops": [1, 2]})))
    >>> max(results, key=lambda result: result.accuracy).settings
    {'hops': 2}
    """
    checked = check_graph(graph)
    seed = None if random_state is None else check_seed(random_state)
    get_labels(checked)  # raises before anything is trained
    if splits is None:
        splits = selection_splits(checked)
    for settings, candidate in candidates:
        method = clone(candidate)
        if seed is not None:
            method.set_params(random_state=seed)
        result = evaluate_method(method, graph, splits, LinearProbe())
        accuracy = result.scores.val_accuracy
        yield TuningResult(settings, float(accuracy.mean()), float(accuracy.std()), result.seconds)
