"""Embeddings from anywhere, joined to the nodes of a graph."""

from __future__ import annotations

import numpy as np
import pytest

from graphprox import Embedding, Graph, IgnoredInputWarning, ParameterError
from graphprox.errors import GraphproxWarning
from graphprox.evaluation.matching import vectors_of_nodes

NAMES = [f"n{each}" for each in range(20)]


def ring(ids):
    return Graph(np.eye(20), [range(20), [*range(1, 20), 0]], node_ids=ids)


@pytest.mark.parametrize("ids", [NAMES, list(range(100, 120)), None])
def test_rows_are_joined_by_id(ids):
    graph, order = ring(ids), np.random.default_rng(0).permutation(20)
    vectors = np.arange(40.0).reshape(20, 2)
    found = vectors_of_nodes(graph, Embedding(vectors[order], ids=graph.ids[order]))
    assert np.array_equal(found, vectors)


def test_numbers_as_text_are_the_same_ids():
    graph = ring(list(range(100, 120)))
    found = vectors_of_nodes(graph, Embedding(np.eye(20), ids=[str(each) for each in range(100, 120)]))
    assert np.array_equal(found, np.eye(20))


def test_rows_that_fit_are_not_copied():
    embedding = Embedding(np.eye(20))
    assert vectors_of_nodes(ring(None), embedding) is embedding.vectors


def test_rows_of_other_nodes_are_left_after_a_warning():
    embedding = Embedding(np.ones((23, 2)), ids=["x", *NAMES, "y", "z"])
    with pytest.warns(IgnoredInputWarning, match="3 rows of emb.txt are for nodes that the graph does not have"):
        assert vectors_of_nodes(ring(NAMES), embedding, name="emb.txt").shape == (20, 2)


def test_a_few_nodes_without_a_vector_get_zeros_after_a_warning():
    embedding = Embedding(np.ones((18, 2)), ids=NAMES[1:19])
    with pytest.warns(GraphproxWarning, match="no vector for 2 of 20 nodes, such as 'n0', 'n19': vectors of zeros"):
        found = vectors_of_nodes(ring(NAMES), embedding)
    assert found.sum(axis=1).tolist() == [0, *[2] * 18, 0]


def test_more_of_them_are_refused_and_both_kinds_of_ids_are_shown():
    embedding = Embedding(np.ones((17, 2)), ids=[f"N{each}" for each in range(17)])
    with pytest.raises(ParameterError, match="20 of 20, such as 'n0', 'n1', 'n2': its ids are such as 'N0'"):
        vectors_of_nodes(ring(NAMES), embedding)
    with pytest.raises(ParameterError, match="has none for 3 of 20"):
        vectors_of_nodes(ring(NAMES), Embedding(np.ones((17, 2)), ids=NAMES[:17]))
