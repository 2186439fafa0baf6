"""A registry that tests may add methods to, and a small graph."""

from __future__ import annotations

import numpy as np
import pytest

from graphprox import METHODS, Graph


@pytest.fixture
def registry(monkeypatch):
    """The registry of methods, whose changes are undone."""
    assert len(METHODS)
    monkeypatch.setattr(METHODS, "_entries", dict(METHODS._entries))
    monkeypatch.setattr(METHODS, "_origins", dict(METHODS._origins))
    return METHODS


@pytest.fixture
def graph():
    return Graph(np.arange(8, dtype=float).reshape(4, 2), [[0, 1, 2], [1, 2, 3]])
