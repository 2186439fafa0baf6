"""The probe of GRACE's code against scikit-learn's grid search, and its invariances."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import normalize

from graphprox import GraphError, NodeSplit, random_split
from graphprox.evaluation.grace_probe import GRACEProbe, grace_split, stratified_folds

# Every fifth of the 21 penalties, with both ends: each takes 35 fits.
PROBE = GRACEProbe(cs=GRACEProbe().cs[::5])


def grid_search(rows, labels, cs):
    """The same selection by GridSearchCV, on the same folds, in all dimensions."""
    masks = list(stratified_folds(labels))
    search = GridSearchCV(
        OneVsRestClassifier(LogisticRegression(solver="liblinear", tol=1e-6, max_iter=10**4)),
        {"estimator__C": list(cs)},
        cv=[(np.flatnonzero(~mask), np.flatnonzero(mask)) for mask in masks],
    )
    return search.fit(rows, labels)


@pytest.mark.parametrize(
    ("n_components", "probe"), [(24, PROBE), pytest.param(24, GRACEProbe(), marks=pytest.mark.slow), (200, PROBE)]
)
def test_scores_agree_with_grid_search_of_scikit_learn(graph, embed_untrained, n_components, probe):
    split = grace_split(graph, random_state=1)
    rows = normalize(embed_untrained(graph, n_components).astype(float))
    search = grid_search(rows[split.train], graph.y[split.train], probe.cs)
    found = probe.evaluate(rows, graph.y, split)
    assert found.accuracy == pytest.approx(search.score(rows[split.test], graph.y[split.test]), abs=0.01)
    # GridSearchCV averages over folds, whose sizes may differ by one node.
    assert found.val_accuracy == pytest.approx(search.best_score_, abs=0.02)


def test_training_nodes_are_those_of_the_random_split_and_all_others_test(graph):
    split, reference = grace_split(graph, random_state=4), random_split(graph, random_state=4)
    assert np.array_equal(split.train, reference.train)
    assert len(split.val) == 0
    assert np.array_equal(np.sort(np.concatenate([split.train, split.test])), np.arange(graph.num_nodes))


def test_folds_are_a_stratified_partition():
    labels = np.random.default_rng(0).choice(4, 203, p=[0.6, 0.3, 0.08, 0.02])
    masks = np.array(list(stratified_folds(labels)))
    assert (masks.sum(axis=0) == 1).all()
    assert np.ptp(masks.sum(axis=1)) <= 1
    for each in range(4):
        assert np.ptp(masks[:, labels == each].sum(axis=1)) <= 1
    common = labels[labels < 2]  # StratifiedKFold needs five nodes of each class
    theirs = [len(test) for _, test in StratifiedKFold(5).split(common, common)]
    assert sorted(theirs) == sorted(mask.sum() for mask in stratified_folds(common))


def test_classes_with_fewer_nodes_than_folds_are_accepted(graph, embedding):
    by_class = [np.flatnonzero(graph.y == each) for each in range(7)]
    counts = [1, 4, 9, 9, 9, 9, 9]
    train = np.concatenate([nodes[:count] for nodes, count in zip(by_class, counts, strict=True)])
    test = np.setdiff1d(np.arange(graph.num_nodes), train)
    found = PROBE.evaluate(embedding, graph.y, NodeSplit(train, [], test))
    assert 0.3 < found.accuracy < 1


def test_two_training_nodes_are_sufficient():
    labels = np.array([0, 1, 0, 1])
    found = PROBE.evaluate(np.eye(2)[labels], labels, NodeSplit([0, 1], [], [2, 3]))
    assert (found.accuracy, found.val_accuracy) == (1, 0)  # each fold is fitted on the other class alone


def test_selection_ignores_labels_of_test_nodes(graph, embedding):
    split = grace_split(graph, random_state=0)
    shuffled = graph.y.copy()
    shuffled[split.test] = np.random.default_rng(0).permutation(shuffled[split.test])
    ours, theirs = PROBE.evaluate(embedding, graph.y, split), PROBE.evaluate(embedding, shuffled, split)
    assert (ours.c, ours.val_accuracy) == (theirs.c, theirs.val_accuracy)
    assert ours.accuracy > theirs.accuracy


def test_validation_nodes_are_ignored(graph, embedding):
    split = random_split(graph, random_state=0)
    unknown = graph.y.copy()
    unknown[split.val] = -1
    assert PROBE.evaluate(embedding, unknown, split) == PROBE.evaluate(embedding, graph.y, split)


def test_score_is_invariant_to_row_scaling(graph, embedding, lengths):
    split = grace_split(graph, random_state=2)
    ours, theirs = (
        PROBE.evaluate(embedding, graph.y, split),
        PROBE.evaluate(embedding * lengths, graph.y, split),
    )
    assert theirs.accuracy == pytest.approx(ours.accuracy, abs=0.002)


def test_score_for_a_fixed_penalty_is_permutation_invariant(graph, embedding, order):
    split, place = grace_split(graph, random_state=0), np.argsort(order)
    moved = NodeSplit(place[split.train], [], place[split.test])
    probe = GRACEProbe(cs=(8.0,))  # folds depend on the order of the nodes, and here select nothing
    ours, theirs = probe.evaluate(embedding, graph.y, split), probe.evaluate(embedding[order], graph.y[order], moved)
    assert theirs.accuracy == pytest.approx(ours.accuracy, abs=0.002)


def test_splits_that_cannot_be_evaluated_are_rejected(graph):
    split = grace_split(graph, random_state=0)
    with pytest.raises(GraphError, match="a probe needs test nodes"):
        PROBE.evaluate(graph.x, graph.y, NodeSplit(split.train, [], []))
    with pytest.raises(GraphError, match="at least two classes"):
        PROBE.evaluate(graph.x, np.zeros_like(graph.y), split)
