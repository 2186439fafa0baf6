"""Clustering."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.preprocessing import normalize

from graphprox import GraphError, ParameterError
from graphprox.evaluation.clustering import ClusterScore, cluster, matched_accuracy

PERFECT = ClusterScore(1, 1, 1)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=12))
def test_the_best_matching_is_the_best_of_all(pairs):
    classes, clusters = np.transpose(pairs)
    best = max(np.mean(np.array(names)[clusters] == classes) for names in permutations(range(4)))
    assert matched_accuracy(classes, clusters) == pytest.approx(best)


def test_it_is_scikit_learns_k_means(graph, embedding):
    clusters = KMeans(7, n_init=10, random_state=3).fit_predict(normalize(embedding.astype(float)))
    found = cluster(embedding, graph.y, seed=3)
    assert found.nmi == pytest.approx(normalized_mutual_info_score(graph.y, clusters), abs=0.01)
    assert found.ari == pytest.approx(adjusted_rand_score(graph.y, clusters), abs=0.01)


@pytest.fixture(scope="module")
def blobs():
    """Four classes that stand well apart."""
    rng = np.random.default_rng(0)
    labels = rng.integers(4, size=200)
    return np.eye(8)[labels] + rng.normal(scale=0.05, size=(200, 8)), labels


def test_classes_that_stand_apart_are_found(blobs, lengths):
    rows, labels = blobs
    assert cluster(rows, labels) == PERFECT
    assert cluster(rows * lengths[:200], labels) == PERFECT  # the length of a row plays no part
    order = np.random.default_rng(1).permutation(200)
    assert cluster(rows[order], labels[order], seed=9) == PERFECT
    assert cluster(rows, 10 * labels + 3) == PERFECT  # names of classes play no part


def test_noise_is_not(graph):
    noise = np.random.default_rng(0).normal(size=(graph.num_nodes, 16))
    found = cluster(noise, graph.y)
    assert found.nmi < 0.05
    assert abs(found.ari) < 0.05
    assert found.accuracy < 0.25


def test_the_same_seed_gives_the_same_score(graph, embedding):
    assert cluster(embedding, graph.y, seed=4) == cluster(embedding, graph.y, seed=4)


def test_nodes_without_a_class_are_clustered_but_not_scored(blobs):
    rows, labels = blobs
    hidden = np.where(np.arange(200) % 3 == 0, -1, labels)
    assert cluster(rows, hidden) == PERFECT
    stray = np.concatenate([rows, -rows])  # clusters of their own, which take two of the four away from the classes
    assert cluster(stray, np.concatenate([labels, np.full(200, -1)])).accuracy < 1


def test_rows_that_do_not_differ_are_one_cluster(graph):
    found = cluster(np.ones((graph.num_nodes, 3)), graph.y)
    assert (found.nmi, found.accuracy) == (0, pytest.approx(1 / 7))


def test_two_classes_and_a_seed_are_needed(graph):
    with pytest.raises(GraphError, match="clustering needs nodes of two classes or more; got 0"):
        cluster(graph.x, np.full(graph.num_nodes, -1))
    with pytest.raises(GraphError, match="got 1"):
        cluster(graph.x, np.zeros(graph.num_nodes, int))
    for seed in (-1, 2**32, 0.5, True):
        with pytest.raises(ParameterError, match="seed must be a whole number"):
            cluster(graph.x, graph.y, seed=seed)
