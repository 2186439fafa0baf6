"""Sim@k: the classes of nearest neighbors."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
import scipy.sparse as sp

from graphprox import Dataset, Embedding, Graph, GraphError, ParameterError, nearest, synthetic
from graphprox.evaluation import neighborhood_agreement, retrieval, similarity
from graphprox.evaluation.retrieval import score_neighbors


def brute_force(rows, labels, k):
    """Sim@k by sorting all cosines of each node."""
    shares = []
    for i, own in enumerate(rows):
        cosines = [own @ other / np.linalg.norm(own) / np.linalg.norm(other) for other in rows]
        others = sorted((j for j in range(len(rows)) if j != i), key=lambda j: -cosines[j])
        shares.append(np.mean([labels[j] == labels[i] for j in others[:k]]))
    return np.mean(shares)


def test_scores_equal_brute_force():
    rng = np.random.default_rng(0)
    rows, labels = rng.normal(size=(60, 5)), rng.integers(3, size=60)
    found = score_neighbors(rows, labels, ks=[1, 5, 59])
    assert found.ks == (1, 5, 59)
    assert found.values == pytest.approx([brute_force(rows, labels, k) for k in (1, 5, 59)])


def test_scores_agree_with_nearest_neighbor_search(graph, embedding):
    near = nearest(embedding, np.arange(graph.num_nodes), k=10).nodes
    alike = graph.y[near] == graph.y[:, None]
    found = similarity(graph, embedding)
    # Of tied nodes, `nearest` returns the first ones, and Sim@k weights all of them equally.
    assert found.values == pytest.approx([alike[:, :5].mean(), alike.mean()], abs=0.002)


def test_ties_are_averaged_over_all_orders_of_the_nodes():
    rows = np.array([[1, 0], [1, 0], [2, 0], [1, 1], [0, 1], [0, 3]])
    labels = np.array([0, 0, 1, 1, 0, 1])
    for k in (1, 2, 3):
        means = []
        for order in permutations(range(6)):
            near = nearest(rows[list(order)], range(6), k=k).nodes
            means.append(np.mean(labels[list(order)][near] == labels[list(order)][:, None]))
        assert score_neighbors(rows, labels, ks=[k])[k] == pytest.approx(np.mean(means))


def test_scores_are_invariant_to_order_and_scale_of_rows(graph, embedding, order, lengths):
    ours = score_neighbors(embedding, graph.y).values
    assert score_neighbors(embedding[order], graph.y[order]).values == pytest.approx(ours)
    assert score_neighbors(embedding * lengths, graph.y).values == pytest.approx(ours)


def test_sparse_and_dense_rows_give_equal_scores(graph):
    words = np.where(graph.x > 1.5, 1, 0)  # many ties, and zero rows
    sparse, dense = score_neighbors(sp.csr_array(words), graph.y), score_neighbors(words, graph.y)
    assert sparse.values == pytest.approx(dense.values)


def test_blockwise_search_gives_equal_scores(graph, embedding, monkeypatch):
    ours = score_neighbors(embedding, graph.y).values
    monkeypatch.setattr(retrieval, "_BLOCK_SIZE", 3000)
    assert score_neighbors(embedding, graph.y).values == pytest.approx(ours)


def test_unlabeled_nodes_are_ignored(graph, embedding):
    known = np.arange(graph.num_nodes) % 4 > 0
    found = score_neighbors(embedding, np.where(known, graph.y, -1))
    assert found.values == pytest.approx(score_neighbors(embedding[known], graph.y[known]).values)


@pytest.mark.parametrize("k", [0, 4, 1.5, True])
def test_k_must_be_at_most_the_number_of_other_labeled_nodes(k):
    with pytest.raises(ParameterError, match="k must be between 1 and 3, the number of other labeled nodes"):
        score_neighbors(np.eye(5), [0, 1, 0, 1, -1], ks=[k])


def test_two_classes_are_required(graph):
    with pytest.raises(GraphError, match="similarity search needs nodes of at least two classes; got 1"):
        score_neighbors(graph.x, np.zeros(graph.num_nodes, int))


def test_graph_data_set_and_embedding_give_the_same_scores(graph, embedding, order):
    expected = score_neighbors(embedding, graph.y, ks=[3])
    shuffled = Embedding(embedding[order], ids=graph.ids[order])
    assert similarity(Dataset("a graph", graph), shuffled, ks=[3]) == expected
    assert expected.to_dict() == {"sim@3": expected[3]}


@pytest.mark.parametrize("ks", [[], 5, np.int64(5), ()])
def test_ks_must_be_a_list_of_numbers(graph, ks):
    with pytest.raises(ParameterError, match="ks must be a list of one or more numbers of neighbors"):
        similarity(graph, graph.x, ks=ks)


# -- neighborhoods of the graph -------------------------------------------------------------------------------------


def reference_agreement(graph, rows, k):
    """Mean share of possible hits among the k nearest, by a plain loop."""
    unit, shares = rows / np.linalg.norm(rows, axis=1, keepdims=True), []
    for node in range(graph.num_nodes):
        neighbors = {int(b) for a, b in graph.edge_index.T if a == node} | {
            int(a) for a, b in graph.edge_index.T if b == node
        }
        neighbors -= {node}
        if neighbors:
            order = [each for each in np.argsort(-(unit @ unit[node])) if each != node][:k]
            shares.append(len(neighbors & set(order)) / min(k, len(neighbors)))
    return np.mean(shares)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("k", [1, 3, 10, 99])
def test_agreement_of_neighborhoods_is_that_of_a_plain_loop(k, directed):
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(60, 5))
    graph = Graph(rows, rng.integers(50, size=(2, 150)), directed=directed)  # ten nodes without edges, and loops
    assert neighborhood_agreement(graph, rows, k=k) == pytest.approx(reference_agreement(graph, rows, min(k, 59)))


def test_agreement_is_one_for_the_rows_of_cliques_and_a_tie_is_shared():
    cliques = np.kron(np.eye(4), np.ones((5, 5)))
    graph = Graph(cliques, np.stack(np.nonzero(cliques)))
    assert neighborhood_agreement(graph, cliques) == 1
    assert neighborhood_agreement(graph, np.ones((20, 2)), k=4) == pytest.approx(4 / 19)


def test_agreement_of_a_large_graph_is_that_of_a_sample(monkeypatch):
    graph = synthetic(nodes=700)
    whole = neighborhood_agreement(graph, graph.x)
    monkeypatch.setattr(retrieval, "_MAX_QUERIES", 300)
    sampled = neighborhood_agreement(graph, graph.x)
    assert sampled != whole
    assert sampled == pytest.approx(whole, abs=0.03)


def test_agreement_needs_edges():
    with pytest.raises(ParameterError, match="needs a graph with edges between nodes"):
        neighborhood_agreement(Graph(np.eye(2), [[0], [0]]), np.eye(2))
