"""Vectors of large graphs are stored in half precision, which keeps the nearest nodes."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.half_precision import measure_recall
from graphprox import Graph, synthetic
from graphprox._utils.mapped import is_mapped
from graphprox._utils.work_folder import use_work_folder
from graphprox.errors import WriteError
from graphprox.io.storage import memory_maps
from graphprox.views import rank, topology_descriptor
from graphprox.views.local_structure import nystrom


def describe(graph, **options):
    return topology_descriptor(graph, np.random.default_rng(0), num_landmarks=50, **options)


@pytest.fixture
def limit(monkeypatch):
    """A function that makes every graph a large one."""

    def limit():
        monkeypatch.setattr(nystrom, "MAX_SINGLE_BYTES", 100)
        monkeypatch.setattr(nystrom, "BLOCK_ENTRIES", 50 * 64)
        monkeypatch.setattr(nystrom, "ROWS_PER_COPY", 7)

    return limit


def test_large_descriptor_is_a_map_in_half_precision_with_the_same_neighbors(limit, tmp_path):
    graph = synthetic(nodes=840)
    single = describe(graph)
    assert (single.dtype, is_mapped(single)) == (np.float32, False)
    limit()
    with use_work_folder(tmp_path):
        half = describe(graph)
    assert (half.dtype, is_mapped(half), list(tmp_path.iterdir())) == (np.float16, True, [])
    np.testing.assert_allclose(half, single, rtol=1e-3, atol=1e-6)
    assert measure_recall(single, half.astype(np.float32)) >= 0.99
    found, expected = rank(half), rank(single)
    np.testing.assert_allclose(found.similarities, expected.similarities, atol=2e-3)


def test_rows_that_half_precision_does_not_hold_keep_their_direction(limit, monkeypatch):
    graph = synthetic(nodes=420)
    single = describe(graph)
    limit()
    compute = nystrom.compute_projection
    monkeypatch.setattr(nystrom, "compute_projection", lambda *given, **options: 1e5 * compute(*given, **options))
    half = describe(graph).astype(np.float64)
    assert np.isfinite(half).all()
    cosine = (half * single).sum(axis=1) / np.linalg.norm(half, axis=1) / np.linalg.norm(single, axis=1)
    np.testing.assert_allclose(cosine, 1, atol=1e-5)


def test_equal_subgraphs_have_equal_vectors_in_half_precision(limit):
    star = Graph(x=[[1]] * 300, edge_index=[[0] * 299, range(1, 300)])
    limit()
    vectors = describe(star, subgraphs="egonet", hops=1)
    assert len(np.unique(vectors[1:], axis=0)) == 1
    assert not (vectors[0] == vectors[1]).all()


def test_full_disk_is_reported(limit, monkeypatch):
    def fail(*_):
        raise OSError(28, "No space left on device")

    limit()
    monkeypatch.setattr(memory_maps.os, "posix_fallocate", fail)
    with pytest.raises(WriteError, match=r"has none for another .*: No space left on device: name another one by --wo"):
        describe(synthetic(nodes=140))
