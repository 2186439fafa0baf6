"""LINE against plain Python, and what its two orders preserve."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from graphprox import Graph, synthetic
from graphprox._utils.checks import sample_seed
from graphprox._utils.hashing import GOLDEN, stream
from graphprox.methods._skipgram import init_vectors, iterate_chunks, sample_entry
from graphprox.methods.line import LINE, EdgeSampler


def make_graph(edges, *, nodes, weights=None):
    return Graph(x=np.ones((nodes, 1)), edge_index=np.asarray(edges), edge_weight=weights)


def compare_joined_and_equivalent(order):
    """Return the mean cosine of neighbors, and of nodes that have the same neighbors but no edge."""
    size = 10
    side = np.arange(2 * size) // size
    graph = make_graph(np.array(nx.complete_bipartite_graph(size, size).edges).T, nodes=2 * size)
    vectors = LINE(n_components=16, epochs=300, order=order).fit_transform(graph)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    similarity, is_joined = unit @ unit.T, side[:, None] != side
    return similarity[is_joined].mean(), similarity[~is_joined & ~np.eye(2 * size, dtype=bool)].mean()


def test_first_order_preserves_edges_and_second_order_shared_neighbors():
    joined, equivalent = compare_joined_and_equivalent("first")
    assert joined > equivalent
    joined, equivalent = compare_joined_and_equivalent("second")
    assert equivalent > joined + 0.5


def test_each_order_has_unit_length_and_equals_that_trained_alone():
    graph = synthetic(nodes=140)
    vectors = LINE(n_components=15, epochs=5).fit_transform(graph)
    assert vectors.shape == (140, 15)
    np.testing.assert_allclose(np.linalg.norm(vectors[:, :7], axis=1), 1, rtol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(vectors[:, 7:], axis=1), 1, rtol=1e-5)
    assert np.array_equal(vectors[:, :7], LINE(n_components=7, epochs=5, order="first").fit_transform(graph))


def test_edges_are_sampled_by_weight_and_negatives_by_degree():
    weights = np.array([1.0, 4.0, 2.5, 0.0, 9.0])
    graph = make_graph([[0, 1, 2, 3, 1], [1, 2, 3, 0, 1]], nodes=5, weights=weights)
    edges = EdgeSampler.of(graph)
    assert not (edges.source == edges.target).any()
    expected = graph.to_scipy().toarray()
    np.fill_diagonal(expected, 0)
    found = probabilities(edges.by_weight)
    np.testing.assert_allclose(found, expected[edges.source, edges.target] / expected.sum(), atol=1e-6)
    degree = expected.sum(axis=1) ** 0.75
    np.testing.assert_allclose(probabilities(edges.by_degree), degree / degree.sum(), atol=1e-6)


def probabilities(table):
    """Return the probability of each entry of an alias table."""
    total = table.keep.astype(np.float64)
    np.add.at(total, table.other, 1.0 - table.keep)
    return total / len(total)


@pytest.mark.parametrize("order", ["first", "second"])
def test_line_equals_plain_python(order):
    rng = np.random.default_rng(2)
    graph = make_graph(rng.integers(0, 9, (2, 20)), nodes=9, weights=rng.integers(1, 5, 20))
    edges, epochs, rate = EdgeSampler.of(graph), 40, 0.5
    settings = {"n_components": 10, "epochs": epochs, "num_negatives": 4, "learning_rate": rate}
    ours = LINE(**settings, order=order, random_state=7).fit_transform(graph)
    rng = np.random.default_rng(7)
    vectors = init_vectors(rng, 9, 10).astype(np.float64)
    contexts = vectors if order == "first" else np.zeros((9, 10))
    seed, total = sample_seed(rng), epochs * len(edges.source)
    with np.errstate(over="ignore"):
        for first, end in iterate_chunks(total, None):
            state = np.uint64(stream(seed, first, 0))
            for step in range(first, end):
                edge = sample_entry(*edges.by_weight, state)
                ends = edges.source[edge], edges.target[edge]
                targets = [ends[1]]
                for _ in range(4):
                    state += GOLDEN
                    node = sample_entry(*edges.by_degree, state)
                    targets += [node] if node not in ends else []
                state += GOLDEN
                take_step(vectors, ends[0], contexts, targets, rate + (1e-4 - rate) * step / total)
    np.testing.assert_allclose(ours, vectors / np.linalg.norm(vectors, axis=1, keepdims=True), atol=2e-3)


def take_step(inputs, source, outputs, targets, rate):
    """Update the vectors of a pair and its negative samples in plain numpy; the first target is positive."""
    x = inputs[source].copy()
    errors = rate * (np.eye(len(targets))[0] - 1 / (1 + np.exp(-outputs[targets] @ x)))
    change = errors @ outputs[targets]
    for target, error in zip(targets, errors, strict=True):
        outputs[target] += error * x
    inputs[source] += change
