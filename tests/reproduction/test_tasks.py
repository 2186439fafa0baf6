"""Tasks, compared with the functions they call."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from graphprox import (
    FTGCL,
    Graph,
    ParameterError,
    RawFeatures,
    StructuralFeaturesWarning,
    edge_split,
    random_split,
    synthetic,
)
from graphprox.datasets.dataset import Dataset
from graphprox.evaluation import clustering, similarity
from graphprox.evaluation.links import score_pairs
from graphprox.evaluation.probe import score_predictions
from graphprox.graph.structural import has_structural_features
from reproduction.experiment import Experiment
from reproduction.measuring import measure
from reproduction.tasks import predict_links

EXPERIMENTS = Path(__file__).resolve().parents[2] / "reproduction" / "experiments"
SMALL = {"small": {"method": "ft-gcl", "set": {"epochs": 3, "encoder.n_components": 8}}}


def one(task: str, metrics: list[str], **fields):
    """Make a trial."""
    given = {"name": "one", "title": "One trial", "task": task, "metrics": metrics, "datasets": ["synthetic"]}
    given |= {"rows": ["small"], "variants": SMALL, "seeds": 1, "splits": 2}
    return Experiment(**{**given, **fields}).trials()[0]


def test_links_are_predicted_from_the_remaining_edges(no_data, monkeypatch):
    graphs = []
    fit_transform = FTGCL.fit_transform

    def watch(method, graph):
        graphs.append(graph)
        return fit_transform(method, graph)

    monkeypatch.setattr(FTGCL, "fit_transform", watch)
    record = measure(one("links", ["auc", "ap"]))
    assert len(graphs) == 2
    for seed, graph in enumerate(graphs):
        split = edge_split(synthetic(), random_state=seed, stream="legacy")
        held = {frozenset(pair) for pair in (*split.test_edges.T.tolist(), *split.val_edges.T.tolist())}
        assert not held & {frozenset(pair) for pair in graph.edge_index.T.tolist()}
        embedding = fit_transform(one("links", ["auc"]).make_embedder(), split.graph)
        expected = score_pairs(embedding, split.test_edges, split.test_non_edges)
        assert (record.figures["auc"][seed], record.figures["ap"][seed]) == (expected.auc, expected.ap)


@pytest.fixture
def featureless():
    """A random graph without features, with more nodes than an identity matrix is made for."""
    edges = np.random.default_rng(0).integers(1200, size=(2, 4000))
    with pytest.warns(StructuralFeaturesWarning):
        return Graph(None, edges, num_nodes=1200)


def test_structural_features_do_not_leak_held_out_edges(featureless, monkeypatch):
    graphs = []
    fit_transform = RawFeatures.fit_transform
    monkeypatch.setattr(
        RawFeatures, "fit_transform", lambda method, graph: graphs.append(graph) or fit_transform(method, graph)
    )
    figures = predict_links(one("links", ["auc"], rows=["raw"]), Dataset("featureless", featureless)).figures
    assert len(figures["auc"]) == len(graphs) == 2
    assert all(map(has_structural_features, graphs))


def test_training_curve_ends_like_a_training_run_of_as_many_epochs(no_data):
    record = measure(one("curve", ["accuracy"], marks=[3, 0]))
    assert record.figures["marks"] == [0, 3]
    assert len(record.figures["loss"]) == 3
    trained = measure(one("classification", ["accuracy"]))
    assert record.figures["accuracy"][1] == trained.figures["accuracy"]
    with pytest.raises(ParameterError, match="training curve"):
        measure(one("curve", ["accuracy"], rows=["raw"], marks=[0]))


def test_map_has_a_point_for_every_node_in_sorted_order(no_data):
    points = measure(one("map", ["points"])).figures["points"]
    graph = synthetic()
    assert list(points) == list(graph.class_names)
    assert [len(each) for each in points.values()] == np.bincount(graph.y).tolist()
    assert all(each == sorted(each) for each in points.values())


def test_validation_accuracy_can_be_recorded_alone(no_data):
    record = measure(one("classification", ["val_accuracy"], first_split=1000, first_seed=1000))
    assert list(record.figures) == ["val_accuracy"]
    assert record.settings["splits"] == [1000, 1001]
    assert record.seed == 1000


def test_barbell_has_three_kinds_of_nodes():
    figures = measure(Experiment.read(EXPERIMENTS / "barbell.toml").trials()[0]).figures
    assert len(set(figures["classes"])) == 3
    assert len(np.unique(figures["plane"], axis=0)) == 3


# As in the paper; its Cornell is the file before July 2022.
@pytest.mark.parametrize(
    ("name", "of_graph", "of_features"),
    [("Texas", 0.108, 0.657), ("Wisconsin", 0.196, 0.699), ("Cornell-2021", 0.305, 0.657), ("Actor", 0.219, 0.250)],
)
def test_homophily_of_graph_and_feature_view_is_that_of_the_paper(data, name, of_graph, of_features):
    trials = Experiment.read(EXPERIMENTS / "homophily.toml").trials(only=name, seeds=3)
    figures = [measure(trial, data).figures for trial in trials]
    assert figures[0]["graph"] == pytest.approx(of_graph, abs=5e-4)
    # Ties are broken at random, and each of the 1,098 edges of Texas contributes 0.0009.
    assert np.mean([each["feature"] for each in figures]) == pytest.approx(of_features, abs=2e-3)
    topology = [each["topology"] for each in figures]
    assert 0.15 < np.mean(topology) < 0.6
    assert np.std(topology) > 0


def test_classifier_is_trained_on_each_split(no_data):
    variants = {"gcn": {"method": "gcn", "set": {"epochs": 3}}}
    trial = one("classification", ["accuracy", "macro_f1"], rows=["gcn"], variants=variants)
    record = measure(trial)
    graph = synthetic()
    splits = [random_split(graph, random_state=each, stream="legacy") for each in range(2)]
    predicted = [trial.make_method().fit(graph, split).predict(graph) for split in splits]
    scores = [score_predictions(each, graph.y, split) for each, split in zip(predicted, splits, strict=True)]
    assert record.figures["accuracy"] == [each.accuracy for each in scores]
    assert record.figures["macro_f1"] == [each.macro_f1 for each in scores]
    assert record.settings["recipe"]["epochs"] == 3
    with pytest.raises(ParameterError, match="must compute embeddings; got a classifier"):
        measure(one("links", ["auc"], rows=["gcn"], variants=variants))


def test_groups_are_scored_as_by_the_functions_of_the_package(no_data):
    record = measure(one("groups", ["nmi", "sim_at_5"], rows=["raw"]))
    graph = synthetic()
    assert record.figures["nmi"] == [clustering(graph, graph.x, random_state=seed).nmi for seed in (0, 1)]
    assert record.figures["sim_at_5"] == [similarity(graph, graph.x, ks=(5,))[5]]
