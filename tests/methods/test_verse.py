"""VERSE against plain Python and personalized PageRank."""

from __future__ import annotations

import networkx as nx
import numba
import numpy as np
import pytest
from scipy.stats import chisquare, spearmanr

from graphprox import Graph
from graphprox._utils.checks import sample_seed
from graphprox._utils.hashing import GOLDEN, stream, uniform
from graphprox.methods._skipgram import iterate_chunks
from graphprox.methods.verse import VERSE, sample_walk_end
from graphprox.views.local_structure.adjacency import to_adjacency


def to_graph(given, weights=None):
    x = np.ones((given.number_of_nodes(), 1))
    return Graph(x=x, edge_index=np.array(given.edges).T, edge_weight=weights)


@numba.njit  # without a cache, which would miss changes of the functions that it calls
def count_ends(start, neighbor, keep, other, damping, source, times, nodes):
    counts, state = np.zeros(nodes, np.int64), stream(np.uint64(1), 0, 0)
    for _ in range(times):
        end, state = sample_walk_end(start, neighbor, keep, other, damping, source, state)
        counts[end] += 1
    return counts


@pytest.mark.parametrize("damping", [0.85, 0.3])
@pytest.mark.parametrize("weighted", [False, True])
def test_ends_of_walks_are_distributed_as_personalized_pagerank(damping, weighted):
    random = nx.gnm_random_graph(12, 24, seed=4)
    weights = np.random.default_rng(0).integers(1, 9, 24) if weighted else np.ones(24)
    for (a, b), weight in zip(random.edges, weights, strict=True):
        random[a][b]["weight"] = float(weight)
    assert nx.is_connected(random)
    adjacency = to_adjacency(to_graph(random, weights if weighted else None))
    table = adjacency.start, adjacency.neighbor, adjacency.keep, adjacency.other
    counts = count_ends(*table, damping, 3, 200_000, 12)
    expected = nx.pagerank(random, alpha=damping, personalization={3: 1}, tol=1e-12, max_iter=1000)
    assert chisquare(counts, np.array([expected[node] for node in range(12)]) * 200_000).pvalue > 1e-4


def test_walk_without_damping_ends_at_its_source():
    adjacency = to_adjacency(to_graph(nx.path_graph(2)))
    table = adjacency.start, adjacency.neighbor, adjacency.keep, adjacency.other
    assert count_ends(*table, 0.0, 1, 100, 2).tolist() == [0, 100]


def test_inner_products_rank_pairs_as_personalized_pagerank():
    caves = nx.connected_caveman_graph(6, 5)
    vectors = VERSE(n_components=32, epochs=20_000).fit_transform(to_graph(caves))
    ranks = np.array([list(nx.pagerank(caves, alpha=0.85, personalization={node: 1}).values()) for node in caves])
    pairs = np.triu_indices(30, 1)
    assert spearmanr((vectors @ vectors.T)[pairs], (ranks + ranks.T)[pairs]).statistic > 0.8


def test_verse_equals_plain_python():
    graph = to_graph(nx.lollipop_graph(5, 3))
    settings = {"n_components": 10, "epochs": 30, "damping": 0.7, "num_negatives": 3, "learning_rate": 0.1}
    ours = VERSE(**settings, random_state=7).fit_transform(graph)
    rng, adjacency = np.random.default_rng(7), to_adjacency(graph)
    table = adjacency.start, adjacency.neighbor, adjacency.keep, adjacency.other
    vectors = rng.random((8, 10), np.float32).astype(np.float64) - 0.5
    seed = sample_seed(rng)
    with np.errstate(over="ignore"):
        for first, end in iterate_chunks(30 * 8, None):
            state = np.uint64(stream(seed, first, 0))
            for _ in range(first, end):
                source = int(uniform(state) * 8)
                target, state = sample_walk_end(*table, 0.7, source, state + GOLDEN)
                state, targets = np.uint64(state), [target]
                for _ in range(3):
                    targets.append(int(uniform(state) * 8))
                    state += GOLDEN
                take_step(vectors, source, targets, 0.1, np.log([8, 8 / 3, 8 / 3, 8 / 3]))
    np.testing.assert_allclose(ours, vectors, atol=2e-3)


def take_step(vectors, source, targets, rate, biases):
    """Update the vectors of a pair and its negative samples in plain numpy; the first target is positive."""
    x = vectors[source].copy()
    errors = rate * (np.eye(len(targets))[0] - 1 / (1 + np.exp(biases - vectors[targets] @ x)))
    change = errors @ vectors[targets]
    for target, error in zip(targets, errors, strict=True):
        vectors[target] += error * x
    vectors[source] += change
