"""The probe of GRACE's code."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import normalize

from graphprox import GraphError, NodeSplit, random_split
from graphprox.evaluation import compat
from graphprox.evaluation.compat import STRENGTHS, compat_probe, compat_split, folds


def searched(rows, labels):
    """The same by scikit-learn's own grid search, on the same folds, in all dimensions."""
    masks = list(folds(labels))
    search = GridSearchCV(
        OneVsRestClassifier(LogisticRegression(solver="liblinear", tol=1e-6, max_iter=10**4)),
        {"estimator__C": list(STRENGTHS)},
        cv=[(np.flatnonzero(~mask), np.flatnonzero(mask)) for mask in masks],
    )
    return search.fit(rows, labels)


@pytest.mark.parametrize("width", [24, 200])
def test_it_is_scikit_learns_grid_search(graph, smoothed, width):
    split = compat_split(graph, seed=0)
    rows = normalize(smoothed(graph, width).astype(float))
    search = searched(rows[split.train], graph.y[split.train])
    found = compat_probe(rows, graph.y, split)
    assert found.accuracy == pytest.approx(search.score(rows[split.test], graph.y[split.test]), abs=0.01)
    # Folds differ by a node in size, and the search takes their mean.
    assert found.validation_accuracy == pytest.approx(search.best_score_, abs=0.02)


def test_a_tenth_trains_and_the_rest_tests(graph):
    split, drawn = compat_split(graph, seed=4), random_split(graph, seed=4)
    assert np.array_equal(split.train, drawn.train)
    assert len(split.validation) == 0
    assert np.array_equal(np.sort(np.concatenate([split.train, split.test])), np.arange(graph.num_nodes))


def test_each_fold_has_its_share_of_every_class():
    labels = np.random.default_rng(0).choice(4, 203, p=[0.6, 0.3, 0.08, 0.02])
    masks = np.array(list(folds(labels)))
    assert (masks.sum(axis=0) == 1).all()
    assert np.ptp(masks.sum(axis=1)) <= 1
    for each in range(4):
        assert np.ptp(masks[:, labels == each].sum(axis=1)) <= 1
    theirs = (
        [len(test) for _, test in StratifiedKFold(5).split(labels, labels)] if np.bincount(labels).min() > 4 else []
    )
    assert not theirs or sorted(theirs) == sorted(masks.sum(axis=1))


def test_rare_classes_are_no_trouble(graph, embedding):
    """One class has a single training node, another has four."""
    by_class = [np.flatnonzero(graph.y == each) for each in range(7)]
    counts = [1, 4, 9, 9, 9, 9, 9]
    train = np.concatenate([nodes[:count] for nodes, count in zip(by_class, counts, strict=True)])
    test = np.setdiff1d(np.arange(graph.num_nodes), train)
    found = compat_probe(embedding, graph.y, NodeSplit(train, [], test))
    assert 0.3 < found.accuracy < 1


def test_two_nodes_are_enough():
    labels = np.array([0, 1, 0, 1])
    found = compat_probe(np.eye(2)[labels], labels, NodeSplit([0, 1], [], [2, 3]))
    assert (found.accuracy, found.validation_accuracy) == (1, 0)  # each was asked of by one that knew the other alone


def test_labels_of_test_nodes_choose_nothing(graph, embedding):
    split = compat_split(graph, seed=0)
    shuffled = graph.y.copy()
    shuffled[split.test] = np.random.default_rng(0).permutation(shuffled[split.test])
    ours, theirs = compat_probe(embedding, graph.y, split), compat_probe(embedding, shuffled, split)
    assert (ours.c, ours.validation_accuracy) == (theirs.c, theirs.validation_accuracy)
    assert ours.accuracy > theirs.accuracy


def test_validation_nodes_play_no_part(graph, embedding):
    split = random_split(graph, seed=0)
    unknown = graph.y.copy()
    unknown[split.validation] = -1
    assert compat_probe(embedding, unknown, split) == compat_probe(embedding, graph.y, split)


def test_the_length_of_a_row_plays_no_part(graph, embedding, lengths):
    split = compat_split(graph, seed=2)
    ours, theirs = compat_probe(embedding, graph.y, split), compat_probe(embedding * lengths, graph.y, split)
    assert theirs.accuracy == pytest.approx(ours.accuracy, abs=0.002)


def test_the_order_of_rows_plays_no_part_but_for_the_folds(graph, embedding, order, monkeypatch):
    split, place = compat_split(graph, seed=0), np.argsort(order)
    moved = NodeSplit(place[split.train], [], place[split.test])
    monkeypatch.setattr(compat, "STRENGTHS", (8.0,))  # folds, which are dealt out by position, then choose nothing
    ours, theirs = compat_probe(embedding, graph.y, split), compat_probe(embedding[order], graph.y[order], moved)
    assert theirs.accuracy == pytest.approx(ours.accuracy, abs=0.002)


def test_what_cannot_be_learned_from_is_refused(graph):
    split = compat_split(graph, seed=0)
    with pytest.raises(GraphError, match="a probe needs test nodes"):
        compat_probe(graph.x, graph.y, NodeSplit(split.train, [], []))
    with pytest.raises(GraphError, match="two classes or more"):
        compat_probe(graph.x, np.zeros_like(graph.y), split)
