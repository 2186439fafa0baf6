"""The linear probe."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import normalize

from graphprox import GraphError, NodeSplit, ParameterError, load, random_split, synthetic
from graphprox.evaluation import probe as module
from graphprox.evaluation.probe import PATIENCE, STRENGTHS, probe

# -- it is scikit-learn's regression --------------------------------------------------------------------------------


def plain_accuracy(embedding, labels, split):
    """The probe as anybody would write it: every strength, to the end, in all dimensions."""
    rows = normalize(np.asarray(embedding, dtype=float))
    fitted = [
        LogisticRegression(C=c, max_iter=10**5, tol=1e-7).fit(rows[split.train], labels[split.train]) for c in STRENGTHS
    ]
    right = [each.score(rows[split.validation], labels[split.validation]) for each in fitted]
    return fitted[int(np.argmax(right))].score(rows[split.test], labels[split.test])


def assert_agrees_on_average(embedding, graph, splits):
    both = [(probe(embedding, graph.y, split).accuracy, plain_accuracy(embedding, graph.y, split)) for split in splits]
    ours, theirs = np.mean(both, axis=0)
    assert ours == pytest.approx(theirs, abs=0.001)


def test_it_agrees_with_scikit_learn_on_a_graph_of_the_size_of_cora(smoothed):
    graph = synthetic(nodes=2708)
    assert_agrees_on_average(smoothed(graph, 512), graph, [random_split(graph, seed=each) for each in range(4)])


def test_it_agrees_with_scikit_learn_on_cora(data, smoothed):
    graph = load("Cora", data=data).graph
    assert_agrees_on_average(smoothed(graph, 512), graph, [random_split(graph, seed=each) for each in range(5)])


def test_rows_that_do_not_differ_have_a_score(graph):
    split = random_split(graph, seed=0)
    most = np.bincount(graph.y[split.train]).argmax()
    for rows in (np.ones((graph.num_nodes, 100)), np.zeros((graph.num_nodes, 100))):
        found = probe(rows, graph.y, split)
        assert found.accuracy == pytest.approx((graph.y[split.test] == most).mean())


def test_the_search_ends_after_weaker_penalties_in_vain(graph, monkeypatch):
    tried = []

    class Watched(module._Regression):
        def fit(self, strength):
            tried.append(strength)
            super().fit(strength)

    monkeypatch.setattr(module, "_Regression", Watched)
    found = probe(np.eye(7)[graph.y], graph.y, random_split(graph, seed=0))
    assert found.accuracy == 1
    assert tried == list(STRENGTHS[: STRENGTHS.index(found.c) + PATIENCE + 1])


def test_the_search_goes_on_while_all_nodes_are_told_the_same_class(graph):
    """Rows that nearly point the same way are told apart by a weak penalty alone."""
    rows = 1 + 0.03 * np.eye(7)[graph.y]
    found = probe(rows, graph.y, random_split(graph, seed=0))
    assert (found.c, found.accuracy) == (STRENGTHS[-1], 1)


def test_two_classes_are_told_apart(graph, embedding):
    split, labels = random_split(graph, seed=0), graph.y % 2
    assert probe(embedding, labels, split).accuracy == pytest.approx(plain_accuracy(embedding, labels, split), abs=0.01)


# -- laws -----------------------------------------------------------------------------------------------------------


def test_labels_of_test_nodes_choose_nothing(graph):
    split = random_split(graph, seed=0)
    shuffled = graph.y.copy()
    shuffled[split.test] = np.random.default_rng(0).permutation(shuffled[split.test])
    ours, theirs = probe(graph.x, graph.y, split), probe(graph.x, shuffled, split)
    assert (ours.c, ours.validation_accuracy) == (theirs.c, theirs.validation_accuracy)
    assert ours.accuracy > theirs.accuracy


def test_the_order_of_rows_plays_no_part(graph, embedding, order):
    split, place = random_split(graph, seed=0), np.argsort(order)
    moved = NodeSplit(place[split.train], place[split.validation], place[split.test])
    ours, theirs = probe(embedding, graph.y, split), probe(embedding[order], graph.y[order], moved)
    assert theirs.c == ours.c
    assert theirs.accuracy == pytest.approx(ours.accuracy, abs=0.002)


def test_the_length_of_a_row_plays_no_part(graph, embedding, lengths):
    split = random_split(graph, seed=2)
    ours, theirs = probe(embedding, graph.y, split), probe(embedding * lengths, graph.y, split)
    assert theirs.accuracy == pytest.approx(ours.accuracy, abs=0.002)


def test_turning_the_embedding_changes_nothing(graph, embedding):
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(24, 24)))[0]
    split = random_split(graph, seed=2)
    ours, theirs = probe(embedding, graph.y, split), probe(embedding @ turn, graph.y, split)
    assert theirs.accuracy == pytest.approx(ours.accuracy, abs=0.002)


def test_classes_that_stand_apart_are_told_and_noise_is_not(graph):
    split = random_split(graph, seed=1)
    apart = np.eye(7)[graph.y]
    noise = np.random.default_rng(0).normal(size=(graph.num_nodes, 16))
    assert probe(apart, graph.y, split).accuracy == 1
    assert probe(apart, graph.y, split).macro_f1 == 1
    assert probe(noise, graph.y, split).accuracy < 0.25


def test_what_cannot_be_learned_from_is_refused(graph):
    split = random_split(graph, seed=0)
    with pytest.raises(ParameterError, match="labels must name a class per row"):
        probe(graph.x, graph.y[:-1], split)
    with pytest.raises(GraphError, match="a probe needs validation nodes"):
        probe(graph.x, graph.y, NodeSplit(split.train, np.array([], int), split.test))
    with pytest.raises(GraphError, match="all with a known class"):
        probe(graph.x, np.where(np.arange(graph.num_nodes) == split.test[0], -1, graph.y), split)
    with pytest.raises(GraphError, match="two classes or more"):
        probe(graph.x, np.zeros_like(graph.y), split)
    with pytest.raises(ParameterError, match=r"rows 0\.\.839 of the embedding; got node 840"):
        probe(graph.x, graph.y, NodeSplit(split.train, split.validation, [840]))


def test_a_fit_that_does_not_converge_ends_the_search(graph, monkeypatch):
    split = random_split(graph, seed=0)
    whole = probe(graph.x, graph.y, split)
    monkeypatch.setattr("graphprox.evaluation.probe.MOST_ITERATIONS", 1)
    cut = probe(graph.x, graph.y, split)
    assert cut.c == min(STRENGTHS)
    assert cut.c < whole.c
