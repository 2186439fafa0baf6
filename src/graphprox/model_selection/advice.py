"""What a comparison of methods suggests, in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

SIGNIFICANT = 0.05  # p-value below which a difference is more than noise
FASTER, MIN_SAVING = 0.5, 0.1  # a cheaper method takes at most this share of the seconds, and saves as many
NEGLIGIBLE = 1e-9  # differences with a smaller range are constant
RAW = "raw"  # the method that uses no edges


@dataclass(frozen=True)
class Contender:
    """A method and what it scored.

    Parameters
    ----------
    method, title : str
    score : float
        A share of 1; the higher, the better.
    seconds : float
    samples : tuple of float
        The score of each split, or what each held-out edge contributes, in the same order for all methods.
    """

    method: str
    title: str
    score: float
    seconds: float
    samples: tuple[float, ...] = ()


def advise(contenders: Sequence[Contender], *, measure: str, unit: str, has_features: bool = True) -> list[str]:
    """Say which method to take, when a cheaper one is as good, and whether edges hurt.

    Methods are as good as the best one if a paired t-test over splits, or over held-out edges, finds no difference.
    Splits of one graph overlap, so that the test rather finds too many differences than too few.

    Parameters
    ----------
    contenders : sequence of Contender
        Methods that did not fail.
    measure : str
        Name of the score, such as ``"accuracy"``.
    unit : str
        What there are several samples of, such as ``"splits"``.
    has_features : bool, default=True
        Whether the features of the graph are its own, and not made from its edges.

    Returns
    -------
    list of str
        Sentences; none for fewer than two methods.

    Examples
    --------
    >>> slow = Contender("dgi", "DGI", 0.83, 20.0, (0.82, 0.84, 0.83))
    >>> fast = Contender("smoothed", "Smoothed features", 0.825, 0.1, (0.83, 0.81, 0.835))
    >>> advise([slow, fast], measure="accuracy", unit="splits")[0]  # doctest: +NORMALIZE_WHITESPACE
    'Take Smoothed features: its accuracy of 82.5 % is within the noise of the highest, 83.0 % of DGI (p = 0.73, paired
    t-test over 3 splits), and it takes 0.1 s instead of 20.0 s.'
    """
    if len(contenders) < 2:
        return []
    best = max(contenders, key=lambda each: each.score)
    others = [each for each in contenders if each is not best]
    if len(best.samples) < 2:
        first = f"Take {best.title}: its {measure} of {_percent(best)} is the highest, though one of the {unit} "
        return [f"{first}cannot show what is noise: compare over several.", *_judge_edges(contenders, has_features)]
    equal = [each for each in others if paired_p_value(best.samples, each.samples) >= SIGNIFICANT]
    return [*_recommend(best, equal, measure, unit), *_judge_edges(contenders, has_features)]


def _recommend(best: Contender, equal: Sequence[Contender], measure: str, unit: str) -> list[str]:
    count = f"paired t-test over {len(best.samples):,} {unit}"
    if not equal:
        highest = f"its {measure} of {_percent(best)} is the highest, by more than noise"
        return [f"Take {best.title}: {highest} ({count})."]
    cheapest = min(equal, key=lambda each: each.seconds)
    if cheapest.seconds > FASTER * best.seconds or best.seconds - cheapest.seconds < MIN_SAVING:
        return [
            f"Take {best.title}: its {measure} of {_percent(best)} is the highest, though within the noise of "
            f"{_join(equal)} ({count})."
        ]
    p_value = paired_p_value(best.samples, cheapest.samples)
    first = (
        f"Take {cheapest.title}: its {measure} of {_percent(cheapest)} is within the noise of the highest, "
        f"{_percent(best)} of {best.title} (p = {p_value:.2f}, {count}), and it takes {cheapest.seconds:.1f} s instead "
        f"of {best.seconds:.1f} s."
    )
    rest = [each for each in equal if each is not cheapest]
    return [first, f"Within the noise of the highest as well: {_join(rest)}."] if rest else [first]


def _judge_edges(contenders: Sequence[Contender], has_features: bool) -> list[str]:
    """Say which methods are below raw features, which use no edges."""
    raw = next((each for each in contenders if each.method == RAW), None)
    if raw is None or not has_features:
        return []
    others = [each for each in contenders if each is not raw]
    below = [each for each in others if each.score < raw.score and _differs(raw, each)]
    if not below:
        return []
    if len(below) == len(others):
        return [f"Edges hurt here: raw features alone have {_percent(raw)}, and every method that uses edges has less."]
    have = "have" if len(below) > 1 else "has"
    return [f"Edges hurt here for {_join(below)}, which {have} less than the {_percent(raw)} of raw features alone."]


def _differs(first: Contender, second: Contender) -> bool:
    """Return whether a difference is more than noise; with one sample, any difference counts."""
    return len(first.samples) < 2 or paired_p_value(first.samples, second.samples) < SIGNIFICANT


def paired_p_value(first: ArrayLike, second: ArrayLike) -> float:
    """Return the p-value of a paired t-test.

    Splits of one graph overlap, so that their figures are not independent and the p-value is too small.

    Parameters
    ----------
    first, second : array-like of shape (n_samples,)
        At least two.

    Returns
    -------
    float

    Examples
    --------
    >>> round(paired_p_value([0.81, 0.82, 0.83, 0.84], [0.80, 0.815, 0.82, 0.825]), 4)
    0.0163
    >>> paired_p_value([0.8, 0.9], [0.8, 0.9])
    1.0
    """
    from scipy.stats import ttest_rel  # takes a second to import

    a, b = np.asarray(first, np.float64), np.asarray(second, np.float64)
    differences = a - b
    if np.ptp(differences) < NEGLIGIBLE:  # the test would divide by zero
        return 1.0 if np.abs(differences).max() < NEGLIGIBLE else 0.0
    return float(ttest_rel(a, b).pvalue)


def _percent(contender: Contender) -> str:
    return f"{100 * contender.score:.1f} %"


def _join(contenders: Sequence[Contender]) -> str:
    names = [each.title for each in sorted(contenders, key=lambda each: -each.score)]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
