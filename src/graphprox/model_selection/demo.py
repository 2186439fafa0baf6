"""The demonstration: embeddings of one graph by each kind of proximity, and by all of them.

No class of the synthetic graph can be recognized by one kind of proximity alone
(:mod:`graphprox.datasets.synthetic_graph`), so that methods which use one of them fall short of FT-GCL.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from graphprox._utils.arrays import FloatArray
from graphprox._utils.figures import new_figure, save_figure
from graphprox.evaluation._inputs import get_labels, to_dense
from graphprox.evaluation.classification import classify
from graphprox.graph.graph import Graph
from graphprox.methods.base import DEFAULT, GraphEmbedder
from graphprox.methods.registry import method

# Name of a method, how a row calls it, and what it uses; FT-GCL and its parts go by their titles.
EMBEDDINGS = (
    ("raw", "raw features", "features"),
    ("untrained", "untrained encoder", "features, edges"),
    ("f-gcl", "F-GCL", "features, edges, feature view"),
    ("t-gcl", "T-GCL", "features, edges, topology view"),
    ("ft-gcl", "FT-GCL", "features, edges, both views"),
)


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
    vectors : ndarray of shape (n_nodes, n_components)
    """

    name: str
    uses: str
    accuracy: float
    std: float
    vectors: FloatArray


def demo_rows(graph: Graph, *, preset: str = DEFAULT, random_state: int = 0) -> Iterator[DemoRow]:
    """Embed a graph by raw features, an untrained encoder, F-GCL, T-GCL and FT-GCL, and evaluate each.

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
        embedder = method(name, preset=DEFAULT if name == "raw" else preset, random_state=random_state)
        assert isinstance(embedder, GraphEmbedder)  # noqa: S101 - none is a classifier
        vectors = to_dense(embedder.fit_transform(graph))
        scores = classify(graph, vectors)
        yield DemoRow(title, uses, scores.mean, scores.std, vectors.astype(np.float32, copy=False))


def plot_embeddings(folder: Path, graph: Graph, rows: Sequence[DemoRow], *, random_state: int = 0) -> list[Path]:
    """Plot embeddings in two dimensions by t-SNE, with a color for each class.

    Parameters
    ----------
    folder : Path
    graph : Graph
        A graph with labels.
    rows : sequence of DemoRow
    random_state : int, default=0
        Random seed of t-SNE.

    Returns
    -------
    list of Path
        A PNG and an SVG file.
    """
    from sklearn.manifold import TSNE
    from sklearn.preprocessing import normalize

    figure = new_figure(3.1 * len(rows), 3.9)
    labels = get_labels(graph)
    names = graph.class_names or tuple(str(each) for each in np.unique(labels))
    for position, row in enumerate(rows, start=1):
        points = TSNE(random_state=random_state, init="pca").fit_transform(normalize(row.vectors))
        axes = figure.add_subplot(1, len(rows), position)
        for number, name in enumerate(names):
            x, y = points[labels == number].T
            axes.scatter(x, y, s=5, label=name, linewidths=0)
        axes.set(title=f"{row.name}: {row.accuracy:.1%}", xticks=[], yticks=[])
    figure.legend(
        *figure.axes[0].get_legend_handles_labels(), loc="lower center", ncol=len(names), frameon=False, markerscale=3
    )
    figure.subplots_adjust(left=0.01, right=0.99, top=0.92, bottom=0.1, wspace=0.04)
    return save_figure(figure, folder, "demo")
