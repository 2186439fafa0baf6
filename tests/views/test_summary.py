"""Statistics of the graph that a ranking defines."""

from __future__ import annotations

import numpy as np
import pytest

import graphprox
from graphprox import Graph, GraphError
from graphprox.views import Ranking, feature_descriptor, homophily_at, rank, view_statistics


@pytest.fixture
def ranking() -> Ranking:
    return Ranking([[1, 2], [0, 2], [0, -1], [-1, -1]], [[1, 0.5], [1, 0.5], [0.5, 0], [0, 0]])


def test_statistics_match_counts_by_hand(ranking):
    graph = Graph([[1]] * 4, [[2, 3], [1, 0]], y=[0, 0, 1, -1], directed=True)
    found = view_statistics(ranking, graph)
    assert (found.k, found.num_edges, found.max_in_degree) == (2, 5, 2)
    assert found.reciprocity == 4 / 5  # 0-1, 1-0, 0-2, 2-0
    assert found.zero_in_degree == 1 / 4
    assert found.overlap == 1 / 5  # 1-2, which is reversed in the graph
    assert found.homophily == 2 / 5
    assert view_statistics(ranking, graph, k=1).homophily == 2 / 3
    assert view_statistics(ranking, graph.without_labels()).homophily is None


def test_homophily_ignores_nodes_of_unknown_class(ranking):
    assert homophily_at(ranking, Graph([[1]] * 4, [[0], [1]], y=[-1, 0, 0, 0]), k=2) == 1
    assert homophily_at(ranking, Graph([[1]] * 4, [[0], [1]], y=[-1, -1, -1, 0]), k=2) is None


def test_statistics_of_a_ranking_without_neighbors():
    found = view_statistics(rank(np.eye(3)), Graph(np.eye(3), [[0], [1]], y=[0, 1, 2]), k=3)
    assert (found.num_edges, found.reciprocity, found.overlap, found.homophily) == (0, 0, 0, None)
    assert found.zero_in_degree == 1


def test_ranking_of_another_graph_is_rejected(ranking):
    for function in (view_statistics, homophily_at):
        with pytest.raises(GraphError, match="got 4 rows for 3 nodes"):
            function(ranking, Graph([[1]] * 3, [[0], [1]]), k=1)


@pytest.mark.parametrize(("name", "reported"), [("Texas", 0.657), ("Wisconsin", 0.699)])
def test_homophily_of_the_feature_view_matches_the_paper(data, name, reported):
    graph = graphprox.load(name, data=data).graph
    matrix = feature_descriptor(graph, np.random.default_rng(0), binary=True)
    found = [homophily_at(rank(matrix, k_max=6, random_state=seed), graph, k=6) for seed in range(10)]
    assert np.mean(found) == pytest.approx(reported, abs=0.01)
