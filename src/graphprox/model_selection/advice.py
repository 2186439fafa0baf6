"""What a comparison of methods suggests, in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from graphprox.model_selection.significance import LEVEL, MIN_SPLITS, holm, paired_lower_bound, paired_p_value

MARGIN = 0.01  # how much lower the score of a cheaper method may be
# A cheaper method takes at most this share of the seconds, and saves at least so many: the seconds of the first method
# that uses a library include importing and compiling it, which takes about ten.
FASTER, MIN_SAVING = 0.5, 15.0
RAW = "raw"  # the method that uses no edges
SPLITS = "splits"
LINKS = "link AUC"
NO_CLASSES = (
    "A high link AUC means that edges are predicted, for which degrees may suffice, and not that classes are separated."
)
ONE_SEED = "Each method was trained with one random seed: the noise of training seeds is not included."


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


def advise(
    contenders: Sequence[Contender], *, measure: str, unit: str, test_ratio: float = 0.0, has_features: bool = True
) -> list[str]:
    """Say which method to take, when a cheaper one is as good, and whether edges hurt.

    Methods differ if a paired t-test over splits, corrected for their overlap and for the number of methods, or over
    held-out edges finds a difference. A cheaper method is as good as the best one if it is at most a point lower, with
    95 % confidence. Fewer than five samples are not tested.

    Parameters
    ----------
    contenders : sequence of Contender
        Methods that did not fail.
    measure : str
        Name of the score, such as ``"accuracy"``.
    unit : str
        What there are several samples of, such as ``"splits"``.
    test_ratio : float, default=0
        Number of test nodes per training node of a split; 0 for samples that do not overlap.
    has_features : bool, default=True
        Whether the features of the graph are its own, and not made from its edges.

    Returns
    -------
    list of str
        Sentences; none for fewer than two methods.

    Examples
    --------
    >>> slow = Contender("dgi", "DGI", 0.830, 60.0, (0.82, 0.84, 0.83, 0.825, 0.835))
    >>> fast = Contender("smoothed", "Smoothed features", 0.829, 0.1, (0.82, 0.838, 0.829, 0.824, 0.834))
    >>> advise([slow, fast], measure="accuracy", unit="splits", test_ratio=8)[0]  # doctest: +NORMALIZE_WHITESPACE
    'Take Smoothed features: its accuracy of 82.9 % on these splits is at most a point below the highest, 83.0 % of DGI,
    with 95 % confidence (corrected paired t-test over 5 splits), and it takes 0.1 s instead of 60.0 s.'
    """
    if len(contenders) < 2:
        return []
    best = max(contenders, key=lambda each: each.score)
    count = len(best.samples)
    if count < MIN_SPLITS:
        few = f"a single {unit.removesuffix('s')}" if count == 1 else f"fewer than {MIN_SPLITS} {unit}"
        remedy = f": compare with --protocol random --splits {MIN_SPLITS} or more" if unit == SPLITS else ""
        highest = f"its {measure} of {_percent(best)} is the highest on these {unit}"
        return [f"Take {best.title}: {highest}, though {few} cannot show what is noise{remedy}."]
    return [
        *_recommend(best, contenders, measure, unit, test_ratio),
        *_judge_edges(contenders, has_features, test_ratio),
        *([NO_CLASSES] if measure == LINKS else []),
        ONE_SEED,
    ]


def _recommend(
    best: Contender, contenders: Sequence[Contender], measure: str, unit: str, test_ratio: float
) -> list[str]:
    test = f"{'corrected ' if test_ratio else ''}paired t-test over {len(best.samples):,} {unit}"
    others = [each for each in contenders if each is not best]
    different = _different(best, others, test_ratio)
    unclear = [each for each in others if each not in different]
    cheap = [each for each in others if _is_cheaper(each, best) and _is_as_good(each, best, test_ratio)]
    if cheap:
        chosen = min(cheap, key=lambda each: each.seconds)
        return [
            f"Take {chosen.title}: its {measure} of {_percent(chosen)} on these {unit} is at most a point below the "
            f"highest, {_percent(best)} of {best.title}, with 95 % confidence ({test}), and it takes "
            f"{chosen.seconds:.1f} s instead of {best.seconds:.1f} s."
        ]
    highest = f"Take {best.title}: its {measure} of {_percent(best)} is the highest on these {unit}"
    if unclear:
        return [f"{highest}, though not significantly above {_join(unclear)} ({test})."]
    return [f"{highest}, by more than noise ({test})."]


def _is_cheaper(one: Contender, best: Contender) -> bool:
    return one.seconds <= FASTER * best.seconds and best.seconds - one.seconds >= MIN_SAVING


def _is_as_good(one: Contender, best: Contender, test_ratio: float) -> bool:
    return paired_lower_bound(one.samples, best.samples, test_ratio=test_ratio) > -MARGIN


def _different(one: Contender, others: Sequence[Contender], test_ratio: float) -> list[Contender]:
    """Return the methods that differ from one by more than noise."""
    p_values = holm([paired_p_value(one.samples, each.samples, test_ratio=test_ratio) for each in others])
    return [each for each, p_value in zip(others, p_values, strict=True) if p_value < LEVEL]


def _judge_edges(contenders: Sequence[Contender], has_features: bool, test_ratio: float) -> list[str]:
    """Say which methods are below raw features, which use no edges."""
    raw = next((each for each in contenders if each.method == RAW), None)
    if raw is None or not has_features:
        return []
    others = [each for each in contenders if each is not raw]
    below = [each for each in _different(raw, others, test_ratio) if each.score < raw.score]
    if not below:
        return []
    if len(below) == len(others):
        return [f"Edges hurt here: raw features alone have {_percent(raw)}, and every method that uses edges has less."]
    have = "have" if len(below) > 1 else "has"
    return [f"Edges hurt here for {_join(below)}, which {have} less than the {_percent(raw)} of raw features alone."]


def _percent(contender: Contender) -> str:
    return f"{100 * contender.score:.1f} %"


def _join(contenders: Sequence[Contender]) -> str:
    names = [each.title for each in sorted(contenders, key=lambda each: -each.score)]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
