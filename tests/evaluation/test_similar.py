"""Similarity search."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
import scipy.sparse as sp

from graphprox import GraphError, ParameterError, nearest
from graphprox.evaluation import similar
from graphprox.evaluation.similar import similarity_scores


def brute_force(rows, labels, k):
    """Every cosine by itself, sorted; the first k counted."""
    shares = []
    for i, own in enumerate(rows):
        cosines = [own @ other / np.linalg.norm(own) / np.linalg.norm(other) for other in rows]
        others = sorted((j for j in range(len(rows)) if j != i), key=lambda j: -cosines[j])
        shares.append(np.mean([labels[j] == labels[i] for j in others[:k]]))
    return np.mean(shares)


def test_it_is_what_brute_force_finds():
    rng = np.random.default_rng(0)
    rows, labels = rng.normal(size=(60, 5)), rng.integers(3, size=60)
    found = similarity_scores(rows, labels, ks=[1, 5, 59])
    assert found == {k: pytest.approx(brute_force(rows, labels, k)) for k in (1, 5, 59)}


def test_it_is_what_the_nearest_of_each_node_say(graph, embedding):
    near = nearest(embedding, np.arange(graph.num_nodes), k=10).nodes
    alike = graph.y[near] == graph.y[:, None]
    found = similarity_scores(embedding, graph.y)
    # Where nodes are equally near, `nearest` takes the first and Sim@k a share of each.
    assert found == {5: pytest.approx(alike[:, :5].mean(), abs=0.002), 10: pytest.approx(alike.mean(), abs=0.002)}


def test_ties_share_a_place_as_if_chance_decided():
    """The mean over all orders in which equal rows could stand."""
    rows = np.array([[1, 0], [1, 0], [2, 0], [1, 1], [0, 1], [0, 3]])
    labels = np.array([0, 0, 1, 1, 0, 1])
    for k in (1, 2, 3):
        means = []
        for order in permutations(range(6)):
            near = nearest(rows[list(order)], range(6), k=k).nodes
            means.append(np.mean(labels[list(order)][near] == labels[list(order)][:, None]))
        assert similarity_scores(rows, labels, ks=[k])[k] == pytest.approx(np.mean(means))


def test_neither_order_nor_length_of_rows_plays_a_part(graph, embedding, order, lengths):
    ours = similarity_scores(embedding, graph.y)
    assert similarity_scores(embedding[order], graph.y[order]) == pytest.approx(ours)
    assert similarity_scores(embedding * lengths, graph.y) == pytest.approx(ours)


def test_sparse_rows_count_as_dense_ones(graph):
    words = np.where(graph.x > 1.5, 1, 0)  # with many ties, and rows of zeros
    assert similarity_scores(sp.csr_array(words), graph.y) == pytest.approx(similarity_scores(words, graph.y))


def test_the_search_goes_some_nodes_at_a_time(graph, embedding, monkeypatch):
    ours = similarity_scores(embedding, graph.y)
    monkeypatch.setattr(similar, "_COSINES_AT_ONCE", 3000)
    assert similarity_scores(embedding, graph.y) == pytest.approx(ours)


def test_nodes_without_a_class_take_no_part(graph, embedding):
    known = np.arange(graph.num_nodes) % 4 > 0
    found = similarity_scores(embedding, np.where(known, graph.y, -1))
    assert found == pytest.approx(similarity_scores(embedding[known], graph.y[known]))


@pytest.mark.parametrize("k", [0, 4, 1.5, True])
def test_k_must_be_fewer_than_there_are(k):
    with pytest.raises(ParameterError, match=r"k must lie in 1\.\.3, the number of other nodes with a class"):
        similarity_scores(np.eye(5), [0, 1, 0, 1, -1], ks=[k])


def test_two_classes_are_needed(graph):
    with pytest.raises(GraphError, match="similarity search needs nodes of two classes or more; got 1"):
        similarity_scores(graph.x, np.zeros(graph.num_nodes, int))
