"""Link prediction."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphprox import ParameterError, edge_split
from graphprox.evaluation import links
from graphprox.evaluation.links import LinkScore, link_scores, score_links


def counted_auc(joined, unjoined):
    """How often an edge scores higher than a non-edge, a tie counting half."""
    return np.mean([(a > b) + (a == b) / 2 for a in joined for b in unjoined])


def counted_ap(joined, unjoined):
    """The mean over edges of the share of edges among all pairs that score as high."""
    return np.mean([sum(b >= a for b in joined) / sum(b >= a for b in [*joined, *unjoined]) for a in joined])


@given(
    vectors=st.lists(st.lists(st.integers(-3, 3), min_size=2, max_size=2), min_size=4, max_size=4),
    edges=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=6),
    non_edges=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=6),
)
def test_it_counts_pairs(vectors, edges, non_edges):
    joined, unjoined = ([np.dot(vectors[a], vectors[b]) for a, b in pairs] for pairs in (edges, non_edges))
    found = score_links(vectors, np.transpose(edges), np.transpose(non_edges))
    assert found.auc == pytest.approx(counted_auc(joined, unjoined))
    assert found.ap == pytest.approx(counted_ap(joined, unjoined))


@pytest.fixture(scope="module")
def split(graph):
    return edge_split(graph, seed=0)


def test_pairs_are_ranked_where_the_sigmoid_is_one_for_all(split, embedding):
    """σ of 37 is 1.0 to a computer; the embedding a thousand times as long ranks as before."""
    near, far = (
        score_links(scale * embedding.astype(np.float64), split.test_edges, split.test_non_edges) for scale in (1, 1000)
    )
    assert near == far
    assert near.auc != 0.5  # as it would be if all were tied


def test_rows_count_as_they_are(split, embedding, lengths):
    ours = score_links(embedding, split.test_edges, split.test_non_edges)
    assert score_links(embedding * lengths, split.test_edges, split.test_non_edges) != ours


def test_both_parts_are_scored_by_products_and_by_cosines(split, embedding, lengths):
    found = link_scores(embedding, split)
    scaled = embedding.astype(np.float64) / np.linalg.norm(embedding.astype(np.float64), axis=1, keepdims=True)
    for way, rows in (("", embedding), ("cosine_", scaled)):
        test = score_links(rows, split.test_edges, split.test_non_edges)
        validation = score_links(rows, split.validation_edges, split.validation_non_edges)
        assert (found[f"{way}auc"], found[f"{way}ap"]) == (test.auc, test.ap)
        assert found[f"validation_{way}auc"] == validation.auc
        assert found[f"validation_{way}ap"] == validation.ap
    longer = link_scores(embedding * lengths, split)
    assert longer["cosine_auc"] == pytest.approx(found["cosine_auc"])  # the length of a row plays no part
    assert longer["auc"] != found["auc"]


def test_the_order_of_rows_and_of_pairs_plays_no_part(split, embedding, order):
    place = np.argsort(order)
    ours = score_links(embedding, split.test_edges, split.test_non_edges)
    moved = score_links(embedding[order], place[split.test_edges][::-1, ::-1], place[split.test_non_edges])
    assert moved == LinkScore(pytest.approx(ours.auc), pytest.approx(ours.ap))


def test_many_pairs_are_scored_some_at_a_time(split, embedding, monkeypatch):
    ours = score_links(embedding, split.test_edges, split.test_non_edges)
    monkeypatch.setattr(links, "_NUMBERS_AT_ONCE", 100)
    assert score_links(embedding, split.test_edges, split.test_non_edges) == ours


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
def test_pairs_must_be_of_nodes(edges, sentence):
    with pytest.raises(ParameterError, match=sentence):
        score_links(np.eye(4), edges, [[0], [1]])


def test_what_is_beyond_float64_is_refused():
    with pytest.raises(ParameterError, match="scale them down"):
        score_links(np.full((3, 2), 1e200), [[0], [1]], [[0], [2]])
