"""The demonstration: embeddings of one graph by each kind of proximity, and by all of them.

The classes of the synthetic graph cannot be separated by one kind of proximity alone
(:mod:`graphprox.datasets.synthetic_graph`), so methods that use only one of them are less accurate than FT-GCL, whose
settings were selected for this graph. The default method has no settings to select.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from graphprox._utils.arrays import FloatArray, IntArray
from graphprox._utils.figures import new_figure, save_figure
from graphprox._utils.random import RandomState, check_seed
from graphprox.datasets.dataset import Dataset
from graphprox.embedding import check_finite
from graphprox.errors import ParameterError
from graphprox.evaluation.alignment import align_to_graph
from graphprox.evaluation.classification import classify
from graphprox.evaluation.inputs import get_labels, to_dense
from graphprox.graph.graph import UNKNOWN_LABEL, Graph
from graphprox.graph.validation import check_graph
from graphprox.methods import GraphEmbedder, method
from graphprox.methods.base import DEFAULT

UNLABELED_COLOR = "0.8"  # light gray
# Name of a method, title of its row, and what it uses.
EMBEDDINGS = (
    ("raw", "raw features", "features"),
    ("untrained", "untrained encoder", "features, edges"),
    ("f-gcl", "F-GCL", "features, edges, feature view"),
    ("t-gcl", "T-GCL", "features, edges, topology view"),
    ("ft-gcl", "FT-GCL", "features, edges, both views"),
    ("auto", "auto", "proximities that carry information"),
)
_WITHOUT_PRESET = ("raw", "auto")


@dataclass(frozen=True, eq=False)
class DemoRow:
    """An embedding and its accuracy.

    Parameters
    ----------
    name : str
        Name of the method.
    uses : str
        What it uses of the graph.
    accuracy, std : float
        Mean and standard deviation over ten splits of the accuracy on test nodes.
    vectors : ndarray of shape (num_nodes, n_components)
    """

    name: str
    uses: str
    accuracy: float
    std: float
    vectors: FloatArray


def demo_rows(graph: Graph, *, preset: str = DEFAULT, random_state: int = 0) -> Iterator[DemoRow]:
    """Embed a graph by raw features, an untrained encoder, F-GCL, T-GCL, FT-GCL and auto, and evaluate each.

    Parameters
    ----------
    graph : Graph
        A graph with labels.
    preset : str, default="default"
        Preset of the trained methods and of the untrained encoder.
    random_state : int, default=0
        Random seed of the methods.

    Yields
    ------
    DemoRow
    """
    get_labels(graph)  # raises before anything is trained
    for name, title, uses in EMBEDDINGS:
        embedder = method(name, preset=DEFAULT if name in _WITHOUT_PRESET else preset, random_state=random_state)
        assert isinstance(embedder, GraphEmbedder)  # noqa: S101 - none is a classifier
        vectors = to_dense(embedder.fit_transform(graph))
        scores = classify(graph, vectors)
        yield DemoRow(title, uses, scores.mean, scores.std, vectors.astype(np.float32, copy=False))


def plot_embeddings(
    folder: str | Path, graph: Graph | Dataset, rows: Sequence[DemoRow], *, random_state: RandomState = 0
) -> list[Path]:
    """Plot embeddings in two dimensions by t-SNE, with a color for each class.

    Parameters
    ----------
    folder : str or Path
        An existing folder.
    graph : Graph or Dataset
        A graph with labels. The legend has the names of its classes, or their numbers if they have no names; nodes
        without a label are gray.
    rows : sequence of DemoRow
        The embeddings, each with a vector for every node of the graph.
    random_state : int, RandomState, Generator or None, default=0
        Random seed of t-SNE.

    Returns
    -------
    list of Path
        A PNG and an SVG file.
    """
    from sklearn.manifold import TSNE
    from sklearn.preprocessing import normalize

    checked, seed = check_graph(graph), check_seed(random_state)
    labels = get_labels(checked)
    if not rows:
        raise ParameterError("rows must contain at least one embedding; got none")
    figure = new_figure(3.1 * len(rows), 3.9)
    names = _name_classes(checked, labels)
    for position, row in enumerate(rows, start=1):
        vectors = align_to_graph(checked, row.vectors)
        check_finite(vectors, checked.ids)
        # Of the default of 30, t-SNE refuses a perplexity that is not less than the number of nodes.
        tsne = TSNE(
            random_state=seed, init="pca" if min(vectors.shape) > 1 else "random", perplexity=min(30, len(vectors) - 1)
        )
        points = tsne.fit_transform(normalize(vectors))
        axes = figure.add_subplot(1, len(rows), position)
        for number, name in names.items():
            x, y = points[labels == number].T
            is_known = number != UNKNOWN_LABEL
            axes.scatter(
                x,
                y,
                s=5,
                label=name,
                linewidths=0,
                color=None if is_known else UNLABELED_COLOR,
                zorder=1 if is_known else 0,
            )
        axes.set(title=f"{row.name}: {row.accuracy:.1%}", xticks=[], yticks=[])
    figure.legend(
        *figure.axes[0].get_legend_handles_labels(), loc="lower center", ncol=len(names), frameon=False, markerscale=3
    )
    figure.subplots_adjust(left=0.01, right=0.99, top=0.92, bottom=0.1, wspace=0.04)
    return save_figure(figure, Path(folder), "demo")


def _name_classes(graph: Graph, labels: IntArray) -> dict[int, str]:
    """Return the name of each class in the order of the legend: unlabeled nodes, if there are some, come last."""
    numbers = np.unique(labels[labels != UNKNOWN_LABEL]).tolist()
    names = {each: str(each) if graph.class_names is None else graph.class_names[each] for each in numbers}
    return names if len(labels) == np.isin(labels, numbers).sum() else {**names, UNKNOWN_LABEL: "unlabeled"}
