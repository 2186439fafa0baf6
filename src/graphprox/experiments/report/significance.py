"""Which rows differ from another for real: a paired test over splits, and Holm's correction for many tests.

Splits of one graph overlap, which the test does not know of: it is more easily convinced than it should be.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

LEVEL = 0.05
ENOUGH_SPLITS = 5
NEGLIGIBLE = 1e-9  # in percent: differences that vary by no more are one and the same


def paired_p(ours: ArrayLike, others: ArrayLike) -> float:
    """How probable differences as large as these are where there is none, by a paired t-test; (splits,) each.

    >>> round(paired_p([81, 82, 83, 84], [80, 81.5, 82, 82.5]), 4)
    0.0163
    >>> paired_p([81, 82], [81, 82]), paired_p([81, 82], [80, 81])
    (1.0, 0.0)
    """
    from scipy.stats import ttest_rel

    a, b = np.asarray(ours, np.float64), np.asarray(others, np.float64)
    differences = a - b
    if np.ptp(differences) < NEGLIGIBLE:  # the test would divide by zero
        return 1.0 if np.abs(differences).max() < NEGLIGIBLE else 0.0
    return float(ttest_rel(a, b).pvalue)


def holm(probabilities: Sequence[float]) -> list[float]:
    """The probabilities, raised so that comparing each with a level keeps the chance of any false alarm below it.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    count, highest = len(probabilities), 0.0
    raised = [0.0] * count
    for rank, place in enumerate(sorted(range(count), key=lambda each: probabilities[each])):
        highest = max(highest, min(1.0, (count - rank) * probabilities[place]))
        raised[place] = highest
    return raised


def differing(reference: np.ndarray, rows: Mapping[str, np.ndarray]) -> set[str]:
    """The names of the rows that differ from the reference; each is a figure per split, (splits,).

    A row that was not measured on the same splits, or on fewer than five, is not tested.

    >>> reference = np.array([80.0, 81, 82, 83, 84])
    >>> sorted(differing(reference, {"better": reference + 1, "same": reference, "other splits": reference[:4]}))
    ['better']
    """
    if len(reference) < ENOUGH_SPLITS:
        return set()
    tested = {name: figures for name, figures in rows.items() if len(figures) == len(reference)}
    raised = holm([paired_p(figures, reference) for figures in tested.values()])
    return {name for name, probability in zip(tested, raised, strict=True) if probability < LEVEL}
