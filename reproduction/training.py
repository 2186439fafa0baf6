"""The interface between the reproduction and the methods; no other module here calls a method."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import scipy.sparse as sp

from graphprox._utils.arrays import FloatArray, IntArray
from graphprox.errors import ParameterError
from graphprox.graph.graph import Graph
from graphprox.graph.splits import NodeSplit
from graphprox.methods.base import METHODS, GraphEmbedder, GraphMethod, MethodInfo, NodeClassifier
from graphprox.methods.registry import method as method_by_name
from graphprox.methods.registry import methods_by_group

if TYPE_CHECKING:
    from reproduction.experiment import ExperimentRow

# -- by name ----------------------------------------------------------------------------------------------------------


def method_names() -> tuple[str, ...]:
    """Return the names of all methods, by group."""
    return tuple(each.name for each in methods_by_group())


def method_info(name: str) -> MethodInfo:
    """Return title, group, inputs, paper and summary of a method."""
    return METHODS[name].info


def uses_labels(name: str) -> bool:
    """Return whether a method is semi-supervised, and so is trained once per split."""
    return issubclass(METHODS[name], NodeClassifier)


def is_floor(name: str) -> bool:
    """Return whether a method is a floor of the comparison, which is not trained."""
    return METHODS[name].info.group == "floor"


# -- instances --------------------------------------------------------------------------------------------------------


def make_method(row: ExperimentRow, dataset: str) -> GraphMethod:
    """Create the method of a row, with its settings for a data set."""
    preset = row.preset.replace("{dataset}", dataset)
    return method_by_name(row.method, dataset=dataset, preset=preset, **row.set)


def settings_of(method: GraphMethod) -> dict[str, Any]:
    """Return all settings that the result depends on, without the random seed."""
    return method.settings()


def is_stochastic(method: GraphMethod) -> bool:
    """Return whether the result depends on the random seed."""
    return method.stochastic


def is_classifier(method: GraphMethod) -> bool:
    """Return whether the method predicts classes instead of computing an embedding."""
    return isinstance(method, NodeClassifier)


def embed(method: GraphMethod, graph: Graph, seed: int) -> FloatArray | sp.csr_array:
    """Compute an embedding of shape (n_nodes, n_components).

    Raises
    ------
    ParameterError
        If the method is a classifier.
    """
    if not isinstance(method, GraphEmbedder):
        raise ParameterError("the method must compute embeddings; got a classifier: use the task classification")
    vectors: FloatArray | sp.csr_array = method.set_params(random_state=seed).fit_transform(graph)
    return vectors


def predict(method: GraphMethod, graph: Graph, split: NodeSplit, seed: int) -> IntArray:
    """Train a classifier on a split and predict the class of every node, of shape (n_nodes,).

    Raises
    ------
    ParameterError
        If the method is not a classifier.
    """
    if not isinstance(method, NodeClassifier):
        raise ParameterError("the method must be a classifier; got one that computes embeddings")
    predicted: IntArray = method.set_params(random_state=seed).fit(graph, split).predict(graph)
    return predicted


def train_to_marks(
    method: GraphMethod, graph: Graph, seed: int, marks: Sequence[int]
) -> Iterator[tuple[list[float], FloatArray]]:
    """Train once, and yield the losses so far and the embedding after each of the given numbers of epochs.

    Raises
    ------
    ParameterError
        If the method cannot be stopped between epochs.
    """
    from graphprox.ftgcl import trainer
    from graphprox.ftgcl.estimators import ContrastiveEmbedder
    from graphprox.ftgcl.fit import rank_views

    if not isinstance(method, ContrastiveEmbedder):
        raise ParameterError("a training curve needs a method of the FT-GCL family; got another one")
    recipe = method.recipe().merged({"random_state": seed})
    return trainer.train_to_marks(graph, rank_views(graph, recipe), recipe, marks)
