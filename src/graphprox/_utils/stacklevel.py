"""Warnings that point at the line of the user."""

from __future__ import annotations

import sys
import warnings

_INTERNAL = ("graphprox", "sklearn")  # scikit-learn wraps the methods of estimators


def warn(message: str, category: type[Warning]) -> None:
    """Warn, and point at the first caller outside of graphprox.

    Parameters
    ----------
    message : str
        One sentence.
    category : type
        Class of the warning.
    """
    warnings.warn(message, category, stacklevel=find_stacklevel())


def find_stacklevel() -> int:
    """Return the ``stacklevel`` by which a warning points at the first caller outside of graphprox.

    Returns
    -------
    int
    """
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _INTERNAL:
        frame, level = frame.f_back, level + 1
    return level
