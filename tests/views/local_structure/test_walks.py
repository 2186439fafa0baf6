"""Random walks."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from graphprox.errors import ParameterError
from graphprox.graph.graph import Graph
from graphprox.views.local_structure.adjacency import to_adjacency
from graphprox.views.local_structure.walks import are_joined, random_walks

# Node 0 is joined to 1, 2, 3 and 4; 1 and 2 to each other; 3 to 5, which has no other neighbor.
EDGES = np.array([[0, 0, 0, 0, 1, 3], [1, 2, 3, 4, 2, 5]])
WEIGHTS = np.array([1.0, 2.0, 3.0, 4.0, 0.5, 0.0])


def make_graph(edges, *, nodes=None, weights=None, directed=False):
    edges = np.asarray(edges, np.int64).reshape(2, -1)
    nodes = int(edges.max()) + 1 if nodes is None else nodes
    return Graph(x=np.ones((nodes, 1)), edge_index=edges, edge_weight=weights, directed=directed)


def expected_steps(graph, p, q):
    """Return the probability of each next node given the last two, (nodes, nodes, nodes), from the definition."""
    weight = graph.to_scipy().toarray().astype(float)
    joined = weight > 0 if graph.edge_weight is None else make_graph(graph.edge_index).to_scipy().toarray() > 0
    weight[(weight.sum(axis=1) == 0)] = joined[weight.sum(axis=1) == 0]
    bias = np.where(joined, 1.0, 1 / q)[:, None, :] * np.ones((1, len(weight), 1))
    for node in range(len(weight)):
        bias[node, :, node] = 1 / p
    steps = weight[None] * bias
    with np.errstate(invalid="ignore"):
        return steps / steps.sum(axis=2, keepdims=True)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["unweighted", "weighted"])
@pytest.mark.parametrize(
    ("p", "q"), [(1, 1), (0.01, 8), (4, 0.25), (0.25, 4), (3, 0.5), (0.5, 0.05), (1e6, 1e6), (1e-6, 1e-6)]
)
def test_steps_follow_the_transition_probabilities(p, q, weights):
    graph = make_graph(EDGES, weights=weights)
    walks = random_walks(graph, np.random.default_rng(7), num_walks=3000, walk_length=12, p=p, q=q)
    expected = expected_steps(graph, p, q)
    nodes = graph.num_nodes
    triples = np.stack([walks[:, :, :-2], walks[:, :, 1:-1], walks[:, :, 2:]]).reshape(3, -1)
    counts = np.bincount(np.ravel_multi_index(triples, (nodes,) * 3), minlength=nodes**3).reshape((nodes,) * 3)
    compared = 0
    for before, here in np.argwhere(counts.sum(axis=2) > 200):
        seen, law = counts[before, here], expected[before, here]
        likely = law * seen.sum() > 5
        assert seen[law == 0].sum() == 0
        if likely.sum() > 1:
            rest = seen[~likely].sum(), max(law[~likely].sum() * seen.sum(), 1e-9)
            both = [np.append(seen[likely], rest[0]), np.append(law[likely] * seen.sum(), rest[1])]
            both = [each if rest[1] > 1 else each[:-1] for each in both]
            assert chisquare(both[0], both[1] * both[0].sum() / both[1].sum()).pvalue > 1e-4
            compared += 1
    assert compared >= 2


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["unweighted", "weighted"])
def test_first_steps_are_proportional_to_the_weights(weights):
    graph = make_graph(EDGES, weights=weights)
    walks = random_walks(graph, np.random.default_rng(3), num_walks=20_000, walk_length=1, p=0.1, q=3)
    share = np.ones(4) if weights is None else weights[:4]
    seen = np.bincount(walks[0, :, 1], minlength=6)[1:5]
    assert chisquare(seen, share / share.sum() * 20_000).pvalue > 1e-4


def test_steps_from_a_hub_are_uniform():
    leaves = 500
    star = make_graph([[0] * leaves, range(1, leaves + 1)])
    walks = random_walks(star, np.random.default_rng(0), num_walks=50_000, walk_length=1)[0, :, 1]
    assert chisquare(np.bincount(walks, minlength=leaves + 1)[1:]).pvalue > 1e-4


def test_steps_follow_skewed_weights():
    weights = 10.0 ** -np.arange(8)
    star = make_graph([[0] * 8, range(1, 9)], weights=weights)
    walks = random_walks(star, np.random.default_rng(0), num_walks=200_000, walk_length=1)[0, :, 1]
    seen = np.bincount(walks, minlength=9)[1:5]
    assert (
        chisquare(seen, (weights / weights.sum())[:4] * seen.sum() / (weights / weights.sum())[:4].sum()).pvalue > 1e-4
    )


def test_edges_of_weight_zero_are_taken_only_if_all_weights_are_zero():
    graph = make_graph([[0, 0, 3, 3], [1, 2, 4, 5]], weights=[1.0, 0.0, 0.0, 0.0])
    walks = random_walks(graph, np.random.default_rng(0), num_walks=400, walk_length=1)[:, :, 1]
    assert set(walks[0]) == {1}
    assert np.bincount(walks[3])[4:].min() > 150
    assert set(walks[2]) == {0}


def test_walks_of_different_nodes_differ():
    edges = np.array([(a, b) for a in range(30) for b in range(a + 1, 30)]).T
    walks = random_walks(make_graph(edges), np.random.default_rng(0), num_walks=50, walk_length=4)[:, :, 1:]
    assert len(np.unique(walks.reshape(-1, 4), axis=0)) > 1490


def test_walks_from_isolated_nodes_stay_there():
    walks = random_walks(make_graph([[0], [0]], nodes=3), np.random.default_rng(0), num_walks=2, walk_length=3, p=0.5)
    assert (walks == np.arange(3)[:, None, None]).all()


def test_walks_ignore_directions_and_self_loops():
    directed = make_graph([[0, 1, 1], [1, 1, 2]], directed=True)
    undirected = make_graph([[0, 1], [1, 2]])
    walks = [
        random_walks(each, np.random.default_rng(1), num_walks=5, walk_length=9, q=3) for each in (directed, undirected)
    ]
    assert np.array_equal(*walks)


@given(st.data())
@settings(max_examples=30)
def test_every_step_follows_an_edge(data):
    nodes = data.draw(st.integers(2, 9))
    ends = st.integers(0, nodes - 1)
    edges = data.draw(st.lists(st.tuples(ends, ends), max_size=20))
    weights = data.draw(
        st.none() | st.lists(st.sampled_from([0.0, 1.0, 2.5]), min_size=len(edges), max_size=len(edges))
    )
    p, q = data.draw(st.sampled_from([(1, 1), (0.01, 8), (5, 0.2)]))
    graph = make_graph(np.array(edges, np.int64).reshape(-1, 2).T, nodes=nodes, weights=weights)
    adjacency = to_adjacency(graph)
    walks = random_walks(graph, np.random.default_rng(0), num_walks=4, walk_length=6, p=p, q=q)
    for here, there in zip(walks[:, :, :-1].ravel(), walks[:, :, 1:].ravel(), strict=True):
        isolated = adjacency.start[here] == adjacency.start[here + 1]
        assert here == there if isolated else are_joined(adjacency.start, adjacency.neighbor, here, there)


@pytest.mark.parametrize(("p", "q"), [(1, 1), (0.01, 8)])
def test_walks_depend_on_the_seed_and_not_on_the_number_of_threads(p, q, monkeypatch):
    graph = make_graph(np.random.default_rng(0).integers(0, 60, (2, 150)), nodes=60)
    walks = []
    for number in (1, 3):
        monkeypatch.setattr(numba.config, "NUMBA_NUM_THREADS", number)
        walks.append(random_walks(graph, np.random.default_rng(5), num_walks=3, walk_length=7, p=p, q=q))
    assert np.array_equal(*walks)
    assert not np.array_equal(
        walks[0], random_walks(graph, np.random.default_rng(6), num_walks=3, walk_length=7, p=p, q=q)
    )


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"num_walks": 0}, "num_walks must be an integer between 1 and 1,000,000; got 0"),
        ({"walk_length": 1.5}, "walk_length must be an integer between 1 and 1,000,000; got 1.5"),
        ({"p": 0}, r"p must be a number between 1e-06 and 1e\+06; got 0"),
        ({"q": float("nan")}, r"q must be a number between 1e-06 and 1e\+06; got nan"),
    ],
)
def test_invalid_options_are_rejected(option, message):
    with pytest.raises(ParameterError, match=message):
        random_walks(make_graph([[0], [1]]), np.random.default_rng(0), **option)


def test_integer_seed_instead_of_a_generator_is_rejected():
    with pytest.raises(ParameterError, match="rng must be a numpy Generator"):
        random_walks(make_graph([[0], [1]]), 0)
