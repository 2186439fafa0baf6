"""Whether memory that a forecast finds to be too little is a reason to refuse work."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_ignored: ContextVar[bool] = ContextVar("ignored", default=False)


@contextmanager
def ignore_memory() -> Iterator[None]:
    """Fit inside a ``with`` block even if a forecast needs more memory than is available.

    Returns
    -------
    context manager

    Examples
    --------
    >>> from graphprox import AutoEmbedder, synthetic
    >>> with ignore_memory():
    ...     AutoEmbedder(n_components=8).fit_transform(synthetic(nodes=140)).shape
    (140, 8)
    """
    token = _ignored.set(True)
    try:
        yield
    finally:
        _ignored.reset(token)


def is_memory_ignored() -> bool:
    """Return whether too little memory is no reason to refuse work, as inside `ignore_memory`."""
    return _ignored.get()
