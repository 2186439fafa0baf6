"""Warnings that point at the user's line."""

from __future__ import annotations

import sys

_INTERNAL = ("graphprox", "sklearn")  # scikit-learn wraps the methods of estimators


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
