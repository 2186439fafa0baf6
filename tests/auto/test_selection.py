"""The choice of outputs by scores, at and between its limits."""

from __future__ import annotations

import numpy as np
import pytest

from graphprox.auto.outputs import OUTPUTS
from graphprox.auto.selection import (
    CANDIDATES,
    CHOICES,
    MAX_RATIO,
    MIN_RATIO,
    MIN_SCORE,
    Selection,
    select_outputs,
)


def scores(own, graph, view, both):
    return {"own": own, "graph": graph, "own and view": view, "own and graph": both}


@pytest.mark.parametrize(
    ("given", "choice", "ratio"),
    [
        (scores(0.1, 0.2, 0.1, 0.2), "graph", 2),
        (scores(0.1, 0.05, 0.1, 0.12), "graph", 1.2),  # edges help beside own features
        (scores(0.1, 0.1, 0.2, 0.1), "graph", 1),  # or in place of them
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


def test_limits_of_the_ratio_belong_to_the_choice_with_more_edges():
    for ratio, choice in (
        (MAX_RATIO, "graph"),
        (MAX_RATIO - 1e-6, "both"),
        (MIN_RATIO, "both"),
        (MIN_RATIO - 1e-6, "features"),
    ):
        assert select_outputs(scores(1.0, ratio, 1.0, 0.0)).choice == choice
        assert select_outputs(scores(1.0, 0.0, 1.0, ratio)).choice == choice


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
    found = select_outputs(given)
    assert found == Selection("both", given, None)


def test_one_score_is_enough_evidence():
    assert select_outputs(scores(MIN_SCORE, 0.0, MIN_SCORE, 0.0)).choice == "features"


def test_edges_that_predict_where_features_do_not_are_kept():
    found = select_outputs(scores(-0.1, 0.2, -0.05, 0.1))
    assert found.choice == "graph"
    assert found.ratio == pytest.approx(found.scores["graph"] / MIN_SCORE)
    assert found.weights["distant"] == 1


def test_edges_that_predict_nothing_are_left_out():
    found = select_outputs(scores(0.2, -0.4, 0.3, -0.1))
    assert found.choice == "features"
    assert found.ratio == 0


def test_edges_are_no_better_than_features_if_neither_predicts():
    # Own features alone and edges alone predict nothing, but own features beside similar nodes do.
    assert select_outputs(scores(-0.01, -0.05, 0.02, -0.01)).choice == "features"


def test_diffusion_reaches_further_the_more_edges_explain_up_to_a_limit():
    weights = [Selection("graph", {}, ratio).weights for ratio in (None, 0.98, 1.0, 1.25, 1.5, 2.0, 7.0, np.inf)]
    assert [each.get("distant") for each in weights] == [None, None, None, 0.25, 0.5, 1, 1, 1]
    assert all({**each, **CHOICES["graph"]} == each for each in weights)


def test_edges_count_half_if_they_were_found_to_explain_less_than_features():
    assert Selection("both", {}).weights == CHOICES["both"]
    found = Selection("both", {}, 0.93).weights
    assert found == {"own": 1, "graph": 0.5, "neighbors": 0.5}
    assert list(found) == list(CHOICES["both"])  # the order of the blocks


@pytest.mark.parametrize("choice", ["features", "positions"])
@pytest.mark.parametrize("ratio", [None, 0.5, 5.0])
def test_other_choices_have_fixed_weights(choice, ratio):
    assert Selection(choice, {}, ratio).weights == CHOICES[choice]


@pytest.mark.parametrize("choice", CHOICES)
def test_every_output_that_is_kept_has_a_positive_weight(choice):
    for ratio in (None, 0.0, 0.95, 1.0, 1.001, np.inf):
        assert min(Selection(choice, {}, ratio).weights.values()) > 0


def test_weights_of_one_selection_do_not_change_those_of_another():
    Selection("graph", {}, 5.0).weights["own"] = 9.0
    assert Selection("graph", {}).weights == CHOICES["graph"]


def test_features_are_kept_without_outputs_that_read_edges():
    assert set(CHOICES["features"]) == {"own", "view"}


def test_every_choice_and_candidate_consists_of_registered_outputs():
    named = {name for weights in CHOICES.values() for name in weights}
    assert named | {name for names in CANDIDATES.values() for name in names} <= set(OUTPUTS)
    assert set(scores(0, 0, 0, 0)) == set(CANDIDATES)
