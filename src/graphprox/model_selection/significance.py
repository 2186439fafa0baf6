"""Tests of whether two methods differ, from their scores on the same splits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

LEVEL = 0.05  # of significance
MIN_SPLITS = 5  # for a test
MAX_TEST_RATIO = 1.0  # the correction is meant for splits that train on most nodes
_NEGLIGIBLE = 1e-9  # differences with a smaller range are constant


def paired_p_value(first: ArrayLike, second: ArrayLike, *, test_ratio: float = 0.0) -> float:
    """Return the p-value of a paired t-test, corrected for the overlap of splits.

    Random splits of one graph overlap, so that their figures are not independent, and a plain t-test finds too many
    differences. The correction of Nadeau and Bengio (2003) multiplies the variance of the differences by
    ``1 / n_samples + n_test / n_train`` instead of ``1 / n_samples``. It is meant for splits that train on most nodes:
    with eight test nodes per training node, 25 points of accuracy would be noise. The ratio counts up to 1.

    Parameters
    ----------
    first, second : array-like of shape (n_samples,)
        At least two.
    test_ratio : float, default=0
        Number of test nodes per training node; 0 for independent samples, which gives the plain test.

    Returns
    -------
    float
        1 for equal samples, 0 if all differences are equal but not zero.

    Examples
    --------
    >>> scores = [0.81, 0.82, 0.83, 0.84], [0.80, 0.815, 0.82, 0.825]
    >>> round(paired_p_value(*scores), 4), round(paired_p_value(*scores, test_ratio=8), 4)
    (0.0163, 0.1162)
    >>> paired_p_value([0.8, 0.9], [0.8, 0.9]), paired_p_value([0.8, 0.9], [0.7, 0.8])
    (1.0, 0.0)
    """
    from scipy import stats  # takes a second to import

    a, b = np.asarray(first, np.float64), np.asarray(second, np.float64)
    differences = a - b
    if np.ptp(differences) < _NEGLIGIBLE:  # the test would divide by zero
        return 1.0 if np.abs(differences).max() < _NEGLIGIBLE else 0.0
    if test_ratio == 0:
        return float(stats.ttest_rel(a, b).pvalue)
    t = differences.mean() / _standard_error(differences, test_ratio)
    return float(2 * stats.t.sf(abs(t), len(differences) - 1))


def paired_lower_bound(first: ArrayLike, second: ArrayLike, *, test_ratio: float = 0.0) -> float:
    """Return the lower end of the 95 % confidence interval of the mean difference of paired samples.

    Parameters
    ----------
    first, second : array-like of shape (n_samples,)
        At least two.
    test_ratio : float, default=0
        As in `paired_p_value`.

    Returns
    -------
    float
        How much smaller ``first`` may be than ``second``.

    Examples
    --------
    >>> round(paired_lower_bound([0.80, 0.815, 0.82, 0.825], [0.81, 0.82, 0.83, 0.84]), 4)
    -0.0165
    """
    from scipy import stats

    differences = np.asarray(first, np.float64) - np.asarray(second, np.float64)
    quantile = stats.t.ppf(1 - LEVEL / 2, len(differences) - 1)
    return float(differences.mean() - quantile * _standard_error(differences, test_ratio))


def _standard_error(differences: np.ndarray, test_ratio: float) -> float:
    return float(np.sqrt(differences.var(ddof=1) * (1 / len(differences) + min(test_ratio, MAX_TEST_RATIO))))


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values for multiple tests by the method of Holm.

    Parameters
    ----------
    p_values : sequence of float
        NaN where nothing was tested; it remains NaN, and does not count.

    Returns
    -------
    list of float

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    tested = [index for index, p_value in enumerate(p_values) if not np.isnan(p_value)]
    count, highest = len(tested), 0.0
    adjusted = [float("nan")] * len(p_values)
    for rank, index in enumerate(sorted(tested, key=lambda each: p_values[each])):
        highest = max(highest, min(1.0, (count - rank) * p_values[index]))
        adjusted[index] = highest
    return adjusted
