"""What trials measure, against the parts they are made of."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from graphprox import ParameterError, edge_split, random_split, synthetic
from graphprox.evaluation.links import score_links
from graphprox.evaluation.probe import score
from graphprox.experiments.measuring import measure
from graphprox.experiments.spec import Experiment, Row
from graphprox.methods import embedders

ROOT = Path(__file__).resolve().parents[2]
SMALL = {"small": {"method": "ft-gcl", "set": {"steps": 3, "encoder.width": 8}}}


def one(task: str, metrics: list[str], **fields):
    experiment = Experiment(
        **{
            "name": "one",
            "title": "One trial",
            "task": task,
            "datasets": ["synthetic"],
            "rows": ["small"],
            "variants": SMALL,
            "seeds": 1,
            "splits": 2,
            "metrics": metrics,
            **fields,
        }
    )
    return experiment.trials()[0]


def test_links_are_scored_on_an_embedding_of_what_is_left(no_data, monkeypatch):
    seen = []
    embed = embedders.Trained.embed

    def watched(self, graph, seed):
        seen.append(graph)
        return embed(self, graph, seed)

    monkeypatch.setattr(embedders.Trained, "embed", watched)
    record = measure(one("links", ["auc", "ap", "validation_auc"]))
    for seed, graph in enumerate(seen):
        split = edge_split(synthetic(), seed=seed)
        held = {frozenset(pair) for pair in (*split.test_edges.T.tolist(), *split.validation_edges.T.tolist())}
        assert not held & {frozenset(pair) for pair in graph.edge_index.T.tolist()}
        embedding = embed(one("links", ["auc"]).maker, split.graph, 0)
        expected = score_links(embedding, split.test_edges, split.test_non_edges)
        assert (record.figures["auc"][seed], record.figures["ap"][seed]) == (expected.auc, expected.ap)
    assert len(seen) == len(record.figures["validation_auc"]) == 2


def test_a_curve_ends_where_the_training_of_so_many_steps_does(no_data):
    record = measure(one("curve", ["accuracy"], marks=[3, 0]))
    assert record.figures["marks"] == [0, 3]
    assert len(record.figures["loss"]) == 3
    trained = measure(one("classification", ["accuracy"]))
    assert record.figures["accuracy"][1] == trained.figures["accuracy"]
    with pytest.raises(ParameterError, match="trained step by step"):
        measure(one("curve", ["accuracy"], rows=["raw"], marks=[0]))


def test_a_map_has_a_point_for_every_node_and_names_none(no_data):
    points = measure(one("map", ["points"])).figures["points"]
    graph = synthetic()
    assert list(points) == list(graph.class_names)
    assert [len(each) for each in points.values()] == np.bincount(graph.y).tolist()
    assert all(each == sorted(each) for each in points.values())


def test_validation_figures_can_be_had_without_those_of_test_nodes(no_data):
    record = measure(one("classification", ["validation_accuracy"], first_split=1000, first_seed=1000))
    assert list(record.figures) == ["validation_accuracy"]
    assert record.settings["splits"] == [1000, 1001]
    assert record.seed == 1000


def test_nodes_of_equal_structure_coincide_on_the_barbell():
    figures = measure(Experiment.read(ROOT / "experiments" / "barbell.toml").trials()[0]).figures
    clique, joint, bridge = (figures["classes"][node] for node in (0, 5, 6))
    assert len({clique, joint, bridge}) == 3
    assert figures["classes"] == [*[clique] * 5, joint, bridge, bridge, joint, *[clique] * 5]
    assert len(np.unique(figures["plane"], axis=0)) == 3


# As the paper prints them; its Cornell is the file before July 2022.
@pytest.mark.parametrize(
    ("name", "of_graph", "of_features"),
    [("Texas", 0.108, 0.657), ("Wisconsin", 0.196, 0.699), ("Cornell-2021", 0.305, 0.657), ("Actor", 0.219, 0.250)],
)
def test_graph_and_feature_view_are_as_homophilous_as_reported(data, name, of_graph, of_features):
    trials = Experiment.read(ROOT / "experiments" / "homophily.toml").trials(only=name, seeds=3)
    figures = [measure(trial, data).figures for trial in trials]
    assert figures[0]["graph"] == pytest.approx(of_graph, abs=5e-4)
    # Ties are drawn, and each edge of the 1,098 of Texas is worth 0.0009.
    assert np.mean([each["feature"] for each in figures]) == pytest.approx(of_features, abs=2e-3)
    topology = [each["topology"] for each in figures]
    assert 0.15 < np.mean(topology) < 0.6
    assert np.std(topology) > 0


def test_a_row_without_a_title_has_its_methods():
    assert Row(method="ft-gcl").title == ""
    assert one("classification", ["accuracy"]).experiment.all_rows["small"].title == "FT-GCL"


def test_what_learns_classes_does_so_on_each_split(no_data):
    variants = {"gcn": {"method": "gcn", "set": {"epochs": 3}}}
    given = {"title": "classes", "datasets": ["synthetic"], "rows": ["gcn"], "variants": variants}
    trial = Experiment(name="classes", **given, seeds=1, splits=2).trials()[0]
    record = measure(trial)
    graph = synthetic()
    splits = [random_split(graph, seed=each) for each in range(2)]
    scores = [score(trial.maker.predict(graph, split, 0), graph.y, split) for split in splits]
    assert record.figures["accuracy"] == [each.accuracy for each in scores]
    assert record.figures["macro_f1"] == [each.macro_f1 for each in scores]
    assert record.settings["recipe"]["epochs"] == 3
    links = Experiment(name="links", **given, task="links", metrics=["auc"]).trials()[0]
    with pytest.raises(
        ParameterError, match="links needs a method that makes embeddings; got GCN, which learns classes"
    ):
        measure(links)
