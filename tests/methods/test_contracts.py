"""Laws that every method keeps, whatever it does."""

from __future__ import annotations

import warnings
from dataclasses import fields

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from graphprox import Graph, StructuralFeaturesWarning, random_split, synthetic
from graphprox.methods.embedders import Classifier, Embedder
from graphprox.methods.registry import BASELINES, METHODS, method_for

# Small enough for a test, where a method has such a setting.
SMALL = {
    "width": 8,
    "hidden": 8,
    "epochs": 2,
    "walks": 2,
    "length": 8,
    "window": 2,
    "samples": 200,
    "steps": 2,
    "dimensions": 8,
    "heads": 2,
    "warm_up": 1,
    "rounds": 2,
}
FAMILY_SMALL = {"steps": 1, "encoder.width": 8}
EMBEDDERS = [name for name in METHODS if "Y" not in METHODS[name].about.uses]
CLASSIFIERS = [name for name in METHODS if "Y" in METHODS[name].about.uses]


def small(name):
    if name not in BASELINES:
        return method_for(name, overrides=FAMILY_SMALL)
    known = {each.name for each in fields(BASELINES[name])} - ({"steps"} if name == "smoothed" else set())
    return method_for(name, overrides={field: value for field, value in SMALL.items() if field in known})


def width_of(embedder):
    """How many columns it was asked for; None where the features say."""
    return getattr(embedder, "width", None)


def dense(rows):
    return rows.toarray() if sp.issparse(rows) else rows


def with_isolated_nodes():
    graph = synthetic(nodes=140)
    kept = (graph.edge_index >= 10).all(axis=0)
    return Graph(graph.x, graph.edge_index[:, kept], y=graph.y, directed=None)


def without_features():
    graph = synthetic(nodes=140)
    adjacency = sp.csr_array((np.ones(graph.num_entries), graph.edge_index), shape=(140, 140))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StructuralFeaturesWarning)
        bare = Graph.from_scipy(adjacency)
    return Graph(bare.x, bare.edge_index, y=graph.y, directed=None)


def one_way():
    graph = synthetic(nodes=140)
    kept = graph.edge_index[0] < graph.edge_index[1]
    return Graph(graph.x, graph.edge_index[:, kept], y=graph.y, directed=True)


def ring(nodes=80):
    return np.stack([np.arange(nodes), (np.arange(nodes) + 1) % nodes])


GRAPHS = {"isolated nodes": with_isolated_nodes, "no features": without_features, "directed": one_way}
ODD_GRAPHS = {
    **GRAPHS,
    "no edges": lambda: Graph(np.eye(6), np.empty((2, 0), np.int64)),
    "three nodes": lambda: Graph(np.eye(3), [[0, 1], [1, 2]]),
    "sparse features": lambda: Graph(sp.random_array((80, 200), density=0.02, rng=0).tocsr(), ring()),
    "weighted edges": lambda: Graph(np.eye(4), [[0, 1, 2], [1, 2, 3]], edge_weight=[0.5, 2.0, 0.0]),
}


@pytest.mark.parametrize("name", EMBEDDERS)
def test_an_embedding_depends_on_the_graph_and_the_seed_alone(name, no_data):
    graph, embedder = synthetic(nodes=140), small(name)
    assert isinstance(embedder, Embedder)
    torch.manual_seed(1)
    one = dense(embedder.embed(graph, 3))
    after = torch.rand(1)
    torch.manual_seed(1)
    assert torch.equal(after, torch.rand(1))  # nobody's source of chance is used up
    other = dense(embedder.embed(graph.without_labels(), 3))
    assert np.array_equal(one, other)
    assert one.shape == (graph.num_nodes, width_of(embedder) or one.shape[1])
    assert one.dtype == np.float32
    assert np.isfinite(one).all()
    assert (not np.array_equal(dense(embedder.embed(graph, 4)), one)) == embedder.drawn


@pytest.mark.parametrize("kind", ODD_GRAPHS)
@pytest.mark.parametrize("name", EMBEDDERS)
def test_any_graph_can_be_embedded(name, kind, no_data):
    graph = ODD_GRAPHS[kind]()
    embedder = small(name)
    rows = dense(embedder.embed(graph, 0))
    assert rows.shape == (graph.num_nodes, width_of(embedder) or rows.shape[1])
    assert np.isfinite(rows).all()


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_labels_of_test_nodes_never_matter_to_a_classifier(name):
    graph, classifier = synthetic(nodes=140), small(name)
    assert isinstance(classifier, Classifier)
    split = random_split(graph, seed=0, train=0.3, validation=0.2)
    told = classifier.predict(graph, split, 3)
    changed = graph.y.copy()
    changed[split.test] = np.random.default_rng(0).permutation(changed[split.test])
    assert not np.array_equal(changed, graph.y)
    other = Graph(graph.x, graph.edge_index, y=changed, directed=None)
    assert np.array_equal(told, classifier.predict(other, split, 3))
    assert told.shape == (graph.num_nodes,)
    assert set(np.unique(told)) <= set(np.unique(graph.y))


@pytest.mark.parametrize("kind", GRAPHS)
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_any_graph_can_be_classified(name, kind):
    graph = GRAPHS[kind]()
    split = random_split(graph, seed=0, train=0.3, validation=0.2)
    assert small(name).predict(graph, split, 0).shape == (graph.num_nodes,)


@pytest.mark.parametrize(
    "name", [name for name in EMBEDDERS if name in BASELINES and METHODS[name].about.group != "floor"]
)
def test_progress_is_told_to_the_end(name):
    heard, made = [], small(name)
    made.embed(synthetic(nodes=140), 0, progress=lambda *told: heard.append(told))
    assert heard
    for part in {what for what, _, _ in heard}:
        done, totals = zip(*((done, total) for what, done, total in heard if what == part), strict=True)
        assert sorted(set(done)) == list(done)
        assert set(totals) == {done[-1]}
    if METHODS[name].about.group != "walks and edges":  # those count walks and edges, all others every epoch
        assert heard == [("training", epoch, made.epochs) for epoch in range(1, made.epochs + 1)]
