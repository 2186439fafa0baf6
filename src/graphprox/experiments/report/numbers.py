"""Numbers and their names, as they are printed."""

from __future__ import annotations

import re

METRICS = {"macro_f1": "macro-F1", "auc": "AUC", "ap": "AP", "cosine_auc": "AUC", "cosine_ap": "AP"}
NONE = "–"  # where a number would stand, and there is none


def metric_name(metric: str) -> str:
    """What a metric is called in print."""
    return METRICS.get(metric, metric.replace("_", " "))


def with_deviation(mean: float, deviation: float | None, digits: int) -> str:
    """A mean and, where there is one, its deviation.

    >>> with_deviation(84.071, 0.58, 2), with_deviation(84.071, None, 2)
    ('84.07 ± 0.58', '84.07')
    """
    return f"{mean:.{digits}f}" + ("" if deviation is None else f" ± {deviation:.{digits}f}")


def signed(difference: float, digits: int = 2) -> str:
    """A difference with its sign, the minus as long as the plus.

    >>> signed(0.143), signed(-1.5), signed(0.0)
    ('+0.14', '−1.50', '0.00')
    """
    return f"{difference:+.{digits}f}".replace("-", "−") if difference else f"{0:.{digits}f}"


def counted(count: int, what: str) -> str:
    """So many of something.

    >>> counted(1, "training"), counted(10, "training")
    ('1 training', '10 trainings')
    """
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


def anchor(title: str) -> str:
    """What GitHub calls a heading in links.

    >>> anchor("Node classification: DBLP, B(6, 2)")
    'node-classification-dblp-b6-2'
    """
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
