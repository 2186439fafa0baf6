"""Weights of outputs by scores: at the ratios that they are meant for, in between, and where the evidence is thin."""

from __future__ import annotations

from dataclasses import asdict, fields
from itertools import pairwise

import numpy as np
import pytest

from graphprox.auto.outputs import OUTPUTS, Weights, register_output
from graphprox.auto.selection import CANDIDATES, MIN_SCORE, RATIOS, Selection, interpolate, select_outputs

READ_NO_EDGES = {"own", "view", "amount"}


def scores(own, graph, view, both):
    return {"own": own, "graph": graph, "own and view": view, "own and graph": both}


@pytest.mark.parametrize(
    ("given", "choice", "ratio"),
    [
        (scores(0.1, 0.2, 0.1, 0.2), "graph", 2),
        (scores(0.1, 0.05, 0.1, 0.12), "balanced", 1),  # edges help beside own features, but not in place of them
        (scores(0.1, 0.12, 0.1, 0.05), "graph", 1.2),
        (scores(0.1, 0.1, 0.2, 0.1), "balanced", 1),  # or in place of them
        (scores(0.2, 0.1, 0.2, 0.1), "features", 0.5),
        (scores(0.2, 0.1, 0.2, 0.19), "both", 0.95),
        (scores(0.2, 0.188, 0.2, 0.1), "both", 0.94),
    ],
)
def test_choice_follows_the_larger_of_two_ratios(given, choice, ratio):
    found = select_outputs(given)
    assert found.choice == choice
    assert found.ratio == pytest.approx(ratio)
    assert found.scores == given


@pytest.mark.parametrize("choice", RATIOS)
def test_weights_of_a_choice_are_those_at_its_ratio(choice):
    at_ratio = Selection(choice, {}, RATIOS[choice])
    assert Selection(choice, {}).weights == at_ratio.weights
    assert Selection(choice, {}).sharpness == at_ratio.sharpness
    assert at_ratio.weights == {
        name: getattr(output.weights, choice) for name, output in OUTPUTS.items() if getattr(output.weights, choice)
    }


def test_small_changes_of_the_ratio_are_small_changes_of_the_weights():
    ratios = np.linspace(0.5, 2.0, 1501)
    found = np.array([[interpolate(asdict(each.weights), ratio) for each in OUTPUTS.values()] for ratio in ratios])
    assert np.abs(np.diff(found, axis=0)).max() < 0.02
    assert (found >= 0).all()


def test_weights_do_not_change_beyond_the_outermost_ratios():
    assert Selection("features", {}, 0.0).weights == Selection("features", {}).weights
    for ratio in (1.3, 7.0, np.inf):
        assert Selection("graph", {}, ratio).weights == Selection("graph", {}).weights


def test_weights_halfway_between_two_ratios_are_their_mean():
    weights = {"features": 0.2, "both": 0.6, "balanced": 0.0, "graph": 1.0}
    names = list(RATIOS)
    for one, other in pairwise(names):
        expected = (weights[one] + weights[other]) / 2
        assert interpolate(weights, (RATIOS[one] + RATIOS[other]) / 2) == pytest.approx(expected)


@pytest.mark.parametrize(
    "given",
    [
        {},
        scores(0.0, 0.0, 0.0, 0.0),
        scores(-0.5, -0.1, -0.2, -0.3),
        scores(MIN_SCORE / 2, MIN_SCORE * 0.99, 0.0, 0.001),
    ],
)
def test_both_are_kept_where_the_evidence_is_thin(given):
    assert select_outputs(given) == Selection("both", given, None)


def test_one_score_is_enough_evidence():
    assert select_outputs(scores(MIN_SCORE, 0.0, MIN_SCORE, 0.0)).choice == "features"


def test_edges_that_predict_where_features_do_not_are_kept():
    found = select_outputs(scores(-0.1, 0.2, -0.05, 0.1))
    assert found.choice == "graph"
    assert found.ratio == pytest.approx(found.scores["graph"] / MIN_SCORE)


def test_edges_that_predict_nothing_are_left_out():
    found = select_outputs(scores(0.2, -0.4, 0.3, -0.1))
    assert found.choice == "features"
    assert found.ratio == 0
    assert set(found.weights) == READ_NO_EDGES


def test_edges_are_no_better_than_features_if_neither_predicts():
    # Own features alone and edges alone predict nothing, but own features beside similar nodes do.
    assert select_outputs(scores(-0.01, -0.05, 0.02, -0.01)).choice == "features"


def test_graph_without_features_is_described_by_outputs_that_read_none():
    assert set(Selection("edges", {}).weights) == {"positions", "roles"}


@pytest.mark.parametrize("choice", [each.name for each in fields(Weights)])
def test_every_choice_keeps_something_and_every_weight_is_positive(choice):
    weights = Selection(choice, {}).weights
    assert weights
    assert min(weights.values()) > 0


def test_weights_of_one_selection_do_not_change_those_of_another():
    Selection("graph", {}, 5.0).weights["own"] = 9.0
    assert Selection("graph", {}).weights["own"] < 9


def test_candidates_consist_of_registered_outputs():
    assert {name for names in CANDIDATES.values() for name in names} <= set(OUTPUTS)
    assert set(scores(0, 0, 0, 0)) == set(CANDIDATES)


def test_output_that_is_registered_is_kept_by_its_weights(monkeypatch):
    assert len(OUTPUTS)
    monkeypatch.setattr(OUTPUTS, "_entries", dict(OUTPUTS._entries))
    monkeypatch.setattr(OUTPUTS, "_origins", dict(OUTPUTS._origins))
    register_output("mine", Weights(graph=0.25))(lambda prepared: prepared.rows)
    assert Selection("graph", {}).weights["mine"] == 0.25
    assert "mine" not in Selection("features", {}).weights
