"""What a comparison suggests, in words."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import ttest_rel

from graphprox.model_selection.advice import Contender, advise, paired_p_value

NOISE = np.array([0.02, -0.02, 0.01, -0.01, 0.0, 0.015, -0.015, 0.005, -0.005, 0.0])


def contender(method, score, seconds=1.0, *, noise=1.0, n_splits=10):
    """Return a method whose samples vary; ``noise`` is how much they do in its own way."""
    own = np.random.default_rng(len(method)).permutation(NOISE)
    samples = score + NOISE + noise * (own - own.mean())
    return Contender(method, method.upper(), score, seconds, tuple(samples[:n_splits]))


def say(*contenders, **options):
    return advise(contenders, **{"measure": "accuracy", "unit": "splits", **options})


def test_the_best_method_is_recommended():
    (sentence,) = say(contender("a", 0.9), contender("bb", 0.7))
    expected = "Take A: its accuracy of 90.0 % is the highest, by more than noise (paired t-test over 10 splits)."
    assert sentence == expected


def test_a_cheaper_method_is_recommended_where_it_is_as_good():
    slow, fast = contender("slow", 0.90, 20.0), contender("cheap", 0.898, 0.2)
    (sentence,) = say(slow, fast, contender("bad", 0.5, 0.01))
    p_value = ttest_rel(slow.samples, fast.samples).pvalue
    assert sentence.startswith("Take CHEAP: its accuracy of 89.8 % is within the noise of the highest, 90.0 % of SLOW")
    assert f"(p = {p_value:.2f}, paired t-test over 10 splits), and it takes 0.2 s instead of 20.0 s." in sentence


def test_a_cheaper_method_that_is_worse_by_more_than_noise_is_not_recommended():
    (sentence,) = say(contender("slow", 0.90, 20.0, noise=0.1), contender("cheap", 0.88, 0.2, noise=0.1))
    assert sentence.startswith("Take SLOW: its accuracy of 90.0 % is the highest, by more than noise")


@pytest.mark.parametrize("seconds", [1.2, 0.6, 30.0])
def test_a_method_that_saves_little_is_only_named(seconds):
    (sentence,) = say(contender("first", 0.90, 1.0), contender("second", 0.898, seconds))
    assert sentence.startswith("Take FIRST")
    assert "though within the noise of SECOND (paired t-test over 10 splits)" in sentence


def test_milliseconds_are_no_reason_to_prefer_a_method():
    (sentence,) = say(contender("first", 0.90, 0.05), contender("second", 0.898, 0.001))
    assert sentence.startswith("Take FIRST")


def test_others_within_the_noise_are_named():
    _, more = say(contender("slow", 0.90, 20.0), contender("cheap", 0.898, 0.2), contender("middle", 0.899, 5.0))
    assert more == "Within the noise of the highest as well: MIDDLE."


def test_edges_hurt_where_all_methods_are_below_raw_features():
    *_, last = say(contender("raw", 0.9), contender("bb", 0.7), contender("ccc", 0.6))
    assert last == "Edges hurt here: raw features alone have 90.0 %, and every method that uses edges has less."


def test_edges_hurt_for_the_methods_below_raw_features():
    *_, last = say(contender("best", 0.9), contender("raw", 0.8), contender("bb", 0.7), contender("c", 0.6))
    assert last == "Edges hurt here for BB and C, which have less than the 80.0 % of raw features alone."


def test_a_method_that_is_below_raw_features_within_the_noise_is_not_blamed():
    assert not any("hurt" in each for each in say(contender("raw", 0.9, 9.0), contender("bb", 0.899)))


def test_features_made_from_edges_say_nothing_about_edges():
    assert not any("hurt" in each for each in say(contender("raw", 0.9), contender("bb", 0.7), has_features=False))


def test_one_split_cannot_show_what_is_noise():
    first, second = say(contender("raw", 0.9, n_splits=1), contender("bb", 0.7, n_splits=1))
    assert first.endswith("is the highest, though one of the splits cannot show what is noise: compare over several.")
    assert "Edges hurt here" in second


def test_measure_and_unit_are_named():
    (sentence,) = say(contender("a", 0.9), contender("bb", 0.7), measure="link AUC", unit="held-out edges")
    assert "its link AUC of 90.0 %" in sentence
    assert "over 10 held-out edges" in sentence


@pytest.mark.parametrize("contenders", [[], [contender("a", 0.9)]])
def test_fewer_than_two_methods_suggest_nothing(contenders):
    assert say(*contenders) == []


def test_p_values_are_those_of_scipy_and_defined_for_constant_differences():
    first, second = np.random.default_rng(0).random((2, 10))
    assert paired_p_value(first, second) == ttest_rel(first, second).pvalue
    assert paired_p_value(first, first) == 1
    assert paired_p_value(first + 0.25, first) == pytest.approx(0, abs=1e-12)
