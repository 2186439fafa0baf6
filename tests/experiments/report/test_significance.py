"""A difference is called real when it is, and not when it is not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from graphprox.experiments.report.significance import differing, holm, paired_p

SPLITS = np.array([80.1, 81.4, 79.8, 80.9, 81.0, 80.2, 79.5, 80.7, 81.2, 80.4])
NOISE = np.array([0.3, -0.4, 0.1, 0.5, -0.2, -0.3, 0.4, -0.1, 0.2, -0.5])


@pytest.mark.parametrize("shift", [0.0, 0.1, 0.3, 2.0])
def test_it_is_the_paired_t_test(shift):
    others = SPLITS + shift + NOISE
    assert paired_p(SPLITS, others) == pytest.approx(stats.ttest_rel(SPLITS, others).pvalue, rel=1e-12)
    differences = others - SPLITS
    t = differences.mean() / (differences.std(ddof=1) / np.sqrt(len(differences)))
    assert paired_p(SPLITS, others) == pytest.approx(2 * stats.t.sf(abs(t), len(differences) - 1))


def test_differences_that_do_not_vary_need_no_test():
    assert paired_p(SPLITS, SPLITS) == 1.0
    assert paired_p(SPLITS, SPLITS + 0.25) == 0.0
    assert paired_p(SPLITS / 3 + 0.1, SPLITS / 3) == 0.0  # constant but for rounding


def test_holm_on_a_worked_case():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.7, 0.6]) == [1.0, 1.0]
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_lies_between_no_correction_and_bonferronis(probabilities):
    raised = holm(probabilities)
    for one, other in zip(probabilities, raised, strict=True):
        assert one <= other <= min(1.0, len(probabilities) * one)
    by_size = [raised[each] for each in np.argsort(probabilities)]
    assert by_size == sorted(by_size)


def test_it_fires_and_does_not_fire():
    rows = {"better": SPLITS + 1 + NOISE, "worse": SPLITS - 1 + NOISE, "alike": SPLITS + 0.02 + NOISE}
    assert differing(SPLITS, rows) == {"better", "worse"}


def test_one_test_may_pass_where_many_do_not():
    close = SPLITS + 0.28 + NOISE
    assert 0.01 < paired_p(SPLITS, close) < 0.05
    assert differing(SPLITS, {"close": close}) == {"close"}
    alike = {f"alike {number}": SPLITS + np.roll(NOISE, number) for number in range(8)}
    assert differing(SPLITS, {"close": close, **alike}) == set()


def test_few_splits_or_others_are_not_tested():
    assert differing(SPLITS[:4], {"better": SPLITS[:4] + 5}) == set()
    assert differing(SPLITS[:5], {"better": SPLITS[:5] + 5}) == {"better"}
    assert differing(SPLITS, {"other splits": SPLITS[:9] + 5}) == set()


def test_chance_alone_is_seldom_called_real():
    rng = np.random.default_rng(0)
    alarms = 0
    for _ in range(200):
        reference = rng.normal(80, 1, 10)
        alarms += bool(differing(reference, {str(each): rng.normal(80, 1, 10) for each in range(4)}))
    assert alarms / 200 < 0.08
