"""The registry of criteria."""

from __future__ import annotations

import pytest

from graphprox import AutoEmbedder, ParameterError
from graphprox.auto.criteria import CRITERIA, Evidence, register_criterion
from graphprox.datasets import synthetic


def test_registered_criterion_decides_what_is_kept(monkeypatch):
    assert "held-out-features" in CRITERIA
    monkeypatch.setattr(CRITERIA, "_entries", dict(CRITERIA._entries))
    monkeypatch.setattr(CRITERIA, "_origins", dict(CRITERIA._origins))
    calls = []

    @register_criterion("opposite")
    def opposite(graph, seed, progress):
        calls.append((graph.y, seed))
        return Evidence(0.0, {"edges": 0.125}, "of all")

    embedder = AutoEmbedder(n_components=8, criterion="opposite", random_state=5).fit(synthetic(nodes=140))
    assert embedder.selection_.choice == "features"
    assert calls == [(None, 5)]
    assert "edges 12.5 % of all" in embedder.explanation_


def test_name_of_a_criterion_is_unique_and_must_be_known():
    with pytest.raises(ParameterError, match="'held-out-features' is taken"):
        register_criterion("held-out-features")(lambda *_: Evidence(None))
    with pytest.raises(ParameterError, match="criterion must be "):
        AutoEmbedder(criterion="labels").fit(synthetic(nodes=140))
