"""The linear probe."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import normalize

from graphprox import GraphError, NodeSplit, ParameterError, random_split, synthetic
from graphprox.evaluation.probe import STRENGTHS, probe


@pytest.fixture(scope="module")
def graph():
    return synthetic()


def test_it_is_scikit_learns_regression_with_c_chosen_on_validation_nodes(graph):
    split = random_split(graph, seed=0)
    rows = normalize(graph.x.astype(float))
    found = probe(graph.x, graph.y, split)
    fitted = [
        LogisticRegression(C=c, max_iter=10**5, tol=1e-8).fit(rows[split.train], graph.y[split.train])
        for c in STRENGTHS
    ]
    right = [each.score(rows[split.validation], graph.y[split.validation]) for each in fitted]
    best = fitted[int(np.argmax(right))]
    assert found.validation_accuracy == pytest.approx(max(right), abs=0.02)
    assert found.accuracy == pytest.approx(best.score(rows[split.test], graph.y[split.test]), abs=0.01)


def test_labels_of_test_nodes_choose_nothing(graph):
    split = random_split(graph, seed=0)
    shuffled = graph.y.copy()
    shuffled[split.test] = np.random.default_rng(0).permutation(shuffled[split.test])
    ours, theirs = probe(graph.x, graph.y, split), probe(graph.x, shuffled, split)
    assert (ours.c, ours.validation_accuracy) == (theirs.c, theirs.validation_accuracy)
    assert ours.accuracy > theirs.accuracy


def test_classes_that_stand_apart_are_told_and_noise_is_not(graph):
    split = random_split(graph, seed=1)
    apart = np.eye(7)[graph.y]
    noise = np.random.default_rng(0).normal(size=(graph.num_nodes, 16))
    assert probe(apart, graph.y, split).accuracy == 1
    assert probe(apart, graph.y, split).macro_f1 == 1
    assert probe(noise, graph.y, split).accuracy < 0.25


def test_the_length_of_a_row_plays_no_part(graph):
    split = random_split(graph, seed=2)
    longer = graph.x * np.random.default_rng(0).uniform(0.5, 2, (graph.num_nodes, 1)).astype(np.float32)
    assert probe(longer, graph.y, split).accuracy == pytest.approx(probe(graph.x, graph.y, split).accuracy, abs=0.005)


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
