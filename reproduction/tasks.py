"""Tasks: what a trial measures, by name."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from graphprox._utils.arrays import FloatArray, IntArray
from graphprox.datasets.dataset import Dataset
from graphprox.errors import ParameterError
from graphprox.evaluation.clusters import score_clusters
from graphprox.evaluation.inputs import get_labels, normalize_rows
from graphprox.evaluation.links import link_prediction
from graphprox.evaluation.probe import score_predictions
from graphprox.evaluation.protocols import PROTOCOLS
from graphprox.evaluation.retrieval import score_neighbors
from graphprox.evaluation.scores import SplitScore
from graphprox.ftgcl.base import ContrastiveEmbedder
from graphprox.graph.graph import Graph
from graphprox.graph.splits import NodeSplit, edge_split
from graphprox.graph.stats import edge_homophily
from graphprox.methods import NodeClassifier
from graphprox.views.base import rank_view
from graphprox.views.ranking import Ranking
from graphprox.views.summary import homophily_at
from graphprox.views.topology import topology_descriptor
from reproduction.barbell import project_to_plane, structure_classes
from reproduction.experiment import Trial
from reproduction.sharing import embed_once
from reproduction.splitting import STREAM, recorded_protocol

HOMOPHILY_K = 6
# The views whose homophily is measured, and the options of their descriptors. Near walks are those of the authors'
# later code: they stay near their start, without Weisfeiler-Lehman iterations.
HOMOPHILY_VIEWS: dict[str, tuple[str, dict[str, Any]]] = {
    "feature": ("feature", {}),
    "topology": ("topology", {}),
    "near walks": ("topology", {"p": 0.01, "q": 8.0, "iterations": 0}),
}
EMBED, EVALUATE, PROCESSOR = "embed", "evaluate", "processor"  # keys of `seconds`; processor time is of the embedding
DIGITS = 3  # of a coordinate in a figure


@dataclass
class Measurement:
    """The result of a task.

    Parameters
    ----------
    figures : dict
        Values by metric.
    seconds : dict of str to float
        Time spent, by part of the work.
    peak_memory : int, default=0
        Peak memory in bytes of an embedding computed for an earlier trial.
    """

    figures: dict[str, Any] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    peak_memory: int = 0

    def embed(self, trial: Trial, dataset: Dataset) -> FloatArray | sp.csr_array:
        """Return the embedding of a trial and record its cost, whether it is new or shared."""
        embedding = embed_once(trial, dataset)
        self.seconds |= {EMBED: embedding.seconds, PROCESSOR: embedding.processor_seconds}
        self.peak_memory = embedding.peak_memory or 0
        return embedding.vectors

    @contextmanager
    def timer(self, part: str) -> Iterator[None]:
        """Add the duration of a block to a part of the work."""
        start, processor_start = time.perf_counter(), time.process_time()
        yield
        self.seconds[part] = self.seconds.get(part, 0.0) + time.perf_counter() - start
        if part == EMBED:
            self.seconds[PROCESSOR] = self.seconds.get(PROCESSOR, 0.0) + time.process_time() - processor_start


def classify_nodes(trial: Trial, dataset: Dataset) -> Measurement:
    """Probe one embedding on each split; a semi-supervised method is trained on each split instead."""
    measurement, labels, splits = Measurement(), get_labels(dataset.graph), _splits(trial, dataset)
    method = trial.make_method()
    scores: list[SplitScore] = []
    if isinstance(method, NodeClassifier):
        for split in splits:
            with measurement.timer(EMBED):
                predicted = method.fit(dataset.graph, split).predict(dataset.graph)
            scores.append(score_predictions(predicted, labels, split))
    else:
        embedding = measurement.embed(trial, dataset)
        with measurement.timer(EVALUATE):
            scores = _probe(trial, embedding, labels, splits)
    measurement.figures = {name: [getattr(each, name) for each in scores] for name in trial.experiment.metrics}
    return measurement


def predict_links(trial: Trial, dataset: Dataset) -> Measurement:
    """Embed the training edges of each split, and score its held-out edges against non-edges."""
    measurement, method = Measurement(figures={name: [] for name in trial.experiment.metrics}), trial.make_embedder()
    for seed in trial.split_seeds:
        split = edge_split(dataset.graph, random_state=seed, stream=STREAM)
        with measurement.timer(EMBED):
            embedding = method.fit_transform(split.graph)
        with measurement.timer(EVALUATE):
            scores = link_prediction(split, embedding).to_dict()
        for name in trial.experiment.metrics:
            measurement.figures[name].append(scores[name])
    return measurement


def find_groups(trial: Trial, dataset: Dataset) -> Measurement:
    """Compare clusters and nearest nodes of an embedding with the classes; k-means starts from each split's seed."""
    measurement, labels = Measurement(), get_labels(dataset.graph)
    embedding = measurement.embed(trial, dataset)
    with measurement.timer(EVALUATE):
        nearest = score_neighbors(embedding, labels, ks=(5,))
        clusters = [score_clusters(embedding, labels, random_state=seed).nmi for seed in trial.split_seeds]
    measurement.figures = {"nmi": clusters, "sim_at_5": [nearest[5]]}
    return measurement


