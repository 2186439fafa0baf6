"""Link prediction: ranking of held-out edges."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphprox import Dataset, Embedding, ParameterError, edge_split, synthetic
from graphprox.evaluation import link_prediction, links
from graphprox.evaluation.links import auc_samples, score_pairs


def pairwise_auc(positive, negative):
    """Probability that an edge scores higher than a non-edge, where a tie has weight one half."""
    return np.mean([(a > b) + (a == b) / 2 for a in positive for b in negative])


def mean_precision(positive, negative):
    """Mean over edges of the share of edges among all pairs that score at least as high."""
    return np.mean([sum(b >= a for b in positive) / sum(b >= a for b in [*positive, *negative]) for a in positive])


@given(
    vectors=st.lists(st.lists(st.integers(-3, 3), min_size=2, max_size=2), min_size=4, max_size=4),
    edges=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=6),
    non_edges=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=6),
)
def test_scores_equal_their_definition_over_all_pairs(vectors, edges, non_edges):
    positive, negative = ([np.dot(vectors[a], vectors[b]) for a, b in pairs] for pairs in (edges, non_edges))
    found = score_pairs(vectors, np.transpose(edges), np.transpose(non_edges))
    assert found.auc == pytest.approx(pairwise_auc(positive, negative))
    assert found.ap == pytest.approx(mean_precision(positive, negative))


@pytest.fixture(scope="module")
def split(graph):
    return edge_split(graph, random_state=0)


def test_scores_are_invariant_to_a_common_scale(split, embedding):
    """This includes scales at which the sigmoid of all inner products rounds to 1."""
    small, large = (
        score_pairs(scale * embedding.astype(np.float64), split.test_edges, split.test_non_edges) for scale in (1, 1000)
    )
    assert small == large
    assert small.auc != 0.5  # as it would be if all pairs were tied


def test_inner_products_depend_on_the_length_of_rows(split, embedding, lengths):
    ours = score_pairs(embedding, split.test_edges, split.test_non_edges)
    assert score_pairs(embedding * lengths, split.test_edges, split.test_non_edges) != ours


def test_both_parts_are_scored_by_inner_product_and_by_cosine(split, embedding, lengths):
    found = link_prediction(split, embedding).to_dict()
    scaled = embedding.astype(np.float64) / np.linalg.norm(embedding.astype(np.float64), axis=1, keepdims=True)
    for way, rows in (("", embedding), ("cosine_", scaled)):
        test = score_pairs(rows, split.test_edges, split.test_non_edges)
        validation = score_pairs(rows, split.val_edges, split.val_non_edges)
        assert (found[f"{way}auc"], found[f"{way}ap"]) == (test.auc, test.ap)
        assert found[f"val_{way}auc"] == validation.auc
        assert found[f"val_{way}ap"] == validation.ap
    longer = link_prediction(split, embedding * lengths).to_dict()
    assert longer["cosine_auc"] == pytest.approx(found["cosine_auc"])
    assert longer["auc"] != found["auc"]


def test_scores_do_not_depend_on_the_order_of_nodes_and_pairs(split, embedding, order):
    place = np.argsort(order)
    ours = score_pairs(embedding, split.test_edges, split.test_non_edges)
    moved = score_pairs(embedding[order], place[split.test_edges][::-1, ::-1], place[split.test_non_edges])
    assert moved == pytest.approx(ours)


def test_blockwise_computation_gives_equal_scores(split, embedding, monkeypatch):
    ours = score_pairs(embedding, split.test_edges, split.test_non_edges)
    monkeypatch.setattr(links, "_BLOCK_SIZE", 100)
    assert score_pairs(embedding, split.test_edges, split.test_non_edges) == ours


@pytest.mark.parametrize(
    ("edges", "sentence"),
    [
        ([[], []], "edges must be pairs of node numbers"),
        ([[0, 1]], "edges must be pairs of node numbers"),
        ([[0.5], [1.0]], "got float64"),
        ([[0], [4]], r"rows 0\.\.3 of the embedding; got node 4"),
        ([[-1], [2]], "got node -1"),
    ],
)
def test_pairs_of_unknown_nodes_are_rejected(edges, sentence):
    with pytest.raises(ParameterError, match=sentence):
        score_pairs(np.eye(4), edges, [[0], [1]])


def test_overflowing_inner_products_are_rejected():
    with pytest.raises(ParameterError, match="scale the vectors down"):
        score_pairs(np.full((3, 2), 1e200), [[0], [1]], [[0], [2]])


def test_a_graph_is_split_by_random_state_and_shares(graph, embedding, order):
    expected = link_prediction(edge_split(graph, random_state=3, val=0.1, test=0.2), embedding)
    for whole in (graph, Dataset("a graph", graph)):
        assert link_prediction(whole, embedding, random_state=3, val=0.1, test=0.2) == expected
    shuffled = Embedding(embedding[order], ids=graph.ids[order])
    assert link_prediction(graph, shuffled, random_state=3, val=0.1, test=0.2) == expected
    assert link_prediction(graph, embedding, random_state=4, val=0.1, test=0.2) != expected


def test_any_random_state_of_scikit_learn_is_accepted(graph):
    for make in (np.random.RandomState, np.random.default_rng):
        first, second = (link_prediction(graph, graph.x, random_state=make(3)) for _ in range(2))
        assert first == second
    assert 0 < link_prediction(graph, graph.x, random_state=None).auc < 1


def test_samples_of_the_auc_average_to_it_and_have_the_variance_of_delong():
    graph = synthetic()
    split = edge_split(graph, random_state=0)
    edges, non_edges = split.test_edges, split.test_non_edges
    samples = auc_samples(graph.x, edges, non_edges)
    assert samples.mean() == pytest.approx(score_pairs(graph.x, edges, non_edges).auc)
    positive, negative = ((graph.x[pairs[0]] * graph.x[pairs[1]]).sum(axis=1) for pairs in (edges, non_edges))
    wins = (positive[:, None] > negative) + 0.5 * (positive[:, None] == negative)
    delong = wins.mean(axis=1).var(ddof=1) + wins.mean(axis=0).var(ddof=1)
    assert samples.var(ddof=1) == pytest.approx(delong, rel=0.2)
