"""Geom-GCN: its neighbors by relation, and its network against an explicit loop."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from graphprox import Graph, NotInductiveError, random_split, synthetic
from graphprox.methods import geom_gcn
from graphprox.methods._poincare import poincare_embedding
from graphprox.methods._supervised import to_feature_matrix
from graphprox.methods.geom_gcn import NUM_RELATIONS, GeomGCN, GeomGCNNetwork, RelationalNeighbors
from graphprox.nn.features import FeatureMatrix


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def test_network_sums_over_the_neighbors_of_each_relation():
    points = np.array([[0.1, 0.2], [0.5, -0.3], [-0.4, -0.1], [0.1, 0.6], [-0.2, 0.3]])
    in_graph = np.array([[0, 1, 1, 2, 3, 0], [1, 0, 2, 1, 0, 3]])
    in_plane = np.array([[0, 3, 2, 4], [3, 0, 4, 2]])
    network = GeomGCNNetwork(3, 2, 4, dropout=0.5, generator=generator()).eval()
    x = torch.randn(5, 3, generator=generator(1)).double()
    # By definition: for each node and relation, the sum over its neighbors u of W_relation x_u, divided by the roots
    # of the numbers of neighbors of both.
    neighbors = [[(v, NUM_RELATIONS - 1)] for v in range(5)]
    for space, pairs in enumerate((in_graph, in_plane)):
        for u, v in pairs.T:
            is_right, is_above = points[u] > points[v]
            neighbors[v].append((u, 4 * space + 2 * is_right + is_above))

    def aggregate(h, weight):
        sums = torch.zeros(5, NUM_RELATIONS, weight.shape[1] // NUM_RELATIONS).double()
        for v in range(5):
            for u, relation in neighbors[v]:
                of_relation = weight.double().view(len(weight), NUM_RELATIONS, -1)[:, relation]
                sums[v, relation] += h[u] @ of_relation / math.sqrt(len(neighbors[u]) * len(neighbors[v]))
        return sums

    with torch.no_grad():
        hidden = aggregate(x, network.first).relu().view(5, -1)
        expected = aggregate(hidden, network.second).mean(1)
        inputs = FeatureMatrix.of(x.float().numpy()), RelationalNeighbors.from_points(points, [in_graph, in_plane])
        np.testing.assert_allclose(network(*inputs).numpy(), expected.numpy(), atol=1e-5)


def test_graph_is_embedded_once_for_all_splits(monkeypatch):
    graph, calls = synthetic(nodes=140), []
    monkeypatch.setattr(
        geom_gcn,
        "poincare_embedding",
        lambda *args, **named: calls.append(named) or poincare_embedding(*args, **named),
    )
    geom_gcn._embed_cached.cache_clear()
    for seed, split in ((0, 0), (0, 1), (1, 1)):
        classifier = GeomGCN(epochs=2, latent_epochs=3, random_state=seed)
        classifier.fit(graph, random_split(graph, random_state=split)).predict(graph)
    assert calls == [{"random_state": 0, "epochs": 3}, {"random_state": 1, "epochs": 3}]


def test_there_are_as_many_neighbors_in_the_plane_as_in_the_graph():
    graph = Graph(np.eye(30), [[*range(29), 3], [*range(1, 30), 3]])
    pattern = RelationalNeighbors.of(graph, random_state=0, epochs=5).per_relation.pattern
    relation = pattern.columns % NUM_RELATIONS
    assert (relation < 4).sum() == 2 * 29
    assert ((relation >= 4) & (relation < 8)).sum() == 2 * 29
    assert (relation == 8).sum() == 30
    assert torch.equal(relation, pattern.rows % NUM_RELATIONS)


def test_two_nodes_are_in_opposite_quadrants_of_each_other():
    points = np.random.default_rng(0).uniform(-0.5, 0.5, (20, 2))
    source, target = np.arange(19), np.arange(1, 20)
    there, back = geom_gcn._quadrants(points, source, target), geom_gcn._quadrants(points, target, source)
    assert np.array_equal(there + back, np.full(19, 3))


def test_another_graph_is_rejected():
    graph = synthetic(nodes=140)
    classifier = GeomGCN(epochs=2, latent_epochs=3).fit(graph, random_split(graph, random_state=0))
    with pytest.raises(NotInductiveError, match=r"cannot predict another graph: call fit on that graph$"):
        classifier.predict(synthetic(nodes=210))
    copied = Graph(graph.x, graph.edge_index, directed=graph.directed)
    assert np.array_equal(classifier.predict(copied), classifier.predict(graph))


def test_dropout_is_applied_in_training_only():
    graph = synthetic(nodes=140)
    network = GeomGCNNetwork(32, 6, 7, dropout=0.5, generator=generator())
    inputs = to_feature_matrix(graph), RelationalNeighbors.of(graph, random_state=0, epochs=1)
    assert not torch.equal(network(*inputs), network(*inputs))
    network.eval()
    assert torch.equal(network(*inputs), network(*inputs))
