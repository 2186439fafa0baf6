"""The demonstration: one graph, embedded by each kind of proximity and by all of them, and how well classes show.

No class can be told by one proximity alone (:mod:`graphprox.datasets.synthetic`), so that whoever sees only one of them
falls short.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from graphprox.arrays import FloatArray
from graphprox.evaluation.inputs import labels_of
from graphprox.evaluation.probe import probe
from graphprox.experiments.figures import new_figure, save_figure
from graphprox.graph import Graph
from graphprox.methods.family import FAMILY, recipe_for
from graphprox.splits import random_split
from graphprox.training.fitting import fit

TRAINED = ("f-gcl", "t-gcl", "ft-gcl")
SPLITS = 10


@dataclass(frozen=True, eq=False)
class Row:
    """An embedding by its name, what it saw of the graph, and the probe's accuracy: mean and deviation over splits."""

    name: str
    sees: str
    accuracy: float
    deviation: float
    embedding: FloatArray


def rows(graph: Graph, *, preset: str, seed: int = 0) -> Iterator[Row]:
    """Each embedding of a labelled graph, one after another as they are made."""
    labels = labels_of(graph)
    splits = [random_split(graph, seed=each) for each in range(SPLITS)]

    def row(name: str, sees: str, embedding: FloatArray) -> Row:
        scores = [probe(embedding, labels, split).accuracy for split in splits]
        return Row(name, sees, float(np.mean(scores)), float(np.std(scores)), embedding)

    def embedded(method: str, **changes: int) -> FloatArray:
        recipe = recipe_for(method, preset=preset, overrides={"seed": seed, **changes})
        return fit(graph, recipe).embedding

    yield row("raw features", "features", _dense(graph))
    yield row("untrained encoder", "features, edges", embedded("ft-gcl", steps=0))
    for method, sees in zip(TRAINED, ("feature view", "topology view", "both views"), strict=True):
        yield row(FAMILY[method].title, f"features, edges, {sees}", embedded(method))


def _dense(graph: Graph) -> FloatArray:
    return graph.x if isinstance(graph.x, np.ndarray) else graph.x.toarray()


def draw(folder: Path, graph: Graph, shown: list[Row], *, seed: int = 0) -> list[Path]:
    """Draw each embedding in two dimensions by t-SNE, a colour for each class, as PNG and SVG in ``folder``."""
    from sklearn.manifold import TSNE
    from sklearn.preprocessing import normalize

    figure = new_figure(3.1 * len(shown), 3.9)
    labels = labels_of(graph)
    names = graph.class_names or tuple(str(each) for each in np.unique(labels))
    for place, row in enumerate(shown, start=1):
        points = TSNE(random_state=seed, init="pca").fit_transform(normalize(row.embedding))
        axes = figure.add_subplot(1, len(shown), place)
        for number, name in enumerate(names):
            x, y = points[labels == number].T
            axes.scatter(x, y, s=5, label=name, linewidths=0)
        axes.set(title=f"{row.name}: {row.accuracy:.1%}", xticks=[], yticks=[])
    figure.legend(
        *figure.axes[0].get_legend_handles_labels(), loc="lower center", ncol=len(names), frameon=False, markerscale=3
    )
    figure.subplots_adjust(left=0.01, right=0.99, top=0.92, bottom=0.1, wspace=0.04)
    return save_figure(figure, folder, "demo")
