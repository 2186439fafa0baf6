"""How much memory this process has taken."""

from __future__ import annotations

import sys


def peak_memory() -> int | None:
    """The most bytes that the process has held so far; None where the system does not tell."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
