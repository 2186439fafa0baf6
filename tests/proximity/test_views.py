from __future__ import annotations

import numpy as np
import pytest

from graphprox import Graph, ParameterError, synthetic
from graphprox.proximity import VIEWS, rank_view


@pytest.fixture(autouse=True)
def own_cache(no_data):
    """No test finds rankings that another made."""
    return no_data.parent / "rankings"


@pytest.fixture(scope="module")
def graph():
    return synthetic(nodes=200)


@pytest.mark.parametrize("view", VIEWS)
def test_the_same_seed_gives_the_same_bytes_and_another_another(graph, view):
    one, again, other = (rank_view(graph, view, k_max=4, seed=seed, cache=False) for seed in (0, 0, 1))
    assert one.neighbors.tobytes() == again.neighbors.tobytes()
    if view == "topology":  # the others draw ties alone, and there are none
        assert one.neighbors.tobytes() != other.neighbors.tobytes()


@pytest.mark.parametrize("view", VIEWS)
def test_labels_never_matter(graph, view):
    shuffled = graph.with_labels(np.random.default_rng(0).permutation(graph.y))
    rankings = [rank_view(each, view, cache=False) for each in (graph, shuffled, graph.without_labels())]
    assert len({ranking.neighbors.tobytes() for ranking in rankings}) == 1


def test_a_named_view_is_found_again(graph, own_cache, monkeypatch):
    first = rank_view(graph, "feature")
    assert len(list(own_cache.glob("*.npz"))) == 1
    monkeypatch.setattr("graphprox.proximity.views.rank", None)  # whoever searched now would fail
    again = rank_view(graph.with_labels(np.zeros(200, int)), "feature")
    assert again.neighbors.tobytes() == first.neighbors.tobytes()
    with pytest.raises(TypeError):
        rank_view(graph, "feature", k_max=3)


def test_options_go_to_the_descriptor(graph):
    one = rank_view(graph, "topology", options={"subgraphs": "egonet", "hops": 1, "iterations": 0})
    other = rank_view(graph, "topology")
    assert one.neighbors.tobytes() != other.neighbors.tobytes()


def test_any_callable_is_a_descriptor(graph, own_cache):
    def degree(graph, rng):
        """How many neighbours a node has, one-hot."""
        return np.eye(graph.num_nodes, dtype=np.float32)[np.bincount(graph.edge_index[0])]

    ranking = rank_view(graph, degree, k_max=3)
    degrees = np.bincount(graph.edge_index[0])
    source, target = ranking.graph(3)
    assert np.array_equal(degrees[source], degrees[target])
    assert not own_cache.exists()  # what a function does cannot be told from its name


def test_progress_is_told_by_stage(graph):
    told = []
    rank_view(graph, "topology", cache=False, progress=lambda *each: told.append(each))
    assert {stage for stage, _, _ in told} >= {"topology", "neighbours"}
    assert told[-1][1:] == (200, 200)


def test_an_unknown_view_is_refused(graph):
    with pytest.raises(ParameterError, match="one of feature, topology, neighbourhood, or a descriptor; got 'shape'"):
        rank_view(graph, "shape")


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize(
    "odd",
    [
        Graph(np.eye(3), np.empty((2, 0), int)),
        Graph(np.eye(2), [[0], [1]]),
        Graph(np.ones((30, 2)), [np.zeros(29, int), np.arange(1, 30)]),
        Graph(np.zeros((5, 3)), [[0, 1], [1, 2]], directed=True),
    ],
    ids=["no edges", "two nodes", "a star of constant features", "zero rows, directed"],
)
def test_odd_graphs_have_views_too(view, odd):
    ranking = rank_view(odd, view, k_max=10)
    assert ranking.neighbors.shape == (odd.num_nodes, 10)
    assert (ranking.neighbors != np.arange(odd.num_nodes)[:, None]).all()
    assert np.isfinite(ranking.similarities).all()
