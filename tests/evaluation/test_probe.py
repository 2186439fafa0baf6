"""The linear probe against scikit-learn, and its invariances."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import normalize

from graphprox import GraphError, NodeSplit, ParameterError, load, random_split, synthetic
from graphprox.evaluation import DGIProbe, GRACEProbe
from graphprox.evaluation import probe as module
from graphprox.evaluation.probe import LinearProbe, score_predictions

PROBE = LinearProbe()

# -- agreement with scikit-learn ------------------------------------------------------------------------------------


def reference_accuracy(embedding, labels, split):
    """Test accuracy of the probe without shortcuts: every penalty, to convergence, in all dimensions."""
    rows = normalize(np.asarray(embedding, dtype=float))
    fitted = [
        LogisticRegression(C=c, max_iter=10**5, tol=1e-7).fit(rows[split.train], labels[split.train]) for c in PROBE.cs
    ]
    accuracies = [each.score(rows[split.val], labels[split.val]) for each in fitted]
    return fitted[int(np.argmax(accuracies))].score(rows[split.test], labels[split.test])


def assert_agrees_on_average(embedding, graph, splits):
    ours = np.mean([PROBE.evaluate(embedding, graph.y, split).accuracy for split in splits])
    theirs = np.mean([reference_accuracy(embedding, graph.y, split) for split in splits])
    assert ours == pytest.approx(theirs, abs=0.001)


def test_accuracy_agrees_with_scikit_learn_on_a_synthetic_graph(embed_untrained):
    graph = synthetic(nodes=1400)
    assert_agrees_on_average(
        embed_untrained(graph, 256), graph, [random_split(graph, random_state=each) for each in range(3)]
    )


def test_accuracy_agrees_with_scikit_learn_on_cora(data, embed_untrained):
    graph = load("Cora", data=data).graph
    assert_agrees_on_average(
        embed_untrained(graph, 512), graph, [random_split(graph, random_state=each) for each in range(3)]
    )


def test_identical_rows_are_assigned_the_majority_class(graph):
    split = random_split(graph, random_state=0)
    most = np.bincount(graph.y[split.train]).argmax()
    for rows in (np.ones((graph.num_nodes, 100)), np.zeros((graph.num_nodes, 100))):
        found = PROBE.evaluate(rows, graph.y, split)
        assert found.accuracy == pytest.approx((graph.y[split.test] == most).mean())


def test_search_stops_after_patience_penalties_without_gain(graph, monkeypatch):
    tried = []

    class Recorder(module._Regression):
        def fit(self, c):
            tried.append(c)
            super().fit(c)

    monkeypatch.setattr(module, "_Regression", Recorder)
    found = PROBE.evaluate(np.eye(7)[graph.y], graph.y, random_split(graph, random_state=0))
    assert found.accuracy == 1
    assert tried == list(PROBE.cs[: PROBE.cs.index(found.c) + PROBE.patience + 1])


def test_search_continues_while_the_probe_underfits(graph):
    rows = 1 + 0.01 * np.eye(7)[graph.y]  # nearly parallel: only a weak penalty separates the classes
    found = PROBE.evaluate(rows, graph.y, random_split(graph, random_state=0))
    assert (found.c, found.accuracy) == (PROBE.cs[-1], 1)


def test_binary_problems_are_supported(graph, embedding):
    split, labels = random_split(graph, random_state=0), graph.y % 2
    expected = reference_accuracy(embedding, labels, split)
    assert PROBE.evaluate(embedding, labels, split).accuracy == pytest.approx(expected, abs=0.01)


# -- invariances ----------------------------------------------------------------------------------------------------


def test_selection_ignores_labels_of_test_nodes(graph):
    split = random_split(graph, random_state=0)
    shuffled = graph.y.copy()
    shuffled[split.test] = np.random.default_rng(0).permutation(shuffled[split.test])
    ours, theirs = PROBE.evaluate(graph.x, graph.y, split), PROBE.evaluate(graph.x, shuffled, split)
    assert (ours.c, ours.val_accuracy) == (theirs.c, theirs.val_accuracy)
    assert ours.accuracy > theirs.accuracy


def test_score_is_permutation_invariant(graph, embedding, order):
    split, place = random_split(graph, random_state=0), np.argsort(order)
    moved = NodeSplit(place[split.train], place[split.val], place[split.test])
    ours, theirs = PROBE.evaluate(embedding, graph.y, split), PROBE.evaluate(embedding[order], graph.y[order], moved)
    assert theirs.c == ours.c
    assert theirs.accuracy == pytest.approx(ours.accuracy, abs=0.002)


def test_score_is_invariant_to_row_scaling(graph, embedding, lengths):
    split = random_split(graph, random_state=2)
    ours, theirs = PROBE.evaluate(embedding, graph.y, split), PROBE.evaluate(embedding * lengths, graph.y, split)
    assert theirs.accuracy == pytest.approx(ours.accuracy, abs=0.002)


def test_score_is_rotation_invariant(graph, embedding):
    rotation = np.linalg.qr(np.random.default_rng(0).normal(size=(24, 24)))[0]
    split = random_split(graph, random_state=3)
    ours, theirs = PROBE.evaluate(embedding, graph.y, split), PROBE.evaluate(embedding @ rotation, graph.y, split)
    assert theirs.accuracy == pytest.approx(ours.accuracy, abs=0.002)


def test_separable_classes_are_learned_and_noise_is_not(graph):
    split = random_split(graph, random_state=1)
    separable = np.eye(7)[graph.y]
    noise = np.random.default_rng(0).normal(size=(graph.num_nodes, 16))
    assert PROBE.evaluate(separable, graph.y, split).accuracy == 1
    assert PROBE.evaluate(separable, graph.y, split).macro_f1 == 1
    assert PROBE.evaluate(noise, graph.y, split).accuracy < 0.25


def test_invalid_labels_and_splits_are_rejected(graph):
    split = random_split(graph, random_state=0)
    with pytest.raises(ParameterError, match="labels must have one entry per row"):
        PROBE.evaluate(graph.x, graph.y[:-1], split)
    with pytest.raises(GraphError, match="a probe needs validation nodes"):
        PROBE.evaluate(graph.x, graph.y, NodeSplit(split.train, np.array([], int), split.test))
    with pytest.raises(GraphError, match="all with a known class"):
        PROBE.evaluate(graph.x, np.where(np.arange(graph.num_nodes) == split.test[0], -1, graph.y), split)
    with pytest.raises(GraphError, match="at least two classes"):
        PROBE.evaluate(graph.x, np.zeros_like(graph.y), split)
    with pytest.raises(ParameterError, match=r"rows 0\.\.839 of the embedding; got node 840"):
        PROBE.evaluate(graph.x, graph.y, NodeSplit(split.train, split.val, [840]))


def test_search_stops_at_a_fit_that_does_not_converge(graph):
    split = random_split(graph, random_state=0)
    stopped = LinearProbe(max_iter=1).evaluate(graph.x, graph.y, split)
    assert stopped.c == PROBE.cs[0] < PROBE.evaluate(graph.x, graph.y, split).c


def test_predictions_are_scored_on_validation_and_test_nodes():
    score = score_predictions([9, 0, 1, 1, 0], [0, 0, 0, 1, 0], NodeSplit(train=[0], val=[1, 2], test=[3, 4]))
    assert (score.val_accuracy, score.accuracy, score.macro_f1, score.c) == (0.5, 1, 1, None)


# -- two classes ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_roc_auc_agrees_with_scikit_learn_where_there_are_two_classes(graph, embedding, seed):
    split, labels = random_split(graph, random_state=seed), 3 + 2 * (graph.y % 2)
    found = PROBE.evaluate(embedding, labels, split)
    rows = normalize(embedding.astype(float))
    reference = LogisticRegression(C=found.c, max_iter=10**5, tol=1e-7).fit(rows[split.train], labels[split.train])
    expected = roc_auc_score(labels[split.test] == 5, reference.predict_proba(rows[split.test])[:, 1])
    assert found.roc_auc == pytest.approx(expected, abs=0.005)


@pytest.mark.parametrize("probe", [PROBE, GRACEProbe(cs=(1, 16)), DGIProbe(epochs=200)])
def test_roc_auc_of_every_probe_is_high_for_separable_classes_and_half_for_noise(graph, probe):
    split, labels = random_split(graph, random_state=0), graph.y % 2
    noise = np.random.default_rng(0).normal(size=(graph.num_nodes, 4))
    assert probe.evaluate(np.eye(2)[labels], labels, split).roc_auc == 1
    assert probe.evaluate(noise, labels, split).roc_auc == pytest.approx(0.5, abs=0.1)
    assert probe.evaluate(graph.x, graph.y, split).roc_auc is None


def test_roc_auc_does_not_depend_on_which_class_is_the_first(graph, embedding):
    split, labels = random_split(graph, random_state=0), graph.y % 2
    ours, theirs = (PROBE.evaluate(embedding, each, split).roc_auc for each in (labels, 1 - labels))
    assert ours == pytest.approx(theirs, abs=1e-3)


def test_roc_auc_needs_both_classes_among_the_test_nodes(graph):
    labels = graph.y % 2
    nodes = np.arange(graph.num_nodes)
    split = NodeSplit(nodes[:100], nodes[100:200], nodes[200:][labels[200:] == 1])
    assert PROBE.evaluate(graph.x, labels, split).roc_auc is None


def test_probabilities_of_a_classifier_give_its_roc_auc(graph):
    split, labels = random_split(graph, random_state=0), graph.y % 2
    proba = np.random.default_rng(0).dirichlet([1, 1], graph.num_nodes)
    found = score_predictions(proba.argmax(axis=1), labels, split, proba=proba)
    assert found.roc_auc == pytest.approx(roc_auc_score(labels[split.test], proba[split.test, 1]))
    assert score_predictions(proba.argmax(axis=1), labels, split).roc_auc is None
