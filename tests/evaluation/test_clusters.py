"""k-means clusters against classes."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.preprocessing import normalize

from graphprox import Dataset, Embedding, GraphError, ParameterError
from graphprox.evaluation import clustering
from graphprox.evaluation.clusters import matched_accuracy, score_clusters
from graphprox.evaluation.scores import ClusteringScores

PERFECT = ClusteringScores(1, 1, 1)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=12))
def test_matched_accuracy_is_that_of_the_best_assignment(pairs):
    classes, clusters = np.transpose(pairs)
    best = max(np.mean(np.array(names)[clusters] == classes) for names in permutations(range(4)))
    assert matched_accuracy(classes, clusters) == pytest.approx(best)


def test_scores_agree_with_k_means_of_scikit_learn(graph, embedding):
    clusters = KMeans(7, n_init=10, random_state=3).fit_predict(normalize(embedding.astype(float)))
    found = clustering(graph, embedding, random_state=3)
    assert found.nmi == pytest.approx(normalized_mutual_info_score(graph.y, clusters), abs=0.01)
    assert found.ari == pytest.approx(adjusted_rand_score(graph.y, clusters), abs=0.01)


@pytest.fixture(scope="module")
def blobs():
    """Vectors of four well separated classes, and their labels."""
    rng = np.random.default_rng(0)
    labels = rng.integers(4, size=200)
    return np.eye(8)[labels] + rng.normal(scale=0.05, size=(200, 8)), labels


def test_well_separated_classes_are_recovered(blobs, lengths):
    rows, labels = blobs
    assert score_clusters(rows, labels) == PERFECT
    assert score_clusters(rows * lengths[:200], labels) == PERFECT  # the length of a row is ignored
    order = np.random.default_rng(1).permutation(200)
    assert score_clusters(rows[order], labels[order], random_state=9) == PERFECT
    assert score_clusters(rows, 10 * labels + 3) == PERFECT  # class numbers are arbitrary


def test_noise_does_not_agree_with_classes(graph):
    noise = np.random.default_rng(0).normal(size=(graph.num_nodes, 16))
    found = score_clusters(noise, graph.y)
    assert found.nmi < 0.05
    assert abs(found.ari) < 0.05
    assert found.accuracy < 0.25


def test_equal_random_states_give_equal_scores(graph, embedding):
    assert score_clusters(embedding, graph.y, random_state=4) == score_clusters(embedding, graph.y, random_state=4)


def test_unlabeled_nodes_are_clustered_but_not_scored(blobs):
    rows, labels = blobs
    hidden = np.where(np.arange(200) % 3 == 0, -1, labels)
    assert score_clusters(rows, hidden) == PERFECT
    stray = np.concatenate([rows, -rows])  # they occupy two of the four clusters
    assert score_clusters(stray, np.concatenate([labels, np.full(200, -1)])).accuracy < 1


def test_identical_rows_form_one_cluster(graph):
    found = score_clusters(np.ones((graph.num_nodes, 3)), graph.y)
    assert (found.nmi, found.accuracy) == (0, pytest.approx(1 / 7))


def test_two_classes_and_a_valid_random_state_are_required(graph):
    with pytest.raises(GraphError, match="clustering needs nodes of at least two classes; got 0"):
        score_clusters(graph.x, np.full(graph.num_nodes, -1))
    with pytest.raises(GraphError, match="got 1"):
        score_clusters(graph.x, np.zeros(graph.num_nodes, int))
    for random_state in (-1, 0.5, True):
        with pytest.raises(ParameterError, match="random_state must be a non-negative integer"):
            score_clusters(graph.x, graph.y, random_state=random_state)
    with pytest.raises(ParameterError, match="random_state of k-means must be between 0 and"):
        score_clusters(graph.x, graph.y, random_state=2**32)


def test_any_random_state_of_scikit_learn_is_accepted(graph):
    for make in (np.random.RandomState, np.random.default_rng):
        assert clustering(graph, graph.x, random_state=make(3)) == clustering(graph, graph.x, random_state=make(3))
    assert clustering(graph, graph.x, random_state=None).nmi > 0


def test_graph_data_set_and_embedding_give_the_same_scores(graph, embedding, order):
    expected = score_clusters(embedding, graph.y, random_state=1)
    assert clustering(Dataset("a graph", graph), embedding, random_state=1) == expected
    shuffled = Embedding(embedding[order], ids=graph.ids[order])
    assert clustering(graph, shuffled, random_state=1) == expected


def test_sparse_rows_with_wide_indices_are_accepted(graph):
    rows = sp.csr_array(np.where(graph.x > 1, graph.x, 0))
    wide = sp.csr_array((rows.data, rows.indices.astype(np.int64), rows.indptr.astype(np.int64)), shape=rows.shape)
    assert score_clusters(wide, graph.y) == score_clusters(rows, graph.y)
