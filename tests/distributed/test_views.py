"""Views: rankings that several processes make together are those of one, byte by byte, whoever has some in a cache."""

from __future__ import annotations

import os
from unittest.mock import patch

import numpy as np
import pytest

from graphprox import synthetic
from graphprox.views import topology_descriptor
from graphprox.views.base import rank_view
from graphprox.views.local_structure import nystrom
from graphprox.views.search import engines, rank

SMALL = {"num_walks": 3, "walk_length": 4, "num_landmarks": 20}


# Processes go on to other tests: nothing that is set in them may stay.


def rank_together(_processes, view, options):
    with patch.object(nystrom, "BLOCK_ENTRIES", 20 * 32):  # many blocks
        ranking = rank_view(synthetic(nodes=140), view, k_max=5, options=options, cache=False)
    return ranking.neighbors, ranking.similarities, ranking.recall


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize(("view", "options"), [("topology", SMALL), ("feature", {}), ("neighborhood", {})])
def test_ranking_of_several_processes_is_that_of_one(workers, view, options, size):
    expected = rank_together(None, view, options)
    for found in workers(size, rank_together, view, options):
        for each, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(each, other)


def describe_in_half_precision(_processes):
    with patch.multiple(nystrom, BLOCK_ENTRIES=20 * 32, MAX_SINGLE_BYTES=100):
        vectors = topology_descriptor(synthetic(nodes=140), np.random.default_rng(0), **SMALL)
    return str(vectors.dtype), vectors.tobytes()


def test_vectors_in_half_precision_are_those_of_one_process(workers):
    expected = describe_in_half_precision(None)
    assert expected[0] == "float16"
    assert workers(2, describe_in_half_precision) == [expected, expected]


def rank_approximately(_processes, engine):
    x = np.random.default_rng(0).standard_normal((300, 8))
    with patch.object(engines, "MAX_TRIVIAL_SIZE", 0):
        ranking = rank(x, k_max=5, engine=engine)
    return ranking.neighbors, ranking.similarities, ranking.recall


@pytest.mark.parametrize("engine", ["descent", "ivf"])
def test_approximate_search_of_the_first_process_is_copied_with_its_recall(workers, engine):
    expected = rank_approximately(None, engine)
    for found in workers(2, rank_approximately, engine):
        for each, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(each, other)
        assert 0 < found[2] <= 1


def rank_with_cache(processes, folders):
    with patch.dict(os.environ, XDG_CACHE_HOME=folders[processes.rank]):
        return rank_view(synthetic(nodes=140), "feature", k_max=5).neighbors


def test_cache_of_one_process_does_not_leave_the_others_waiting(workers, tmp_path):
    folders = [str(tmp_path / name) for name in ("first", "second")]
    (alone,) = workers(1, rank_with_cache, folders)
    assert len(list(tmp_path.glob("first/graphprox/rankings/*"))) == 1
    for found in workers(2, rank_with_cache, folders):
        np.testing.assert_array_equal(found, alone)
    assert len(list(tmp_path.glob("second/graphprox/rankings/*"))) == 1
