"""Multi-label classification against scikit-learn, and its laws."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.multiclass import OneVsRestClassifier

from graphprox import GraphError, ParameterError
from graphprox._utils.random import make_generator
from graphprox.evaluation import classify_multilabel
from graphprox.evaluation.multilabel import choose_most_probable, f1_scores


@pytest.fixture
def groups(graph):
    """Overlapping groups: the class of a node, whether its class is even, and a rare one; some nodes have none."""
    rng = np.random.default_rng(5)
    matrix = np.column_stack([np.eye(7, dtype=bool)[graph.y], graph.y % 2 == 0, rng.random(graph.num_nodes) < 0.02])
    matrix[rng.choice(graph.num_nodes, 40, replace=False)] = False
    return matrix


def reference(rows, groups, train, test):
    """Return micro and macro F1 as in DeepWalk's code: one-vs-rest, and as many labels as a node has."""
    classifier = OneVsRestClassifier(LogisticRegression(solver="liblinear", tol=1e-6, max_iter=10**4))
    proba = classifier.fit(rows[train], groups[train]).predict_proba(rows[test])
    predicted = np.zeros_like(groups[test])
    for i, row in enumerate(proba):
        predicted[i, sorted(range(len(row)), key=lambda k: -row[k])[: groups[test][i].sum()]] = True
    return [f1_score(groups[test], predicted, average=each, zero_division=0) for each in ("micro", "macro")]


@pytest.mark.parametrize("train", [0.1, 0.5, 0.9])
def test_scores_agree_with_scikit_learn(graph, embedding, groups, train):
    scores = classify_multilabel(graph, embedding, groups, train_size=train, n_splits=2, random_state=3)
    labeled = np.flatnonzero(groups.any(axis=1))
    for seed, found in zip((3, 4), scores.splits, strict=True):
        order = labeled[make_generator(seed, "multilabel").permutation(len(labeled))]
        n_train = int(train * len(labeled))
        expected = reference(embedding.astype(float), groups, order[:n_train], order[n_train:])
        assert [found.micro_f1, found.macro_f1] == pytest.approx(expected, abs=0.01)


@settings(deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 30), st.integers(2, 8))
def test_f1_scores_are_those_of_scikit_learn(seed, n_rows, n_classes):
    rng = np.random.default_rng(seed)
    true, predicted = rng.random((2, n_rows, n_classes)) < 0.3
    expected = [f1_score(true, predicted, average=each, zero_division=0) for each in ("micro", "macro")]
    found = f1_scores(true, predicted)
    assert [found.micro_f1, found.macro_f1] == pytest.approx(expected)


@given(arrays(np.float64, (4, 5), elements=st.floats(-3, 3)), st.lists(st.integers(0, 5), min_size=4, max_size=4))
def test_as_many_classes_are_chosen_as_a_node_has_and_no_other_scores_higher(scores, counts):
    chosen = choose_most_probable(scores, np.array(counts))
    assert chosen.sum(axis=1).tolist() == counts
    for row, mask in zip(scores, chosen, strict=True):
        if 0 < mask.sum() < len(mask):
            assert row[mask].min() >= row[~mask].max()


def test_separable_groups_are_found_and_noise_is_not(graph, groups):
    noise = np.random.default_rng(0).normal(size=(graph.num_nodes, 8))
    found = classify_multilabel(graph, 10 * groups.astype(float), groups, n_splits=2)
    assert found.micro_f1.min() > 0.98
    assert classify_multilabel(graph, noise, groups, n_splits=2).macro_f1.max() < 0.5


def test_sparse_labels_and_sparse_embeddings_give_the_same_scores(graph, embedding, groups):
    dense = classify_multilabel(graph, embedding, groups, n_splits=1)
    sparse = classify_multilabel(graph, sp.csr_array(embedding), sp.csr_array(groups.astype(int)), n_splits=1)
    assert sparse.micro_f1 == pytest.approx(dense.micro_f1, abs=0.003)


def test_n_splits_may_be_an_integer_of_numpy(graph, embedding, groups):
    assert classify_multilabel(graph, embedding, groups, n_splits=np.int64(1)).n_splits == 1


def test_classes_without_nodes_and_order_of_classes_do_not_matter(graph, embedding, groups):
    more = np.column_stack([np.zeros(graph.num_nodes, bool), groups])
    ours, theirs = (classify_multilabel(graph, embedding, each, n_splits=1) for each in (groups, more))
    assert ours.to_dict() == theirs.to_dict()


def test_a_class_of_all_nodes_to_train_on_is_chosen_first_and_one_of_none_last(graph, embedding):
    size = graph.num_nodes
    parts = [make_generator(seed, "multilabel").permutation(size)[int(0.5 * size) :] for seed in range(3)]
    tested = [node for node in range(size) if all(node in part for part in parts)]
    one = np.isin(np.arange(size), [node for node in tested if graph.y[node] != 0][:1])
    groups = np.column_stack([np.ones(size, bool), one, graph.y == 0])
    assert one.any()
    # The second label of a node is never that which no training node has.
    chosen = np.column_stack([np.ones(size, bool), np.zeros(size, bool), (graph.y == 0) | one])
    found = classify_multilabel(graph, embedding, groups, n_splits=3)
    assert found.splits == tuple(f1_scores(groups[np.sort(part)], chosen[np.sort(part)]) for part in parts)
    assert found.macro_f1.max() < 1


@pytest.mark.parametrize("penalty", [0.01, 100])
def test_the_penalty_is_that_of_scikit_learn(graph, embedding, groups, monkeypatch, penalty):
    given = []
    fit = LogisticRegression.fit
    monkeypatch.setattr(LogisticRegression, "fit", lambda self, *rows: given.append(self.C) or fit(self, *rows))
    classify_multilabel(graph, embedding, groups, n_splits=1, C=penalty)
    assert set(given) == {penalty}


@pytest.mark.parametrize(
    ("labels", "options", "error", "message"),
    [
        (lambda n: np.ones(n), {}, ParameterError, "one row per node, a column per class; got shape"),
        (lambda n: np.ones((n - 1, 3)), {}, ParameterError, "one row per node"),
        (lambda n: 2 * np.ones((n, 3)), {}, ParameterError, "labels must be booleans, or 0 and 1"),
        (lambda n: np.zeros((n, 3)), {}, GraphError, "at least two classes; got 0"),
        (lambda n: np.ones((n, 3)), {"train_size": 1}, ParameterError, "train_size must be a share"),
        (lambda n: np.ones((n, 3)), {"n_splits": 0}, ParameterError, "n_splits must be a positive integer"),
        (lambda n: np.eye(n, 3), {"train_size": 0.1}, GraphError, "got 0 and 3 of 3 nodes with labels"),
    ],
)
def test_invalid_labels_and_shares_are_rejected(graph, labels, options, error, message):
    with pytest.raises(error, match=message):
        classify_multilabel(graph, graph.x, labels(graph.num_nodes), **options)
