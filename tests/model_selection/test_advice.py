"""What a comparison suggests, in words."""

from __future__ import annotations

import numpy as np
import pytest

from graphprox.model_selection.advice import ONE_SEED, Contender, advise
from graphprox.model_selection.significance import paired_lower_bound, paired_p_value

RATIO = 8.0  # test nodes per training node, of random splits
NOISE = np.array([0.02, -0.02, 0.01, -0.01, 0.0, 0.015, -0.015, 0.005, -0.005, 0.0])


def contender(method, score, seconds=1.0, *, noise=1.0, n_splits=10):
    """Return a method whose samples vary; ``noise`` is how much they do in its own way."""
    own = np.random.default_rng(len(method)).permutation(NOISE)
    samples = score + NOISE + noise * (own - own.mean())
    return Contender(method, method.upper(), score, seconds, tuple(samples[:n_splits]))


def say(*contenders, **options):
    return advise(contenders, **{"measure": "accuracy", "unit": "splits", "test_ratio": RATIO, **options})


def test_the_best_method_is_recommended():
    first, last = say(contender("a", 0.9), contender("bb", 0.5))
    test = "corrected paired t-test over 10 splits"
    assert first == f"Take A: its accuracy of 90.0 % is the highest on these splits, by more than noise ({test})."
    assert last == ONE_SEED
    assert "noise of training seeds is not included" in ONE_SEED


def test_a_cheaper_method_is_recommended_where_it_is_at_most_a_point_lower():
    slow, fast = contender("slow", 0.90, 60.0, noise=0.02), contender("cheap", 0.898, 0.2, noise=0.02)
    assert paired_lower_bound(fast.samples, slow.samples, test_ratio=RATIO) > -0.01
    first, _ = say(slow, fast, contender("bad", 0.5, 0.01))
    assert first == (
        "Take CHEAP: its accuracy of 89.8 % on these splits is at most a point below the highest, 90.0 % of SLOW, with "
        "95 % confidence (corrected paired t-test over 10 splits), and it takes 0.2 s instead of 60.0 s."
    )


def test_no_significant_difference_does_not_make_a_cheaper_method_as_good():
    slow, fast = contender("slow", 0.90, 60.0), contender("cheap", 0.87, 0.2)
    assert paired_p_value(slow.samples, fast.samples, test_ratio=RATIO) > 0.05
    first, _ = say(slow, fast)
    assert first.startswith("Take SLOW: its accuracy of 90.0 % is the highest on these splits, though not")
    assert "not significantly above CHEAP (corrected paired t-test over 10 splits)" in first


def test_a_cheaper_method_that_is_worse_by_more_than_noise_is_not_recommended():
    first, _ = say(contender("slow", 0.90, 60.0, noise=0.1), contender("cheap", 0.88, 0.2, noise=0.1))
    assert first.startswith("Take SLOW: its accuracy of 90.0 % is the highest on these splits, by more than noise")


@pytest.mark.parametrize("seconds", [(100.0, 60.0), (10.3, 0.4), (0.05, 0.001), (1.0, 30.0)])
def test_a_method_that_saves_less_than_libraries_take_to_compile_is_not_preferred(seconds):
    names = zip(("first", "second"), (0.90, 0.8999), seconds, strict=True)
    assert say(*(contender(*each, noise=0.01) for each in names))[0].startswith("Take FIRST")


def test_the_number_of_methods_is_corrected_for():
    best, close = contender("best", 0.9, noise=0.3), contender("close", 0.88, noise=0.3)
    assert 0.01 < paired_p_value(best.samples, close.samples, test_ratio=RATIO) < 0.05
    assert "by more than noise" in say(best, close)[0]
    others = [contender("n" * size, 0.89) for size in range(6, 12)]
    assert "CLOSE" in say(best, close, *others)[0].partition("not significantly above")[2]


@pytest.mark.parametrize(("n_splits", "words"), [(2, "cannot show what is noise"), (10, "by more than noise")])
def test_constant_differences_of_several_splits_are_no_noise(n_splits, words):
    best, other = (contender(*each, noise=0, n_splits=n_splits) for each in (("raw", 0.9), ("bb", 0.88)))
    assert words in say(best, other)[0]


def test_edges_hurt_where_all_methods_are_below_raw_features():
    *_, last, _ = say(contender("raw", 0.9), contender("bb", 0.5), contender("cccc", 0.4))
    assert last == "Edges hurt here: raw features alone have 90.0 %, and every method that uses edges has less."


def test_edges_hurt_for_the_methods_below_raw_features():
    *_, last, _ = say(contender("best", 0.9), contender("raw", 0.8), contender("bb", 0.5), contender("c", 0.4))
    assert last == "Edges hurt here for BB and C, which have less than the 80.0 % of raw features alone."


def test_a_method_that_is_below_raw_features_within_the_noise_is_not_blamed():
    assert not any("hurt" in each for each in say(contender("raw", 0.9, 9.0), contender("bb", 0.899)))


def test_features_made_from_edges_say_nothing_about_edges():
    assert not any("hurt" in each for each in say(contender("raw", 0.9), contender("bb", 0.7), has_features=False))


@pytest.mark.parametrize(("n_splits", "few"), [(1, "a single split"), (4, "fewer than 5 splits")])
def test_few_splits_cannot_show_what_is_noise(n_splits, few):
    names = (("raw", 0.9, 90.0), ("bb", 0.7, 0.1), ("c", 0.899, 0.1))
    (only,) = say(*(contender(*each, n_splits=n_splits) for each in names))
    assert only == (
        f"Take RAW: its accuracy of 90.0 % is the highest on these splits, though {few} cannot show what is noise: "
        "compare with --protocol random --splits 5 or more."
    )


def test_measure_and_unit_are_named():
    sentence, caution, _ = say(
        contender("a", 0.9), contender("bb", 0.7), measure="link AUC", unit="held-out edges", test_ratio=0
    )
    assert "its link AUC of 90.0 %" in sentence
    assert "on these held-out edges, by more than noise (paired t-test over 10 held-out edges)" in sentence
    assert "not that classes are separated" in caution


@pytest.mark.parametrize("contenders", [[], [contender("a", 0.9)]])
def test_fewer_than_two_methods_suggest_nothing(contenders):
    assert say(*contenders) == []
