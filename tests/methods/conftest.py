"""A registry that tests may add methods to, a small method, and a small graph."""

from __future__ import annotations

import numpy as np
import pytest

from graphprox import METHODS, Graph
from graphprox.methods import InductiveEmbedder, MethodInfo, parameter, register_method


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


@pytest.fixture
def scaled_method(registry):
    """An inductive method that multiplies features."""

    @register_method("scaled")
    class Scaled(InductiveEmbedder):
        info = MethodInfo(title="Scaled", uses="X", group="floor", summary="for tests")
        presets = {"Texas": {"factor": 3.0, "times": 2}}  # noqa: RUF012

        factor: float = parameter(2.0, min=0.5, max=10)
        times: int = parameter(1, min=1)
        sign: str = parameter("plus", choices=("plus", "minus"))
        is_wide: bool = parameter(False)
        extra: int | None = parameter(None, min=0, kind=int)
        label: str = parameter("", is_setting=False)

        def _fit(self, graph, _seed, _progress):
            self.factor_ = (1 if self.sign == "plus" else -1) * self.factor**self.times
            return self._transform(graph)

        def _transform(self, graph):
            return (self.factor_ * graph.x).astype(np.float32)

    return Scaled
