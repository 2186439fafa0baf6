"""Diverged and collapsed embeddings."""

from __future__ import annotations

import numpy as np
import pytest

from graphprox import DGI, CollapsedEmbeddingWarning, Graph, IgnoredInputWarning, Recipe, TrainingError
from graphprox._utils import outcome
from graphprox._utils.outcome import raise_if_diverged, warn_if_alike, warn_if_collapsed, warn_if_unused
from graphprox.ftgcl.fit import fit_recipe

DISTINCT = np.array([[1, 2, 3], [1, 2, 3], [1, 2, 4]], dtype=np.float32)  # one value differs
SAME = np.tile(np.array([[1, -2, 3]], dtype=np.float32), (5, 1))


def test_good_vectors_are_returned():
    assert raise_if_diverged(DISTINCT, "do this") is DISTINCT
    assert warn_if_collapsed(DISTINCT) is DISTINCT


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_vectors_that_are_not_finite_are_rejected(value):
    with pytest.raises(TrainingError, match=r"^training diverged: an embedding must be finite; .*: do this$"):
        raise_if_diverged(np.array([[0, value], [1, 2]], dtype=np.float32), "do this")


@pytest.mark.parametrize("scale", [0, 1e-20, 1, 1e20])
def test_equal_vectors_are_warned_about(scale):
    same = SAME * np.float32(scale)
    message = r"^the embedding collapsed: all 5 nodes have the same vector; .* change the random seed$"
    with pytest.warns(CollapsedEmbeddingWarning, match=message):
        assert warn_if_collapsed(same) is same


def test_vectors_that_differ_by_rounding_are_equal():
    same = SAME.copy()
    same[2] = np.nextafter(same[2], np.float32(9))
    with pytest.warns(CollapsedEmbeddingWarning):
        warn_if_collapsed(same)


@pytest.mark.parametrize("scale", [1e-20, 1e20])
def test_scale_does_not_matter(scale):
    distinct = DISTINCT * np.float32(scale)
    assert warn_if_collapsed(distinct) is distinct  # a warning would be an error


def test_single_node_cannot_collapse():
    assert warn_if_collapsed(DISTINCT[:1]).shape == (1, 3)


def test_fit_warns_and_transform_does_not():
    graph = Graph(np.zeros((30, 5)), [range(29), range(1, 30)])
    with pytest.warns(CollapsedEmbeddingWarning, match="all 30 nodes have the same vector"):
        embedder = DGI(n_components=4, epochs=0).fit(graph)
    with pytest.warns(CollapsedEmbeddingWarning, match="all 30 nodes have the same vector"):
        fit_recipe(graph, Recipe(epochs=0), device="cpu")
    embedder.transform(graph)  # a warning would be an error: the remedies are those of training


@pytest.mark.parametrize("block", [outcome.BLOCK_NUMBERS, 7])
def test_vectors_are_compared_a_block_at_a_time(block, monkeypatch):
    monkeypatch.setattr(outcome, "BLOCK_NUMBERS", block)
    rows = np.random.default_rng(0).normal(size=(40, 3)).astype(np.float32)
    assert warn_if_alike(rows) is rows
    with pytest.warns(CollapsedEmbeddingWarning, match="100% of the pairs"):
        warn_if_alike(rows + np.float32(100))
    same = np.ones((40, 3), np.float32)
    assert warn_if_alike(same) is same  # which is another warning


@pytest.mark.parametrize(("used", "size"), [(5, 5), (5, 256), (0, 9)])
def test_components_are_not_warned_about_if_all_are_used_or_none_or_the_default_was_taken(used, size):
    warn_if_unused(used, size, 256, "are not zero")


def test_components_that_are_not_used_are_warned_about():
    with pytest.warns(IgnoredInputWarning, match=r"got 2,000, of which only 1,999 are not zero: choose fewer$"):
        warn_if_unused(1999, 2000, 256, "are not zero: choose fewer")
