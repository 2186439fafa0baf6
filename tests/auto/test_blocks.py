"""Embeddings computed in many small blocks, with rows in files, against those of one block in memory."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.preprocessing import normalize

from auto.small_blocks import make_small_blocks
from auto.topic_graphs import topic_graph
from graphprox import AutoEmbedder, Graph, synthetic
from graphprox._utils.mapped import is_mapped
from graphprox.auto import row_store
from graphprox.auto.combination import Combination
from graphprox.auto.criteria import CRITERIA
from graphprox.auto.outputs import OUTPUTS, PreparedGraph
from graphprox.auto.positions import Positions
from graphprox.auto.preparation import Preparation
from graphprox.auto.row_store import RowStore
from graphprox.auto.selection import Selection
from graphprox.errors import StructuralFeaturesWarning


def dense_graph():
    return synthetic(nodes=420)


def directed_graph():
    graph = synthetic(nodes=420)
    rng = np.random.default_rng(0)
    weight = rng.integers(0, 4, graph.num_entries).astype(np.float32)
    return Graph(graph.x, graph.edge_index, edge_weight=weight, directed=True)


def sparse_graph():
    return topic_graph(nodes=420)


def cosines(rows):
    unit = normalize(rows)
    return unit @ unit.T


GRAPHS = pytest.mark.parametrize("make", [dense_graph, directed_graph, sparse_graph])


@GRAPHS
@pytest.mark.parametrize("name", sorted(OUTPUTS))
def test_output_of_many_blocks_is_that_of_one(monkeypatch, make, name):
    graph = make()
    preparation = Preparation.fit(graph.x, random_state=0)
    positions = Positions.fit(graph, has_features=True, random_state=0)
    expected = OUTPUTS[name](PreparedGraph.of(graph, preparation, positions, random_state=0))
    make_small_blocks(monkeypatch)
    prepared = PreparedGraph.of(graph, preparation, positions, random_state=0, store=RowStore(in_files=True))
    found = OUTPUTS[name](prepared)
    assert is_mapped(found)
    np.testing.assert_allclose(found, expected, atol=1e-5)


@GRAPHS
def test_preparation_of_many_blocks_is_that_of_one(monkeypatch, make):
    x = make().x
    expected = Preparation.fit(x, random_state=0)
    make_small_blocks(monkeypatch)
    found = Preparation.fit(x, random_state=0)
    assert (found.counted, found.typical_size) == (expected.counted, pytest.approx(expected.typical_size))
    for one, other in ((found.weights, expected.weights), (found.center, expected.center)):
        assert (one is None) == (other is None)
        if one is not None:
            np.testing.assert_allclose(one, other, rtol=1e-5)
    np.testing.assert_allclose(cosines(found.transform(x)), cosines(expected.transform(x)), atol=1e-5)
    np.testing.assert_allclose(found.relative_sizes(x), expected.relative_sizes(x), rtol=1e-5)


@GRAPHS
def test_positions_of_many_blocks_are_those_of_one(monkeypatch, make):
    graph = make()
    expected = Positions.fit(graph, has_features=True, random_state=0)
    rows = expected.transform(graph)
    make_small_blocks(monkeypatch)
    found = Positions.fit(graph, has_features=True, random_state=0, store=RowStore(in_files=True))
    assert found.preparation.typical_size == expected.preparation.typical_size
    np.testing.assert_allclose(found.preparation.weights, expected.preparation.weights)
    np.testing.assert_allclose(cosines(found.transform(graph)), cosines(rows), atol=1e-4)  # of single precision


@GRAPHS
@pytest.mark.parametrize("criterion", ["held-out-features", "neighbor-similarity"])
def test_evidence_of_many_blocks_is_that_of_one(monkeypatch, make, criterion):
    graph = make()

    def judge():
        return CRITERIA[criterion](graph, 0, lambda *_arguments, **_options: None)

    expected = judge()
    make_small_blocks(monkeypatch)
    found = judge()
    assert found.scores.keys() == expected.scores.keys()
    assert list(found.scores.values()) == pytest.approx(list(expected.scores.values()), abs=1e-4)
    assert found.ratio == pytest.approx(expected.ratio, abs=1e-3)


@pytest.mark.parametrize("choice", ["features", "both", "balanced", "graph"])
def test_combination_of_many_blocks_is_that_of_one(monkeypatch, choice):
    rng = np.random.default_rng(0)
    mixture = Selection(choice, {}, given=True).mixture
    outputs = {name: rng.normal(size=(300, 5 + i)).astype(np.float32) for i, name in enumerate(OUTPUTS)}
    for rows in outputs.values():
        rows[::7] = 0
    degree = rng.integers(0, 9, 300)

    def combine():
        fitted = Combination.fit(outputs, mixture, n_components=20, num_neighbors=degree)
        return fitted.projection, fitted.transform(outputs, degree, RowStore(in_files=True))

    expected = combine()
    make_small_blocks(monkeypatch)
    for one, other in zip(combine(), expected, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)


@pytest.mark.parametrize("keep", ["auto", "balanced"])
def test_vectors_of_many_blocks_are_those_of_one(monkeypatch, keep):
    graph = dense_graph()
    expected = AutoEmbedder(keep=keep).fit(graph)
    make_small_blocks(monkeypatch)
    found = AutoEmbedder(keep=keep).fit(graph)
    assert isinstance(found.vectors_, np.memmap)
    assert found.embedding_.vectors.base is found.vectors_  # not a copy
    np.testing.assert_allclose(cosines(found.vectors_), cosines(expected.vectors_), atol=1e-5)
    np.testing.assert_array_equal(found.transform(graph), found.vectors_)


def test_vectors_of_a_graph_without_features_are_those_of_one_block(monkeypatch):
    with warnings.catch_warnings(action="ignore", category=StructuralFeaturesWarning):
        graph = Graph(None, dense_graph().edge_index, num_nodes=430)
    expected = AutoEmbedder().fit(graph)
    make_small_blocks(monkeypatch)
    found = AutoEmbedder().fit(graph)
    np.testing.assert_allclose(cosines(found.vectors_), cosines(expected.vectors_), atol=1e-5)
    np.testing.assert_array_equal(found.transform(graph), found.vectors_)


def test_vectors_do_not_depend_on_where_rows_are_kept(monkeypatch):
    graph = dense_graph()
    monkeypatch.setattr(row_store, "ONE_BLOCK", 10)
    monkeypatch.setattr(row_store, "BLOCK_ROWS", 97)
    expected = AutoEmbedder().fit_transform(graph)
    monkeypatch.setattr(row_store, "MEMORY_BYTES", 0)
    found = AutoEmbedder().fit_transform(graph)
    assert is_mapped(found)
    assert not is_mapped(expected)
    np.testing.assert_array_equal(found, expected)


def test_model_fitted_in_many_blocks_is_saved_and_loaded(monkeypatch, tmp_path):
    make_small_blocks(monkeypatch)
    graph = dense_graph()
    fitted = AutoEmbedder(n_components=32).fit(graph)
    fitted.save(tmp_path / "model")
    np.testing.assert_array_equal(AutoEmbedder.load(tmp_path / "model").transform(graph), fitted.vectors_)


@pytest.mark.parametrize("keep", ["features", "balanced", "graph"])
def test_outputs_in_half_precision_give_nearly_the_same_similarities(monkeypatch, keep):
    graph = sparse_graph()
    expected = AutoEmbedder(keep=keep, n_components=64).fit_transform(graph)
    make_small_blocks(monkeypatch)
    monkeypatch.setattr(row_store, "HALF_BYTES", 0)
    kept = []
    monkeypatch.setattr(RowStore, "compact", lambda *given, compact=RowStore.compact: note(kept, compact(*given)))
    in_files = AutoEmbedder(keep=keep, n_components=64).fit_transform(graph)
    assert kept
    assert {rows.dtype for rows in kept} == {np.dtype(np.float16)}
    assert all(is_mapped(rows) for rows in kept)
    np.testing.assert_allclose(cosines(in_files), cosines(expected), atol=2e-3)
    monkeypatch.setattr(row_store, "MEMORY_BYTES", 1 << 40)
    np.testing.assert_array_equal(AutoEmbedder(keep=keep, n_components=64).fit_transform(graph), in_files)


def note(seen, rows):
    seen.append(rows)
    return rows
