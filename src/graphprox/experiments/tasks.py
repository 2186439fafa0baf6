"""Tasks: what a trial measures, by name. Each gives figures, and how long the embedding and its evaluation took."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from graphprox.arrays import FloatArray, IntArray
from graphprox.datasets.dataset import Dataset
from graphprox.errors import ParameterError
from graphprox.evaluation.inputs import labels_of, unit_rows
from graphprox.evaluation.links import link_scores
from graphprox.evaluation.probe import Score, score
from graphprox.evaluation.protocols import PROTOCOLS
from graphprox.experiments.barbell import in_the_plane, structure_classes
from graphprox.experiments.curve import trained_to
from graphprox.experiments.sharing import embedded
from graphprox.experiments.spec import Trial
from graphprox.methods.embedders import Classifier, Embedder, Trained
from graphprox.proximity.quality import homophily_at
from graphprox.proximity.topology import topology
from graphprox.proximity.views import rank_view
from graphprox.splits import NodeSplit, edge_split
from graphprox.statistics import edge_homophily

HOMOPHILY_K = 6
# The views whose homophily is measured, and the options of their descriptors. Near walks are those of the authors'
# later code: they stay near their start, and in effect no iteration of WL is made.
HOMOPHILY_VIEWS: dict[str, tuple[str, dict[str, Any]]] = {
    "feature": ("feature", {}),
    "topology": ("topology", {}),
    "near walks": ("topology", {"p": 0.01, "q": 8.0, "iterations": 0}),
}
PROCESSOR = "processor"  # what an embedding took of processors, which waiting for other programs does not add to
DIGITS = 3  # of a point on a map: finer than a picture shows


@dataclass
class Measured:
    """What a task found, how many seconds each part of the work took, and the most memory that was held before."""

    figures: dict[str, Any] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    peak_before: int = 0

    def embedding(self, trial: Trial, dataset: Dataset) -> FloatArray | sp.csr_array:
        """The embedding that a trial wants, and what it cost, whether it was made for this trial or for the last."""
        made = embedded(trial, _embedder(trial), dataset)
        self.seconds |= {"embed": made.seconds, PROCESSOR: made.processor}
        self.peak_before = made.peak or 0
        return made.rows

    @contextmanager
    def timed(self, part: str) -> Iterator[None]:
        """Add the time of a block to a part of the work."""
        began, worked = time.perf_counter(), time.process_time()
        yield
        self.seconds[part] = self.seconds.get(part, 0.0) + time.perf_counter() - began
        if part == "embed":
            self.seconds[PROCESSOR] = self.seconds.get(PROCESSOR, 0.0) + time.process_time() - worked


def classification(trial: Trial, dataset: Dataset) -> Measured:
    """A probe on each split of one embedding; what learns classes by itself learns them anew on each split."""
    measured, labels, splits = Measured(), labels_of(dataset.graph), _splits(trial, dataset)
    maker = trial.maker
    scores: list[Score] = []
    if isinstance(maker, Classifier):
        for split in splits:
            with measured.timed("embed"):
                predicted = maker.predict(dataset.graph, split, trial.seed)
            scores.append(score(predicted, labels, split))
    else:
        embedding = measured.embedding(trial, dataset)
        with measured.timed("evaluate"):
            scores = [PROTOCOLS[trial.experiment.protocol].probe(embedding, labels, split) for split in splits]
    measured.figures = {name: [getattr(each, name) for each in scores] for name in trial.experiment.metrics}
    return measured


def links(trial: Trial, dataset: Dataset) -> Measured:
    """For each split of the edges, an embedding of what is left, views and all; and how it tells edges from others."""
    measured, embedder = Measured(figures={name: [] for name in trial.experiment.metrics}), _embedder(trial)
    for seed in trial.split_seeds:
        split = edge_split(dataset.graph, seed=seed)
        with measured.timed("embed"):
            embedding = embedder.embed(split.graph, trial.seed)
        with measured.timed("evaluate"):
            scores = link_scores(embedding, split)
        for name in trial.experiment.metrics:
            measured.figures[name].append(scores[name])
    return measured


def curve(trial: Trial, dataset: Dataset) -> Measured:
    """The loss of every step, and a probe on each split after some of them."""
    embedder, labels, splits = trial.maker, labels_of(dataset.graph), _splits(trial, dataset)
    if not isinstance(embedder, Trained):
        raise ParameterError(f"a curve needs a method that is trained step by step; got {trial.row.method!r}")
    measured, recipe, accuracy = Measured(), embedder.recipe.merged({"seed": trial.seed}), []
    losses: list[float] = []
    marked = trained_to(dataset.graph.without_labels(), recipe, trial.experiment.marks)
    while True:
        with measured.timed("embed"):
            if (state := next(marked, None)) is None:
                break
        losses, embedding = state
        with measured.timed("evaluate"):
            scores = [PROTOCOLS[trial.experiment.protocol].probe(embedding, labels, split) for split in splits]
        accuracy.append([score.accuracy for score in scores])
    measured.figures = {"marks": sorted(trial.experiment.marks), "loss": losses, "accuracy": accuracy}
    return measured


def map_of(trial: Trial, dataset: Dataset) -> Measured:
    """The embedding in two dimensions by t-SNE: the points of each class, in an order that names no node."""
    from sklearn.manifold import TSNE

    measured, labels = Measured(), labels_of(dataset.graph)
    embedding = measured.embedding(trial, dataset)
    with measured.timed("evaluate"):
        rows = unit_rows(embedding)
        made = TSNE(random_state=trial.seed, init="random").fit_transform(rows)
    measured.figures = {"points": _by_class(made, labels, dataset.graph.class_names)}
    return measured


def _by_class(points: FloatArray, labels: IntArray, names: tuple[str, ...] | None) -> dict[str, Any]:
    def listed(number: int) -> list[list[float]]:
        return sorted([round(float(x), DIGITS), round(float(y), DIGITS)] for x, y in points[labels == number])

    return {names[number] if names else str(number): listed(number) for number in np.unique(labels)}


def homophily(trial: Trial, dataset: Dataset) -> Measured:
    """The share of edges within a class, of the graph and of its views."""
    measured, graph = Measured(), dataset.graph
    with measured.timed("evaluate"):
        measured.figures = {"graph": edge_homophily(graph)} | {
            name: homophily_at(
                rank_view(graph, view, k_max=HOMOPHILY_K, seed=trial.seed, options=options), graph, k=HOMOPHILY_K
            )
            for name, (view, options) in HOMOPHILY_VIEWS.items()
        }
    return measured


def barbell(trial: Trial, dataset: Dataset) -> Measured:
    """Which nodes have equal local structure, and where the topology descriptor puts them."""
    measured = Measured()
    with measured.timed("evaluate"):
        rng = np.random.default_rng(trial.seed)
        rows = topology(dataset.graph, rng, subgraphs="egonet", hops=1, exact=True)
        plane = np.round(in_the_plane(rows), DIGITS) + 0.0  # -0.0 and 0.0 are one place
    measured.figures = {"classes": structure_classes(rows).tolist(), "plane": plane.tolist()}
    return measured


TASKS: dict[str, Callable[[Trial, Dataset], Measured]] = {
    "classification": classification,
    "links": links,
    "curve": curve,
    "map": map_of,
    "homophily": homophily,
    "barbell": barbell,
}


def _embedder(trial: Trial) -> Embedder:
    if not isinstance(trial.maker, Embedder):
        task, title = trial.experiment.task, trial.row.title
        raise ParameterError(f"{task} needs a method that makes embeddings; got {title}, which learns classes")
    return trial.maker


def _splits(trial: Trial, dataset: Dataset) -> list[NodeSplit]:
    experiment = trial.experiment
    protocol = PROTOCOLS[experiment.protocol]
    return protocol.splits(dataset, count=experiment.splits, first_seed=experiment.first_split)
