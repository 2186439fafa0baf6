"""What a ranking looks like as a graph."""

from __future__ import annotations

import numpy as np
import pytest

import graphprox
from graphprox import Graph, GraphError
from graphprox.proximity.descriptors import features
from graphprox.proximity.quality import homophily_at, quality
from graphprox.proximity.ranking import Ranking
from graphprox.proximity.search import rank


@pytest.fixture
def ranking() -> Ranking:
    return Ranking([[1, 2], [0, 2], [0, -1], [-1, -1]], [[1, 0.5], [1, 0.5], [0.5, 0], [0, 0]])


def test_figures_are_counted_by_hand(ranking):
    graph = Graph([[1]] * 4, [[2, 3], [1, 0]], y=[0, 0, 1, -1], directed=True)
    found = quality(ranking, graph)
    assert (found.k, found.edges, found.largest_in_degree) == (2, 5, 2)
    assert found.reciprocity == 4 / 5  # 0-1, 1-0, 0-2, 2-0
    assert found.unlisted == 1 / 4
    assert found.overlap == 1 / 5  # 1-2, the other way round in the graph
    assert found.homophily == 2 / 5
    assert quality(ranking, graph, k=1).homophily == 2 / 3
    assert quality(ranking, graph.without_labels()).homophily is None


def test_nodes_of_unknown_class_are_left_out(ranking):
    assert homophily_at(ranking, Graph([[1]] * 4, [[0], [1]], y=[-1, 0, 0, 0]), k=2) == 1
    assert homophily_at(ranking, Graph([[1]] * 4, [[0], [1]], y=[-1, -1, -1, 0]), k=2) is None


def test_a_ranking_without_neighbours_has_figures_too():
    found = quality(rank(np.eye(3)), Graph(np.eye(3), [[0], [1]], y=[0, 1, 2]), k=3)
    assert (found.edges, found.reciprocity, found.overlap, found.homophily) == (0, 0, 0, None)
    assert found.unlisted == 1


def test_a_ranking_of_another_graph_is_refused(ranking):
    for figures in (quality, homophily_at):
        with pytest.raises(GraphError, match="4 ranked for 3 nodes"):
            figures(ranking, Graph([[1]] * 3, [[0], [1]]), k=1)


@pytest.mark.parametrize(("name", "reported"), [("Texas", 0.657), ("Wisconsin", 0.699)])
def test_the_feature_view_is_as_homophilous_as_the_paper_says(data, name, reported):
    graph = graphprox.load(name, data=data).graph
    matrix = features(graph, np.random.default_rng(0), binary=True)
    found = [homophily_at(rank(matrix, k_max=6, seed=seed), graph, k=6) for seed in range(10)]
    assert np.mean(found) == pytest.approx(reported, abs=0.01)
