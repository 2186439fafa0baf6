"""Training curves: validation accuracy by the number of epochs of one training run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from graphprox.datasets.dataset import Dataset
from graphprox.errors import ParameterError
from graphprox.evaluation.inputs import get_labels
from graphprox.evaluation.probe import LinearProbe
from graphprox.graph.graph import Graph
from graphprox.graph.splits import NodeSplit
from graphprox.graph.validation import check_graph
from graphprox.methods import GraphMethod
from graphprox.model_selection.tuning import selection_splits


@dataclass(frozen=True)
class CurvePoint:
    """State of a training run after a number of epochs.

    Parameters
    ----------
    epochs : int
        Number of epochs.
    loss : float or None
        Loss of the last of them; None before the first.
    accuracy, std : float
        Mean and standard deviation over splits of the accuracy on validation nodes.
    """

    epochs: int
    loss: float | None
    accuracy: float
    std: float


def training_curve(
    graph: Graph | Dataset,
    method: GraphMethod,
    epochs: Sequence[int],
    splits: Sequence[NodeSplit] | None = None,
) -> Iterator[CurvePoint]:
    """Train once, and evaluate the embedding by validation accuracy after several numbers of epochs.

    Labels of test nodes are ignored.

    Parameters
    ----------
    graph : Graph or Dataset
        A graph with labels.
    method : ContrastiveEmbedder
        FT-GCL or a method of its family. Its parameter ``epochs`` is ignored.
    epochs : sequence of int
        Numbers of epochs after which to evaluate, in any order.
    splits : sequence of NodeSplit, optional
        The splits of :func:`~graphprox.model_selection.selection_splits` by default.

    Yields
    ------
    CurvePoint
        In ascending order of epochs.

    Examples
    --------
    >>> from graphprox import FTGCL, synthetic
    >>> points = training_curve(synthetic(), FTGCL(n_components=16, head_channels=16), [0, 2])
    >>> [point.epochs for point in points]
    [0, 2]
    """
    from graphprox.ftgcl.base import ContrastiveEmbedder

    if not isinstance(method, ContrastiveEmbedder):
        raise ParameterError(
            f"a training curve needs a method of the FT-GCL family; got {type(method).__name__}: "
            "tune its epochs instead"
        )
    checked = check_graph(graph)
    labels = get_labels(checked)
    if splits is None:
        splits = selection_splits(checked)
    for losses, vectors in method.embed_after(graph, epochs):
        accuracy = [LinearProbe().evaluate(vectors, labels, split).val_accuracy for split in splits]
        loss = losses[-1] if losses else None
        yield CurvePoint(len(losses), loss, float(np.mean(accuracy)), float(np.std(accuracy)))
