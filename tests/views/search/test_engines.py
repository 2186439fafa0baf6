"""Approximate search engines."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import graphprox
from graphprox import LowRecallWarning
from graphprox.views import Ranking
from graphprox.views.search import ENGINES, engines, rank

APPROXIMATE = [name for name in ENGINES if name != "exact"]


def make_vectors(rows: int, columns: int, seed: int = 0) -> np.ndarray:
    """Return rows around a few centers, mostly positive, without ties."""
    rng = np.random.default_rng(seed)
    return (rng.random((20, columns))[rng.integers(20, size=rows)] + 0.3 * rng.random((rows, columns))).astype("f4")


def compute_cosines(matrix) -> np.ndarray:
    x = np.asarray(matrix.toarray() if sp.issparse(matrix) else matrix, np.float64)
    length = np.linalg.norm(x, axis=1, keepdims=True)
    unit = np.divide(x, length, out=np.zeros_like(x), where=length > 0)
    return unit @ unit.T


def compute_recall(ranking: Ranking, exact: Ranking) -> float:
    last = np.where(exact.similarities > 0, exact.similarities, np.inf).min(axis=1, keepdims=True)
    hits = (ranking.similarities > 0) & (ranking.similarities >= last - 1e-6)
    return float(hits.sum() / (exact.similarities > 0).sum())


@pytest.mark.parametrize("engine", APPROXIMATE)
def test_recall_is_high_and_estimated_correctly(engine):
    matrix = make_vectors(3000, 25)
    ranking, exact = rank(matrix, engine=engine), rank(matrix, engine="exact")
    assert ranking.engine == engine
    assert compute_recall(ranking, exact) > 0.95
    assert ranking.recall == pytest.approx(compute_recall(ranking, exact), abs=0.01)
    every = compute_cosines(matrix)
    expected = every[np.arange(3000)[:, None], ranking.neighbors]
    np.testing.assert_allclose(ranking.similarities, expected, atol=2e-6)


@pytest.mark.parametrize("engine", APPROXIMATE)
def test_recall_is_high_with_many_equal_rows(engine):
    rng = np.random.default_rng(0)
    matrix = np.concatenate([make_vectors(300, 25)[rng.integers(300, size=2500)], np.ones((500, 25))])
    ranking = rank(matrix, engine=engine)
    assert ranking.recall > 0.99
    assert compute_recall(ranking, rank(matrix, engine="exact")) > 0.99
    assert np.bincount(ranking.neighbors[2500:].ravel(), minlength=3000).max() < 35


@pytest.mark.parametrize("engine", APPROXIMATE)
def test_large_ties_are_sampled_from_all_rows(engine):
    """600 distinct rows at the same angle to row 0: more than any engine proposes."""
    matrix = np.concatenate([np.eye(1, 601), np.eye(600, 601, k=1) + np.eye(1, 601)])
    rows = [rank(matrix, k_max=3, random_state=seed, engine=engine).neighbors[0] for seed in range(6)]
    assert len(np.unique(rows)) > 15
    ranking = rank(matrix, engine=engine)
    best = -np.sort(-(compute_cosines(matrix) - np.eye(601)), axis=1)[:, :10]
    np.testing.assert_allclose(ranking.similarities, best, atol=2e-6)
    assert np.bincount(ranking.neighbors[1:, 1], minlength=601)[1:].max() < 12


@pytest.mark.parametrize("engine", APPROXIMATE)
def test_recall_is_high_on_bags_of_words(data, engine):
    x = graphprox.load("PubMed", data=data).graph.x[:3000]
    assert rank(x, engine=engine).recall > 0.95


@pytest.mark.parametrize("engine", APPROXIMATE)
def test_similarities_are_exact_after_a_random_projection(engine):
    rng = np.random.default_rng(0)
    words = sp.random_array((400, 3000), density=0.01, rng=rng, format="csr")
    matrix = sp.csr_array(words[rng.integers(100, size=400)] + 0.2 * words)
    with warnings.catch_warnings(action="ignore", category=LowRecallWarning):
        ranking = rank(matrix, k_max=3, engine=engine)
    assert ranking.recall > 0.5
    every = compute_cosines(matrix)
    expected = every[np.arange(400)[:, None], ranking.neighbors]
    np.testing.assert_allclose(ranking.similarities[:, 0], expected[:, 0], atol=2e-6)


def test_auto_is_exact_unless_that_costs_too_much(monkeypatch):
    matrix = make_vectors(400, 10)
    assert rank(matrix).engine == "exact"
    monkeypatch.setattr(engines, "MAX_EXACT_COST", 400 * 400 * 25)
    assert rank(matrix).engine == "descent"
    assert rank(sp.csr_array(np.eye(400) + np.eye(400, k=1))).engine == "exact"  # inverted lists are cheap


def test_low_recall_warns():
    noise = np.random.default_rng(0).standard_normal((12_000, 300), dtype=np.float32)
    with pytest.warns(LowRecallWarning, match=r"found \d+% of the nearest .* engine=\"exact\" finds all"):
        ranking = rank(noise, engine="descent")
    assert 0 < ranking.recall < 0.95
