"""t-SNE keeps neighbors, for any number of threads, and accepts degenerate vectors."""

from __future__ import annotations

import subprocess
import sys

import numba
import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from graphprox import ParameterError, map_embedding
from graphprox.visualization import tsne
from graphprox.visualization.tsne import lay_out, to_directions


def clusters(num_nodes: int, *, num_clusters: int = 5, size: int = 12) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    cluster = rng.integers(0, num_clusters, num_nodes)
    vectors = rng.normal(size=(num_clusters, size))[cluster] + 0.1 * rng.normal(size=(num_nodes, size))
    return vectors.astype(np.float32), cluster


def test_clusters_are_separate_in_the_map():
    vectors, cluster = clusters(200)
    points = lay_out(to_directions(vectors), perplexity=15, seed=0)
    centers = np.array([points[cluster == each].mean(axis=0) for each in range(5)])
    assert np.array_equal(np.linalg.norm(points[:, None] - centers, axis=2).argmin(axis=1), cluster)


def test_points_are_equal_for_any_number_of_threads(monkeypatch):
    vectors, _ = clusters(150)
    found = []
    for threads in (1, 2):
        monkeypatch.setattr(numba.config, "NUMBA_NUM_THREADS", threads)
        with threadpool_limits(threads):
            found.append(lay_out(to_directions(vectors), perplexity=30, seed=3).tobytes())
    assert found[0] == found[1]
    assert lay_out(to_directions(vectors), perplexity=30, seed=4).tobytes() != found[0]


@pytest.mark.slow
def test_points_of_a_large_map_are_equal_for_any_number_of_threads():
    code = (
        "import hashlib, numpy as np; from graphprox import map_embedding\n"
        "vectors = np.random.default_rng(0).normal(size=(12_000, 8)).astype(np.float32)\n"
        "print(hashlib.sha256(map_embedding(vectors).points.tobytes()).hexdigest())"
    )
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
    hashes = set()
    for threads in ("1", "2"):
        with pytest.MonkeyPatch.context() as patch:
            for name in names:
                patch.setenv(name, threads)
            hashes.add(subprocess.check_output([sys.executable, "-c", code]))
    assert len(hashes) == 1


@pytest.mark.parametrize("num_nodes", [1, 2, 3, 9, 10, 11, 40])
@pytest.mark.parametrize("size", [1, 2, 20])
def test_any_number_of_nodes_and_components_is_mapped(num_nodes, size):
    vectors = np.random.default_rng(0).normal(size=(num_nodes, size))
    points = lay_out(to_directions(vectors), perplexity=30, seed=0)
    assert points.shape == (num_nodes, 2)
    assert points.dtype == np.float32
    assert np.isfinite(points).all()


@pytest.mark.parametrize("vectors", [np.ones((30, 4)), np.zeros((30, 4)), np.eye(30), np.full((30, 2), 1e300)])
def test_degenerate_vectors_are_mapped(vectors):
    assert np.isfinite(lay_out(to_directions(vectors), perplexity=30, seed=0)).all()


def test_vectors_of_zeros_are_similar_to_each_other_alone():
    vectors, _ = clusters(60)
    vectors[::3] = 0
    points = lay_out(to_directions(vectors), perplexity=5, seed=0)
    zeros, others = points[::3], np.delete(points, np.s_[::3], axis=0)
    radius = np.linalg.norm(zeros - zeros.mean(axis=0), axis=1).max()
    assert np.linalg.norm(others - zeros.mean(axis=0), axis=1).min() > radius


def test_rows_with_few_neighbors_of_positive_cosine_are_filled(monkeypatch):
    monkeypatch.setattr(tsne, "EXACT_NODES", 10)
    unit = np.repeat(np.eye(6, dtype=np.float32), 5, axis=0)
    neighbors, distances = tsne._find_neighbors(unit, 12, 0)
    assert neighbors.min() >= 0
    assert not (neighbors == np.arange(30)[:, None]).any()
    assert np.allclose(np.sort(distances, axis=1), [0] * 4 + [np.sqrt(2)] * 8, atol=1e-3)


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "openTSNE", None)
    with pytest.raises(ParameterError, match=r"a map needs openTSNE.* pip install 'graphprox\[plots\]'"):
        map_embedding(np.eye(20))
