"""Weights of outputs: at the ratios that they are meant for, in between, and where the evidence is thin."""

from __future__ import annotations

from dataclasses import asdict, fields
from itertools import pairwise

import numpy as np
import pytest

from graphprox.auto.criteria import RATIOS, Evidence
from graphprox.auto.outputs import OUTPUTS, Weights, register_output
from graphprox.auto.selection import SHARPNESS, SIMILAR, Selection, interpolate, select_outputs

READ_NO_EDGES = {"own", "view", "amount"}


@pytest.mark.parametrize(
    ("ratio", "choice"),
    [
        (2.0, "graph"),
        (1.2, "graph"),
        (1.0, "balanced"),
        (0.95, "both"),
        (0.94, "both"),
        (0.5, "features"),
        (None, "balanced"),
    ],
)
def test_choice_is_the_one_whose_ratio_is_nearest(ratio, choice):
    given = Evidence(ratio, {"own": 0.1}, "of everything")
    assert select_outputs(given) == Selection(choice, {"own": 0.1}, ratio, meaning="of everything")


@pytest.mark.parametrize("choice", RATIOS)
def test_weights_of_a_choice_are_those_at_its_ratio(choice):
    at_ratio = Selection(choice, {}, RATIOS[choice])
    assert Selection(choice, {}).weights == at_ratio.weights
    assert Selection(choice, {}).mixture == at_ratio.mixture
    assert at_ratio.weights == {
        name: getattr(output.weights, choice) for name, output in OUTPUTS.items() if getattr(output.weights, choice)
    }


def test_similar_nodes_and_sharper_results_are_for_graphs_whose_edges_are_informative():
    mixtures = {choice: Selection(choice, {}).mixture for choice in RATIOS}
    assert [each.similar for each in mixtures.values()] == sorted(each.similar for each in mixtures.values())
    assert mixtures["features"].similar == mixtures["both"].similar == 0 < mixtures["graph"].similar
    assert mixtures["features"].sharpness == 1 < mixtures["graph"].sharpness
    halfway = Selection("graph", {}, (RATIOS["balanced"] + RATIOS["graph"]) / 2).mixture
    assert halfway.similar == pytest.approx((SIMILAR["balanced"] + SIMILAR["graph"]) / 2)
    assert halfway.sharpness == pytest.approx((SHARPNESS["balanced"] + SHARPNESS["graph"]) / 2)


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


def test_edges_that_predict_nothing_are_left_out():
    assert set(select_outputs(Evidence(0.0)).weights) == READ_NO_EDGES


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


def test_output_that_is_registered_is_kept_by_its_weights(monkeypatch):
    assert len(OUTPUTS)
    monkeypatch.setattr(OUTPUTS, "_entries", dict(OUTPUTS._entries))
    monkeypatch.setattr(OUTPUTS, "_origins", dict(OUTPUTS._origins))
    register_output("mine", Weights(graph=0.25))(lambda prepared: prepared.rows)
    assert Selection("graph", {}).weights["mine"] == 0.25
    assert "mine" not in Selection("features", {}).weights
