"""Alignment of embeddings to the nodes of a graph."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from graphprox import Embedding, Graph, IgnoredInputWarning, ParameterError
from graphprox.errors import GraphproxWarning
from graphprox.evaluation.alignment import align_to_graph

NAMES = [f"n{each}" for each in range(20)]


def ring(ids):
    return Graph(np.eye(20), [range(20), [*range(1, 20), 0]], node_ids=ids)


@pytest.mark.parametrize("ids", [NAMES, list(range(100, 120)), None])
def test_rows_are_aligned_by_id(ids):
    graph, order = ring(ids), np.random.default_rng(0).permutation(20)
    vectors = np.arange(40.0).reshape(20, 2)
    found = align_to_graph(graph, Embedding(vectors[order], ids=graph.ids[order]))
    assert np.array_equal(found, vectors)


def test_integer_ids_match_their_decimal_strings():
    graph = ring(list(range(100, 120)))
    found = align_to_graph(graph, Embedding(np.eye(20), ids=[str(each) for each in range(100, 120)]))
    assert np.array_equal(found, np.eye(20))


def test_rows_in_order_are_not_copied():
    embedding = Embedding(np.eye(20))
    assert align_to_graph(ring(None), embedding) is embedding.vectors


def test_rows_of_unknown_nodes_are_ignored_with_a_warning():
    embedding = Embedding(np.ones((23, 2)), ids=["x", *NAMES, "y", "z"])
    with pytest.warns(
        IgnoredInputWarning, match="3 rows of emb.txt are for nodes that .* if it is read with its features"
    ):
        assert align_to_graph(ring(NAMES), embedding, name="emb.txt").shape == (20, 2)


def test_few_nodes_without_a_vector_get_zeros_with_a_warning():
    embedding = Embedding(np.ones((18, 2)), ids=NAMES[1:19])
    with pytest.warns(GraphproxWarning, match="no vector for 2 of 20 nodes, such as 'n0', 'n19': zeros are used"):
        found = align_to_graph(ring(NAMES), embedding)
    assert found.sum(axis=1).tolist() == [0, *[2] * 18, 0]


def test_many_nodes_without_a_vector_are_an_error_that_shows_both_kinds_of_ids():
    embedding = Embedding(np.ones((17, 2)), ids=[f"N{each}" for each in range(17)])
    with pytest.raises(ParameterError, match="20 of 20, such as 'n0', 'n1', 'n2': its ids are such as 'N0'"):
        align_to_graph(ring(NAMES), embedding)
    with pytest.raises(ParameterError, match="has none for 3 of 20"):
        align_to_graph(ring(NAMES), Embedding(np.ones((17, 2)), ids=NAMES[:17]))


@pytest.mark.parametrize("form", [np.asarray, np.ndarray.tolist, sp.csr_array])
def test_a_matrix_must_have_one_row_per_node(form):
    rows = align_to_graph(ring(NAMES), form(np.eye(20)))
    assert np.array_equal(rows if isinstance(rows, np.ndarray) else rows.toarray(), np.eye(20))
    with pytest.raises(ParameterError, match="one row per node; the embedding has 19 rows for 20 nodes"):
        align_to_graph(ring(NAMES), form(np.eye(20)[:19]))
