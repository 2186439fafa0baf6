"""Tests of whether methods differ."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from graphprox.model_selection.significance import holm, paired_lower_bound, paired_p_value

SPLITS = np.array([80.1, 81.4, 79.8, 80.9, 81.0, 80.2, 79.5, 80.7, 81.2, 80.4])
NOISE = np.array([0.3, -0.4, 0.1, 0.5, -0.2, -0.3, 0.4, -0.1, 0.2, -0.5])


@pytest.mark.parametrize("shift", [0.0, 0.1, 0.3, 2.0])
def test_p_value_is_that_of_the_paired_t_test(shift):
    others = SPLITS + shift + NOISE
    assert paired_p_value(SPLITS, others) == pytest.approx(stats.ttest_rel(SPLITS, others).pvalue, rel=1e-12)
    differences = others - SPLITS
    t = differences.mean() / (differences.std(ddof=1) / np.sqrt(len(differences)))
    assert paired_p_value(SPLITS, others) == pytest.approx(2 * stats.t.sf(abs(t), len(differences) - 1))


@pytest.mark.parametrize("test_ratio", [0, 8])
def test_constant_differences_are_no_noise(test_ratio):
    assert paired_p_value(SPLITS, SPLITS, test_ratio=test_ratio) == 1.0
    assert paired_lower_bound(SPLITS, SPLITS, test_ratio=test_ratio) == 0.0
    for first, second in ((SPLITS, SPLITS + 0.25), (SPLITS / 3 + 0.1, SPLITS / 3)):  # constant but for rounding
        assert paired_p_value(first, second, test_ratio=test_ratio) == 0.0
        assert paired_lower_bound(first, second, test_ratio=test_ratio) == pytest.approx(np.mean(first - second))


def test_the_lower_bound_is_that_of_the_confidence_interval_of_scipy():
    expected = stats.ttest_rel(SPLITS + NOISE, SPLITS + 0.1).confidence_interval(0.95).low
    assert paired_lower_bound(SPLITS + NOISE, SPLITS + 0.1) == pytest.approx(expected)


@pytest.mark.parametrize("test_ratio", [0.25, 1, 8])
def test_p_value_and_bound_agree_on_what_is_significant(test_ratio):
    for shift in np.linspace(0, 4, 50):
        higher = SPLITS + shift + NOISE
        significant = paired_p_value(higher, SPLITS, test_ratio=test_ratio) < 0.05
        assert significant == (paired_lower_bound(higher, SPLITS, test_ratio=test_ratio) > 0)


def test_the_corrected_test_finds_differences_of_overlapping_splits_as_rarely_as_it_says():
    # Random halves of one sample: the mean of differences varies far more than independent halves would suggest.
    rng, plain, corrected = np.random.default_rng(0), 0, 0
    for _ in range(200):
        gains = rng.normal(size=100)  # of one model over another, per node; none on average over graphs
        samples = np.array([rng.permutation(gains)[:50].mean() for _ in range(10)])
        plain += paired_p_value(samples, np.zeros(10)) < 0.05
        corrected += paired_p_value(samples, np.zeros(10), test_ratio=1) < 0.05
    assert plain > 60
    assert corrected <= 20


def test_holm_leaves_out_what_was_not_tested():
    adjusted = holm([0.01, float("nan"), 0.04])
    assert np.isnan(adjusted[1])
    assert [adjusted[0], adjusted[2]] == holm([0.01, 0.04])


def test_holm_on_a_worked_example():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.7, 0.6]) == [1.0, 1.0]
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_is_between_no_correction_and_bonferroni(probabilities):
    raised = holm(probabilities)
    for one, other in zip(probabilities, raised, strict=True):
        assert one <= other <= min(1.0, len(probabilities) * one)
    by_size = [raised[each] for each in np.argsort(probabilities)]
    assert by_size == sorted(by_size)