def trace_training(trial: Trial, dataset: Dataset) -> Measurement:
    """Record the loss of every epoch, and probe on each split after some of them."""
    measurement, labels, splits = Measurement(), get_labels(dataset.graph), _splits(trial, dataset)
    accuracy: list[list[float]] = []
    losses: list[float] = []
    method, marks = trial.make_method(), trial.experiment.marks
    if not isinstance(method, ContrastiveEmbedder):
        raise ParameterError("a training curve needs a method of the FT-GCL family; got another one")
    states = method.embed_after(dataset.graph, marks)
    while True:
        with measurement.timer(EMBED):
            if (state := next(states, None)) is None:
                break
        losses, embedding = state
        with measurement.timer(EVALUATE):
            accuracy.append([each.accuracy for each in _probe(trial, embedding, labels, splits)])
    measurement.figures = {"marks": sorted(marks), "loss": losses, "accuracy": accuracy}
    return measurement


def project_by_tsne(trial: Trial, dataset: Dataset) -> Measurement:
    """Project an embedding to two dimensions by t-SNE; points are sorted, so that nodes cannot be identified."""
    from sklearn.manifold import TSNE

    measurement, labels = Measurement(), get_labels(dataset.graph)
    embedding = measurement.embed(trial, dataset)
    with measurement.timer(EVALUATE):
        points = TSNE(random_state=trial.seed, init="random").fit_transform(normalize_rows(embedding))
    measurement.figures = {"points": _points_by_class(points, labels, dataset.graph.class_names)}
    return measurement


def _points_by_class(points: FloatArray, labels: IntArray, names: tuple[str, ...] | None) -> dict[str, Any]:
    def sorted_points(label: int) -> list[list[float]]:
        return sorted([round(float(x), DIGITS), round(float(y), DIGITS)] for x, y in points[labels == label])

    return {names[label] if names else str(label): sorted_points(label) for label in np.unique(labels)}


def measure_homophily(trial: Trial, dataset: Dataset) -> Measurement:
    """Measure the edge homophily of a graph and of its views."""
    measurement, graph = Measurement(), dataset.graph
    with measurement.timer(EVALUATE):
        measurement.figures = {"graph": edge_homophily(graph)} | {
            name: homophily_at(_rank(graph, view, trial.seed, options), graph, k=HOMOPHILY_K)
            for name, (view, options) in HOMOPHILY_VIEWS.items()
        }
    return measurement


def describe_barbell(trial: Trial, dataset: Dataset) -> Measurement:
    """Find the nodes with equal topology descriptors, and project the descriptors to the plane."""
    measurement = Measurement()
    with measurement.timer(EVALUATE):
        rng = np.random.default_rng(trial.seed)
        descriptors = topology_descriptor(dataset.graph, rng, subgraphs="egonet", hops=1, exact=True)
        plane = np.round(project_to_plane(descriptors), DIGITS) + 0.0  # turns -0.0 into 0.0
    measurement.figures = {"classes": structure_classes(descriptors).tolist(), "plane": plane.tolist()}
    return measurement


def _rank(graph: Graph, view: str, seed: int, options: dict[str, Any]) -> Ranking:
    return rank_view(graph, view, k_max=HOMOPHILY_K, random_state=seed, options=options)


TASKS: dict[str, Callable[[Trial, Dataset], Measurement]] = {
    "classification": classify_nodes,
    "links": predict_links,
    "groups": find_groups,
    "curve": trace_training,
    "map": project_by_tsne,
    "homophily": measure_homophily,
    "barbell": describe_barbell,
}


def _probe(
    trial: Trial, embedding: FloatArray | sp.csr_array, labels: IntArray, splits: list[NodeSplit]
) -> list[SplitScore]:
    return [PROTOCOLS[trial.experiment.protocol].probe.evaluate(embedding, labels, split) for split in splits]


def _splits(trial: Trial, dataset: Dataset) -> list[NodeSplit]:
    experiment = trial.experiment
    protocol = recorded_protocol(experiment.protocol)
    return protocol.splits(dataset, n_splits=experiment.splits, random_state=experiment.first_split)
