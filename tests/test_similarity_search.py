from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.neighbors import NearestNeighbors

from graphprox import ParameterError, similarity_search
from graphprox.embedding import Embedding
from graphprox.similarity_search import METRICS, nearest


@pytest.fixture(params=[1, 7, 256])
def blocks(request, monkeypatch):
    """Search in many small blocks, or in blocks of the default size."""
    if request.param < 256:
        monkeypatch.setattr(similarity_search, "_BLOCK_BYTES", 1)
        monkeypatch.setattr(similarity_search, "_MIN_BLOCK_ROWS", request.param)
        monkeypatch.setattr(similarity_search, "_QUERIES_PER_BLOCK", request.param)


def search_by_definition(vectors, node, k, metric):
    """Reference implementation, pair by pair."""
    vectors = np.asarray(vectors, np.float64)
    scores = []
    for other in vectors:
        product, difference = (vectors[node] * other).sum(), vectors[node] - other
        lengths = np.sqrt((vectors[node] ** 2).sum() * (other**2).sum())
        cosine = round(product / lengths, 12) if lengths else 0.0
        scores.append({"cosine": cosine, "dot": product, "euclidean": np.sqrt((difference**2).sum())}[metric])
    others = [i for i in range(len(vectors)) if i != node]
    order = sorted(others, key=lambda i: (scores[i] if metric == "euclidean" else -scores[i], i))[:k]
    return order, [scores[i] for i in order]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
def test_neighbors_equal_those_of_scikit_learn(blocks, metric, dtype):
    vectors = np.random.default_rng(0).normal(size=(120, 17)).astype(dtype)
    found = nearest(vectors, np.arange(120), k=9, metric=metric)
    searched = NearestNeighbors(n_neighbors=9, metric=metric, algorithm="brute").fit(vectors.astype(np.float64))
    distances, expected = searched.kneighbors()
    assert np.array_equal(found.nodes, expected)
    assert np.allclose(found.scores, 1 - distances if metric == "cosine" else distances, atol=1e-9)


def test_inner_products_equal_a_matrix_product(blocks):
    vectors = np.random.default_rng(1).normal(size=(300, 17))
    found = nearest(vectors, [3, 299, 0], k=5, metric="dot")
    products = vectors[[3, 299, 0]] @ vectors.T
    products[np.arange(3), [3, 299, 0]] = -np.inf
    assert np.array_equal(found.nodes, np.argsort(-products, axis=1)[:, :5])
    assert np.allclose(found.scores, np.take_along_axis(products, found.nodes, axis=1))


@pytest.mark.parametrize("metric", METRICS)
@given(
    vectors=arrays(np.float32, st.tuples(st.integers(2, 30), st.integers(1, 4)), elements=st.integers(-2, 2)),
    data=st.data(),
)
@settings(max_examples=80)
def test_ties_are_broken_by_row_number(metric, vectors, data):
    """Small integers often tie, and their products are exact."""
    k = data.draw(st.integers(1, len(vectors) - 1))
    found = nearest(vectors, np.arange(len(vectors)), k=k, metric=metric)
    for node, (others, scores) in enumerate(zip(found.nodes, found.scores, strict=True)):
        expected, values = search_by_definition(vectors, node, k, metric)
        assert others.tolist() == expected
        assert np.allclose(scores, values, atol=1e-12)


@pytest.mark.parametrize("metric", METRICS)
def test_equal_vectors_tie_in_every_position(blocks, metric):
    """The last digits of a matrix product depend on the position of a row."""
    few = np.random.default_rng(2).normal(size=(5, 129))
    vectors = few[np.random.default_rng(3).integers(0, 5, 1000)]
    found = nearest(vectors, np.arange(0, 1000, 50), k=40, metric=metric)
    for row, values in zip(found.nodes, found.scores, strict=True):
        for value in np.unique(values):
            assert (np.diff(row[values == value]) > 0).all()
        assert len(np.unique(values)) <= 5


def test_parallel_vectors_are_equally_near():
    direction = np.random.default_rng(4).normal(size=33)
    vectors = direction * np.random.default_rng(5).uniform(0.1, 9, size=(50, 1))
    found = nearest(vectors, [7], k=49)
    assert found.nodes[0].tolist() == [i for i in range(50) if i != 7]
    assert (found.scores == 1).all()


