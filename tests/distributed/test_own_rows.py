"""Vectors of several processes, each of which keeps those of its own nodes, and what is said of all of them.

What ``keep_own_rows`` of graphprox/_utils/team.py changes in methods, warnings and writers.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from graphprox import FTGCL, AutoEmbedder, read_embedding, synthetic, write_embedding
from graphprox._utils.outcome import warn_if_alike, warn_if_collapsed
from graphprox._utils.team import keep_own_rows
from graphprox.auto.exchange import gather_first

METHODS = {
    "auto": AutoEmbedder(n_components=8, keep="both"),
    "rows": FTGCL.from_preset("large", epochs=2, n_components=8, cache=False),
    "edges": FTGCL(encoder="sage", epochs=2, n_components=8, cache=False),
}


def fit(_processes, name, folder):
    """Return the shapes of what this process keeps, and the ids of its nodes; write the vectors."""
    with warnings.catch_warnings(action="ignore"), keep_own_rows(save_model=True):
        method = METHODS[name].fit(synthetic(nodes=140))
        write_embedding(folder, method.embedding_)
    positions = getattr(method, "positions_", None)
    directions = 0 if positions is None else len(positions.preparation.directions)
    return method.vectors_.shape, method.node_ids_.tolist(), directions


@pytest.mark.parametrize("name", METHODS)
def test_each_process_keeps_and_writes_the_vectors_of_its_own_nodes(workers, tmp_path, name):
    results = workers(3, fit, name, tmp_path / "parts")
    assert [shape for shape, _, _ in results] == [(46, 8), (47, 8), (47, 8)]
    assert [each for _, ids, _ in results for each in ids] == list(range(140))
    # What transforms another graph is saved by the first process.
    assert [directions for _, _, directions in results] == ([140, 47, 47] if name == "auto" else [0, 0, 0])
    with warnings.catch_warnings(action="ignore"):
        expected = METHODS[name].fit(synthetic(nodes=140)).vectors_
    found = read_embedding(tmp_path / "parts").vectors
    np.testing.assert_allclose(found, expected, atol=1e-3 * np.abs(expected).max())


def gather(processes, num_rows):
    matrix = np.arange(2 * num_rows, dtype=np.float32).reshape(num_rows, 2)
    return gather_first(processes, matrix[processes.rows(num_rows)], num_rows).tolist()


@pytest.mark.parametrize("num_rows", [7, 1])
def test_rows_of_all_processes_are_gathered_in_the_first(workers, num_rows):
    expected = np.arange(2.0 * num_rows).reshape(num_rows, 2).tolist()
    first, *others = workers(3, gather, num_rows)
    assert first == expected
    assert others == [expected[num_rows * rank // 3 : num_rows * (rank + 1) // 3] for rank in (1, 2)]


def make_vectors(kind):
    vectors = np.random.default_rng(0).normal(size=(90, 4)).astype(np.float32)
    if kind == "collapsed":
        vectors[:] = 1
    elif kind == "alike":
        vectors = 1 + 1e-3 * vectors
    elif kind == "alike in each process":
        vectors = np.repeat(np.eye(4, dtype=np.float32)[:3], 30, axis=0)
    return vectors


def list_warnings(processes, kind):
    vectors = make_vectors(kind)
    with warnings.catch_warnings(record=True, action="always") as caught, keep_own_rows():
        warn_if_alike(warn_if_collapsed(vectors if processes is None else vectors[processes.rows(90)]))
    return [str(each.message) for each in caught]


@pytest.mark.parametrize("kind", ["distinct", "collapsed", "alike", "alike in each process"])
def test_warnings_of_each_process_are_about_the_vectors_of_all(workers, kind):
    expected = list_warnings(None, kind)
    assert len(expected) == (kind in ("collapsed", "alike"))
    assert workers(3, list_warnings, kind) == [expected] * 3
