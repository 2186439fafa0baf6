from __future__ import annotations

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from graphprox.errors import ParameterError
from graphprox.graph import Graph
from graphprox.proximity.structure import structure_of
from graphprox.proximity.walks import are_joined, random_walks

# Node 0 is joined to 1, 2, 3 and 4; 1 and 2 to each other; 3 leads on to 5, which is nobody else's neighbour.
EDGES = np.array([[0, 0, 0, 0, 1, 3], [1, 2, 3, 4, 2, 5]])
WEIGHTS = np.array([1.0, 2.0, 3.0, 4.0, 0.5, 0.0])


def linked(edges, *, nodes=None, weights=None, directed=False):
    edges = np.asarray(edges, np.int64).reshape(2, -1)
    nodes = int(edges.max()) + 1 if nodes is None else nodes
    return Graph(x=np.ones((nodes, 1)), edge_index=edges, edge_weight=weights, directed=directed)


def expected_steps(graph, p, q):
    """The probability of each next node given the last two, (nodes, nodes, nodes), written down from the definition."""
    weight = graph.to_scipy().toarray().astype(float)
    joined = weight > 0 if graph.edge_weight is None else linked(graph.edge_index).to_scipy().toarray() > 0
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
    graph = linked(EDGES, weights=weights)
    walks = random_walks(graph, np.random.default_rng(7), walks=3000, length=12, p=p, q=q)
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
def test_first_steps_follow_the_weights(weights):
    graph = linked(EDGES, weights=weights)
    walks = random_walks(graph, np.random.default_rng(3), walks=20_000, length=1, p=0.1, q=3)
    share = np.ones(4) if weights is None else weights[:4]
    seen = np.bincount(walks[0, :, 1], minlength=6)[1:5]
    assert chisquare(seen, share / share.sum() * 20_000).pvalue > 1e-4


def test_a_hub_steps_evenly_to_all_its_neighbours():
    leaves = 500
    star = linked([[0] * leaves, range(1, leaves + 1)])
    walks = random_walks(star, np.random.default_rng(0), walks=50_000, length=1)[0, :, 1]
    assert chisquare(np.bincount(walks, minlength=leaves + 1)[1:]).pvalue > 1e-4


def test_skewed_weights_keep_their_share():
    weights = 10.0 ** -np.arange(8)
    star = linked([[0] * 8, range(1, 9)], weights=weights)
    walks = random_walks(star, np.random.default_rng(0), walks=200_000, length=1)[0, :, 1]
    seen = np.bincount(walks, minlength=9)[1:5]
    assert (
        chisquare(seen, (weights / weights.sum())[:4] * seen.sum() / (weights / weights.sum())[:4].sum()).pvalue > 1e-4
    )


def test_an_edge_without_weight_is_not_taken_but_all_are_alike_where_none_has_any():
    graph = linked([[0, 0, 3, 3], [1, 2, 4, 5]], weights=[1.0, 0.0, 0.0, 0.0])
    walks = random_walks(graph, np.random.default_rng(0), walks=400, length=1)[:, :, 1]
    assert set(walks[0]) == {1}
    assert np.bincount(walks[3])[4:].min() > 150
    assert set(walks[2]) == {0}


def test_the_walks_of_different_nodes_differ():
    edges = np.array([(a, b) for a in range(30) for b in range(a + 1, 30)]).T
    walks = random_walks(linked(edges), np.random.default_rng(0), walks=50, length=4)[:, :, 1:]
    assert len(np.unique(walks.reshape(-1, 4), axis=0)) > 1490


def test_isolated_nodes_stay_where_they_are():
    walks = random_walks(linked([[0], [0]], nodes=3), np.random.default_rng(0), walks=2, length=3, p=0.5)
    assert (walks == np.arange(3)[:, None, None]).all()


def test_direction_and_self_loops_play_no_part():
    there = linked([[0, 1, 1], [1, 1, 2]], directed=True)
    plain = linked([[0, 1], [1, 2]])
    walks = [random_walks(each, np.random.default_rng(1), walks=5, length=9, q=3) for each in (there, plain)]
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
    graph = linked(np.array(edges, np.int64).reshape(-1, 2).T, nodes=nodes, weights=weights)
    structure = structure_of(graph)
    walks = random_walks(graph, np.random.default_rng(0), walks=4, length=6, p=p, q=q)
    for here, there in zip(walks[:, :, :-1].ravel(), walks[:, :, 1:].ravel(), strict=True):
        alone = structure.start[here] == structure.start[here + 1]
        assert here == there if alone else are_joined(structure.start, structure.neighbour, here, there)


@pytest.mark.parametrize(("p", "q"), [(1, 1), (0.01, 8)])
def test_the_same_seed_gives_the_same_walks_on_any_number_of_threads(p, q, monkeypatch):
    graph = linked(np.random.default_rng(0).integers(0, 60, (2, 150)), nodes=60)
    walks = []
    for number in (1, 3):
        monkeypatch.setattr(numba.config, "NUMBA_NUM_THREADS", number)
        walks.append(random_walks(graph, np.random.default_rng(5), walks=3, length=7, p=p, q=q))
    assert np.array_equal(*walks)
    assert not np.array_equal(walks[0], random_walks(graph, np.random.default_rng(6), walks=3, length=7, p=p, q=q))


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"walks": 0}, "walks must be a whole number in 1..1,000,000; got 0"),
        ({"length": 1.5}, "length must be a whole number in 1..1,000,000; got 1.5"),
        ({"p": 0}, r"p must be a number in 1e-06..1e\+06; got 0"),
        ({"q": float("nan")}, r"q must be a number in 1e-06..1e\+06; got nan"),
    ],
)
def test_options_are_checked(option, message):
    with pytest.raises(ParameterError, match=message):
        random_walks(linked([[0], [1]]), np.random.default_rng(0), **option)


def test_a_seed_in_place_of_a_generator_is_refused():
    with pytest.raises(ParameterError, match="rng must be a numpy Generator"):
        random_walks(linked([[0], [1]]), 0)
