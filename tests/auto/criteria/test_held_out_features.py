"""Held-out features: the score against scikit-learn's ridge regression, and what it says about graphs."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from auto.topic_graphs import rewire, topic_graph
from graphprox import Graph, synthetic
from graphprox.auto.criteria.held_out_features import (
    CANDIDATES,
    MIN_FEATURES,
    MIN_NODES,
    MIN_SCORE,
    PENALTIES,
    TEST_NODES,
    TRAIN_NODES,
    _count_train_nodes,
    _score,
    compare_scores,
    held_out_features,
    score_candidates,
)
from graphprox.auto.outputs import OUTPUTS


def judge(graph, seed=0):
    return score_candidates(graph, seed, lambda *_: None)


def scores(own, graph, view, both):
    return {"own": own, "graph": graph, "own and view": view, "own and graph": both}


# -- the ratio ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "ratio"),
    [
        (scores(0.1, 0.2, 0.1, 0.2), 2),
        (scores(0.1, 0.05, 0.1, 0.12), 1),  # edges help beside own features, but not in place of them
        (scores(0.1, 0.12, 0.1, 0.05), 1.2),
        (scores(0.1, 0.1, 0.2, 0.1), 1),  # or in place of them
        (scores(0.2, 0.1, 0.2, 0.1), 0.5),
        (scores(0.2, 0.1, 0.2, 0.19), 0.95),
        (scores(0.2, -0.4, 0.3, -0.1), 0),  # edges predict nothing
        (scores(-0.1, 0.2, -0.05, 0.1), 0.2 / MIN_SCORE),  # features predict nothing
        (scores(-0.01, -0.05, 0.02, -0.01), 0),  # own features predict beside similar nodes alone
        (scores(MIN_SCORE, 0.0, MIN_SCORE, 0.0), 0),  # one score is enough evidence
    ],
)
def test_ratio_is_the_larger_of_two(given, ratio):
    assert compare_scores(given) == pytest.approx(ratio)


@pytest.mark.parametrize(
    "given",
    [
        {},
        scores(0.0, 0.0, 0.0, 0.0),
        scores(-0.5, -0.1, -0.2, -0.3),
        scores(MIN_SCORE / 2, MIN_SCORE * 0.99, 0.0, 0.001),
    ],
)
def test_there_is_no_ratio_where_the_evidence_is_thin(given):
    assert compare_scores(given) is None


def test_evidence_is_made_of_scores_and_ratio():
    graph = topic_graph(nodes=150)
    found = held_out_features(graph, 0, lambda *_: None)
    assert found.scores == judge(graph)
    assert found.ratio == compare_scores(found.scores)
    assert {name for names in CANDIDATES.values() for name in names} <= set(OUTPUTS)


# -- the score of one split -----------------------------------------------------------------------------------------


def score_by_sklearn(rows, target, train, test):
    scores = []
    for penalty in PENALTIES:
        predicted = Ridge(alpha=penalty).fit(rows[train], target[train]).predict(rows[test])
        total = ((target[test] - target[train].mean(0)) ** 2).sum()
        scores.append(1 - ((predicted - target[test]) ** 2).sum() / total)
    return max(scores)


@pytest.mark.parametrize(
    ("num_nodes", "num_train"),
    [(50, 15), (900, 270), (2000, 300), (5000, 500), (25_000, TRAIN_NODES)],  # 30 %, 300 nodes, 10 %, at most 2,000
)
def test_score_is_the_best_of_several_ridge_regressions_of_scikit_learn(num_nodes, num_train):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(num_nodes, 6)).astype(np.float32) + 3
    target = rows @ rng.normal(size=(6, 4)) + 4 * rng.normal(size=(num_nodes, 4))
    order = rng.permutation(num_nodes)
    train, test = order[:num_train], order[num_train : num_train + TEST_NODES]
    expected = score_by_sklearn(rows.astype(float), target, train, test)
    chosen = order[: num_train + TEST_NODES]
    assert _count_train_nodes(num_nodes) == num_train
    assert _score(rows[chosen], target[chosen].astype(np.float32), num_train) == pytest.approx(expected, abs=1e-4)


def test_score_is_high_for_what_follows_from_the_rows_and_low_for_noise():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(600, 5)).astype(np.float32)
    assert _score(rows, rows @ rng.normal(size=(5, 3)).astype(np.float32), 180) > 0.99
    assert _score(rows, rng.normal(size=(600, 3)).astype(np.float32), 180) < 0.02


def test_score_of_a_constant_target_is_zero():
    rows = np.random.default_rng(0).random((60, 3), np.float32)
    assert _score(rows, np.ones((60, 2), np.float32), 18) == 0


# -- graphs ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, 1])
def test_edges_between_similar_nodes_score_higher_than_rewired_ones(seed):
    graph = topic_graph(seed=seed)
    similar, random = judge(graph), judge(rewire(graph, seed=seed))
    assert similar["graph"] > random["graph"] + 0.1
    assert similar["own and graph"] > random["own and graph"] + 0.05
    for name in ("own", "own and view"):  # which read no edges
        assert similar[name] == pytest.approx(random[name])
    assert similar["graph"] > similar["own"] > random["graph"]


def test_features_that_have_nothing_in_common_predict_nothing():
    x = np.random.default_rng(0).normal(size=(500, 30))
    graph = Graph(x, synthetic(nodes=500).edge_index)
    assert max(judge(graph).values()) < 0.02


def test_features_are_predicted_by_others_that_equal_them():
    hidden = np.random.default_rng(0).normal(size=(300, 3))
    graph = Graph(np.repeat(hidden, 10, axis=1), [[0], [1]])
    assert judge(graph)["own"] > 0.95


def test_sparse_and_dense_features_are_judged_alike():
    graph = topic_graph(nodes=150)
    sparse, dense = judge(graph), judge(graph.with_features(graph.x.toarray()))
    assert dense == pytest.approx(sparse, abs=1e-3)


def test_scores_depend_on_the_graph_and_the_seed_alone():
    graph = topic_graph(nodes=150)
    assert judge(graph, seed=3) == judge(graph, seed=3)
    assert judge(graph, seed=3) != judge(graph, seed=4)


def test_labels_are_ignored():
    graph = topic_graph(nodes=150)
    shuffled = graph.with_labels(np.random.default_rng(0).permutation(graph.y))
    assert judge(graph) == judge(shuffled) == judge(graph.without_labels())


def test_graph_with_too_few_nodes_or_features_is_not_judged():
    rng = np.random.default_rng(0)
    enough = Graph(rng.random((MIN_NODES, MIN_FEATURES)), [[0], [1]])
    assert set(judge(enough)) == set(CANDIDATES)
    assert judge(Graph(rng.random((MIN_NODES, MIN_FEATURES - 1)), [[0], [1]])) == {}
    assert judge(Graph(rng.random((MIN_NODES - 1, MIN_FEATURES)), [[0], [1]])) == {}


def test_columns_that_are_zero_in_one_half_are_no_error():
    x = np.zeros((60, 12))
    x[:, 0] = np.arange(60) % 2
    assert np.isfinite(list(judge(Graph(x, [range(59), range(1, 60)])).values())).all()


def test_progress_is_reported_to_the_end():
    reported = []
    held_out_features(topic_graph(nodes=150), 0, lambda *each: reported.append(each))
    assert [done for _, done, _ in reported] == list(range(11))  # five splits, in both directions
    assert {(stage, total) for stage, _, total in reported} == {("choosing", 10)}
