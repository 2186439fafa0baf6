"""Neighbor similarity: pairs against networkx, and what it says about graphs whose edges join like and unlike nodes."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from auto.topic_graphs import rewire, topic_graph
from graphprox import Graph
from graphprox.auto.criteria.base import RATIOS
from graphprox.auto.criteria.neighbor_similarity import (
    MIN_CENTERS,
    judge_similarities,
    neighbor_similarity,
    sample_open_pairs,
)
from graphprox.auto.outputs import PreparedGraph


def judge(graph, seed=0):
    return neighbor_similarity(graph, seed, lambda *_: None)


def project(graph, channels=40, seed=0):
    """Return the graph with dense features: random projections of its words."""
    mixed = graph.x @ np.random.default_rng(seed).normal(size=(graph.num_features, channels))
    return graph.with_features(mixed)


def bipartite_graph(*, nodes=900, groups=6, seed=0):
    """Return a graph whose edges join each group with another one, never nodes of a kind."""
    rng = np.random.default_rng(seed)
    y = rng.integers(groups, size=nodes)
    partner = np.equal.outer(y // 2, y // 2) & ~np.equal.outer(y, y)
    edges = np.argwhere(np.triu((rng.random((nodes, nodes)) < 0.03) & partner, 1)).T
    return Graph(3 * np.eye(groups)[y] + rng.normal(size=(nodes, groups)), edges, y=y)


def test_pairs_are_neighbors_of_a_node_that_are_not_connected():
    network = nx.gnp_random_graph(40, 0.2, seed=1)
    network.add_edge(3, 3)
    graph = Graph(np.eye(40), np.array(network.edges).T)
    centers, one, other, weights = sample_open_pairs(PreparedGraph(graph, np.eye(40), 0), 0)
    assert len(centers) > 100
    assert (weights == 1).all()
    for center, first, second in zip(centers.tolist(), one.tolist(), other.tolist(), strict=True):
        assert len({center, first, second}) == 3
        assert network.has_edge(center, first)
        assert network.has_edge(center, second)
        assert not network.has_edge(first, second)
    expected = {node for node in network if _has_open_pair(network, node)}
    assert set(centers.tolist()) == expected  # twenty draws miss none of these


def _has_open_pair(network, node):
    around = [each for each in network[node] if each != node]
    return any(not network.has_edge(a, b) for a in around for b in around if a != b)


@pytest.mark.parametrize("seed", [0, 1])
def test_edges_between_similar_nodes_are_informative_and_rewired_ones_are_not(seed):
    graph = project(topic_graph(nodes=600, seed=seed))
    similar, random = judge(graph), judge(rewire(graph, seed=seed))
    assert similar.ratio > 1
    assert random.ratio <= 1
    assert similar.scores["neighbors"] > similar.scores["two steps apart"] > random.scores["neighbors"]


def test_edges_between_unlike_nodes_are_not_informative():
    found = judge(bipartite_graph())
    assert found.scores["neighbors"] < 0 < found.scores["two steps apart"]
    assert found.ratio <= 1


def test_noise_in_the_features_does_not_change_which_similarity_is_larger():
    graph = project(topic_graph(nodes=600))
    clean = judge(graph)
    noise = np.random.default_rng(1).normal(size=graph.x.shape) * graph.x.std()
    noisy = judge(graph.with_features(graph.x + noise))
    assert noisy.scores["neighbors"] < 0.8 * clean.scores["neighbors"]
    quotients = [each.scores["neighbors"] / each.scores["two steps apart"] for each in (clean, noisy)]
    assert quotients[1] == pytest.approx(quotients[0], rel=0.15)


def block_graph(homophily, *, nodes=3_000, classes=5, degree=6, seed=0):
    """Return a graph with a given share of edges within classes, and 20 noisy features."""
    rng = np.random.default_rng(seed)
    y = rng.integers(classes, size=nodes)
    source = rng.integers(nodes, size=nodes * degree // 2)
    same = rng.random(len(source)) < homophily
    order = np.argsort(y, kind="stable")
    starts, counts = np.searchsorted(y[order], np.arange(classes)), np.bincount(y)
    other = (y[source] + rng.integers(1, classes, len(source))) % classes
    target_class = np.where(same, y[source], other)
    target = order[starts[target_class] + rng.integers(0, counts[target_class])]
    x = 1.5 * rng.normal(size=(classes, 20))[y] + 3 * rng.normal(size=(nodes, 20))
    return Graph(x, np.array([source, target]), y=y)


@pytest.mark.parametrize("seed", [0, 1])
def test_ratio_grows_with_homophily(seed):
    ratios = [judge(block_graph(share, seed=seed)).ratio for share in (0.2, 0.35, 0.5, 0.7, 0.9)]
    assert ratios[1:] == sorted(ratios[1:])
    assert ratios[1] < RATIOS["balanced"] < ratios[3]
    assert ratios[0] < 1.02  # random edges: nothing can be concluded


def test_homophily_and_signal_of_a_block_model_are_recovered():
    found = judge(block_graph(0.8, nodes=6_000))
    near, far = found.scores.values()
    assert far / near == pytest.approx(0.75, abs=0.1)  # h - (1 - h) / (k - 1), of k = 5 classes


@pytest.mark.parametrize(
    ("near", "far", "error", "num_neighbors", "ratio"),
    [
        (0.2, 0.15, 0.0, 20, RATIOS["graph"]),
        (0.2, 0.1, 0.0, 4, 0.95 + 0.05 * (2 / 3)),  # λ = 1/2, s = 2/5: 4 λ² (1 - s) / (1 - λ² s) = 2/3
        (0.2, -0.1, 0.0, 20, RATIOS["both"]),  # nodes two steps apart are unlike: no homophily is left
        (0.2, 0.25, 0.0, 20, RATIOS["balanced"]),  # neighbors are less similar than what is two steps apart
        (0.1, 0.25, 0.0, 20, RATIOS["both"]),  # much less
        (0.2, 0.15, 0.01, 20, 1.1),  # half of it is believed
        (0.0, 0.0, 0.0, 20, RATIOS["balanced"]),  # edges or features may be noise
        (-0.1, 0.2, 0.0, 20, RATIOS["balanced"]),
        (-0.1, 0.2, 1.0, 20, RATIOS["both"]),
    ],
)
def test_ratio_follows_from_homophily_signal_and_number_of_neighbors(near, far, error, num_neighbors, ratio):
    assert judge_similarities(near, far, error, num_neighbors) == pytest.approx(ratio, abs=2e-3)


def test_small_changes_of_a_similarity_are_small_changes_of_the_ratio():
    near = np.linspace(-0.02, 0.3, 3_001)
    for far in (0.0, 0.01, 0.1):
        for error in (0.002, 0.01):
            found = np.array([judge_similarities(each, far, error, 10.0) for each in near])
            assert np.abs(np.diff(found)).max() < 0.02


def test_rounding_does_not_decide_where_neighbors_have_equal_features():
    found = [judge_similarities(1.0 + each, 1.0, 0.0, 6.0) for each in (-1e-6, -1e-16, 0.0, 1e-16, 1e-6)]
    assert max(found) - min(found) < 0.01


def test_edges_count_by_their_weights():
    graph = project(topic_graph(nodes=600))
    noise = rewire(graph, seed=5)
    edges = np.hstack([np.array(graph.edges_once()), np.array(noise.edges_once())])
    good, bad = len(graph.edges_once()[0]), len(noise.edges_once()[0])
    trusted = Graph(graph.x, edges, edge_weight=np.r_[np.ones(good), np.full(bad, 1e-3)])
    doubted = Graph(graph.x, edges, edge_weight=np.r_[np.full(good, 1e-3), np.ones(bad)])
    assert judge(trusted).scores["neighbors"] > 3 * judge(doubted).scores["neighbors"]
    assert judge(trusted).ratio > judge(doubted).ratio


def test_graphs_without_enough_open_pairs_are_not_judged():
    rng = np.random.default_rng(0)
    for edges in (np.array(nx.complete_graph(30).edges).T, np.array([[0, 2], [1, 3]])):
        assert judge(Graph(rng.normal(size=(30, 4)), edges)).ratio is None
    star = np.array([[0] * 5 * MIN_CENTERS, range(1, 5 * MIN_CENTERS + 1)])
    assert judge(Graph(rng.normal(size=(5 * MIN_CENTERS + 1, 4)), star)).ratio is None


def test_nodes_that_are_all_alike_are_no_error():
    cycle = np.array(nx.cycle_graph(50).edges).T
    assert judge(Graph(np.ones((50, 3)), cycle)).ratio is None


def test_evidence_depends_on_the_graph_and_the_seed_alone():
    graph = project(topic_graph(nodes=300))
    assert judge(graph, seed=3) == judge(graph, seed=3)
    assert judge(graph, seed=3) != judge(graph, seed=4)
    shuffled = graph.with_labels(np.random.default_rng(0).permutation(graph.y))
    assert judge(graph) == judge(shuffled) == judge(graph.without_labels())