def test_cosine_with_a_zero_vector_is_0():
    found = nearest([[0, 0], [1, 0], [0, 0], [-1, 0]], [0, 1], k=3)
    assert found.nodes.tolist() == [[1, 2, 3], [0, 2, 3]]
    assert found.scores.tolist() == [[0, 0, 0], [0, 0, -1]]


@pytest.mark.parametrize("scale", [5e-324, 1e-300, 1e-160, 1e200, 1e307])
def test_cosine_is_scale_invariant(scale):
    vectors = np.array([[1.0, 0], [2, 2], [0, 1], [3, 1]]) * scale
    found = nearest(vectors, [0], k=3)
    assert found.nodes.tolist() == [[3, 1, 2]]
    assert found.scores[0] == pytest.approx([3 / np.sqrt(10), np.sqrt(0.5), 0])


@pytest.mark.parametrize("metric", ["dot", "euclidean"])
def test_overflowing_products_are_rejected(metric):
    with pytest.raises(ParameterError, match=r"must not overflow float64; got (inf|nan): scale the vectors down"):
        nearest([[1e200, 0], [2e200, 0], [0, 1]], [0], k=1, metric=metric)


@pytest.mark.parametrize("metric", METRICS)
def test_distances_far_from_the_origin_are_accurate(metric):
    """A matrix product cancels small distances between vectors far from the origin."""
    vectors = np.full((20, 3), 1e8) + np.arange(20)[:, None] ** 2 * 1e-4
    order, values = search_by_definition(vectors, 4, 6, metric)
    found = nearest(vectors, [4], k=6, metric=metric)
    if metric == "euclidean":
        assert found.nodes[0].tolist() == order == [3, 5, 2, 1, 0, 6]
    assert np.allclose(found.scores[0], values)


def test_embeddings_and_arrays_give_the_same_neighbors():
    vectors = np.random.default_rng(6).normal(size=(30, 4)).astype(np.float32)
    expected = nearest(vectors, [1, 2], k=3)
    for same in (Embedding(vectors, [f"n{i}" for i in range(30)]), vectors.tolist(), np.asfortranarray(vectors)):
        found = nearest(same, [1, 2], k=3)
        assert np.array_equal(found.nodes, expected.nodes)
        assert np.allclose(found.scores, expected.scores, atol=1e-7)


def test_memory_does_not_grow_with_the_number_of_nodes(tmp_path):
    np.save(tmp_path / "v.npy", np.random.default_rng(7).normal(size=(200_000, 32)).astype(np.float32))
    vectors = np.load(tmp_path / "v.npy", mmap_mode="r")
    tracemalloc.start()
    embedding = Embedding(vectors)
    nearest(embedding, [5, 6], k=10)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 24 << 20  # as float64 the vectors would take 51 MB


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"nodes": [4]}, "nodes must be between 0 and 3; got 4"),
        ({"nodes": [-1]}, "nodes must be between 0 and 3; got -1"),
        ({"nodes": []}, "a list of row numbers"),
        ({"nodes": 2}, "a list of row numbers"),
        ({"nodes": ["a"]}, "a list of row numbers"),
        ({"k": 0}, "k must be between 1 and 3, the number of other nodes; got 0"),
        ({"k": 4}, "k must be between 1 and 3, the number of other nodes; got 4"),
        ({"k": 1.5}, "k must be between"),
        ({"k": True}, "k must be between"),
        ({"metric": "cos"}, "metric must be one of cosine, dot, euclidean; got 'cos'"),
        ({"embedding": [[1.0, np.inf], [0, 1]]}, "must be finite; node 0"),
        ({"embedding": [1.0, 2]}, "a matrix of numbers"),
        ({"embedding": [[1.0, 2]]}, "at least two nodes"),
    ],
)
def test_invalid_parameters_are_rejected(options, words):
    with pytest.raises(ParameterError, match=words):
        nearest(**{"embedding": np.eye(4), "nodes": [0], "k": 1, **options})
